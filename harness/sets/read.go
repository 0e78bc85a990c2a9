// Package sets reads and writes distilled sets as arrays, those of this program and
// those of others.
//
// A file of this program says all there is to know of it. Others have images and
// labels, and the rest is told by Options, or guessed where only one guess makes
// sense; the set then has a note of it. What cannot be guessed is an error that says
// what to write.
package sets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dgkip/harness/arrays"
	"dgkip/harness/method"
	"dgkip/harness/npz"
)

// Limits on what is read from a file, beside the size of its images.
const (
	maxText  = 1 << 20 // characters
	maxExtra = 1 << 20 // values of what the method keeps, in all
	minMost  = 10000   // images that a set may have, where the data set has fewer
)

// setFile is a distilled set as arrays, and how many images it may have.
type setFile struct {
	arrays.Source
	labels arrays.Source // that has the labels: usually the same
	Options
	most int
	at   Place
	own  bool // of this program, which says how it was preprocessed
}

// with returns the file that says something of the labels: their own, if it does.
func (f setFile) with(name string) arrays.Source {
	if f.labels.Has(name) {
		return f.labels
	}
	return f.Source
}

var errNoText = errors.New("holds numbers and no text")

// text returns a text of a file, or "". A list of texts becomes one of lines.
func text(s arrays.Source, name string) (string, error) {
	if !s.Has(name) {
		return "", nil
	}
	a, err := s.Read(name, maxText)
	lines, ok := a.Texts()
	if err == nil && !ok {
		err = fmt.Errorf("its array %s %w", name, errNoText)
	}
	return strings.Join(lines, "\n"), err
}

// numbers returns an array of no more than most numbers, nil if it is not there or
// holds texts.
func numbers(s arrays.Source, name string, most int) ([]float64, []int, error) {
	if !s.Has(name) {
		return nil, nil, nil
	}
	a, err := s.Read(name, most)
	x, _ := a.Float64s()
	return x, a.Shape, err
}

// Place is where a set lies.
type Place struct {
	File   string // or a folder of images
	Labels string // a file of their own, or ""

	// Seed chooses among the sets that DC and those after it keep in one file, of
	// experiments that differ in their seed.
	Seed uint64

	IPC int // images of a class that it must have, 0 for any number of images

	Noted bool // by the run that wrote it: what there is to say of it stands in its notes
}

// enough is how many images are looked at, to say how many there are, where the set must
// have a number of them; 0 where it need not.
func (p Place) enough(classes int) int {
	if p.IPC == 0 {
		return 0
	}
	return max(1000, 4*p.IPC*classes)
}

// Read reads a distilled set of this program's making or of another's.
//
// A file of another program needs images, or pixels, with the shape [n, h, w, c] or
// [n, c, h, w], and labels, class numbers [n] or rows [n, classes]. What else it leaves
// out is taken from data.
func Read(at Place, o Options, data *method.Data) (*method.Distilled, error) {
	z, err := arrays.Open(at.File)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f := setFile{Source: z, labels: z, Options: o, most: max(len(data.Train.Labels), minMost, at.enough(len(data.Classes))), at: at}
	if at.Labels != "" {
		var labels arrays.Source
		if labels, err = arrays.Open(at.Labels); err != nil {
			return nil, err
		}
		defer labels.Close()
		f.labels = labels
	}
	d, err := readSet(f, data)
	return d, placed(at.File, err)
}

// placed puts a file in front of err, unless it, or one in that folder, is there already.
func placed(file string, err error) error {
	if err == nil {
		return nil
	}
	if rest, there := strings.CutPrefix(err.Error(), file); there && strings.ContainsAny(rest[:min(1, len(rest))], `:/\`) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

func readSet(f setFile, data *method.Data) (*method.Distilled, error) {
	texts := map[string]string{}
	for _, name := range []string{"preprocess", "classes", "label_kind", "loss", "notes"} {
		from := f.Source
		if name == "label_kind" || name == "loss" {
			from = f.with(name)
		}
		var err error
		// Other programs may mean something else by numbers, and by the last two.
		texts[name], err = text(from, name)
		if err != nil && (f.own || !errors.Is(err, errNoText) && name != "loss" && name != "notes") {
			return nil, err
		}
		f.own = texts["preprocess"] != ""
	}
	d := &method.Distilled{Classes: data.Classes, Prep: data.Prep, H: data.Train.H, W: data.Train.W, C: data.Train.C}
	if names := texts["classes"]; names != "" {
		// The names may differ, as spellings do; their number and their order must not.
		got := strings.Split(names, "\n")
		same := slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(data.Classes)))
		if len(got) != len(data.Classes) || same && !slices.Equal(got, data.Classes) {
			return nil, fmt.Errorf("it has the classes %s, but the data set has %s", npz.Listed(got), npz.Listed(data.Classes))
		}
		if !slices.EqualFunc(got, data.Classes, strings.EqualFold) {
			d.Notes = append(d.Notes, fmt.Sprintf("its classes are %s; they were taken for %s", npz.Listed(got), npz.Listed(data.Classes)))
		}
	}
	if p := texts["preprocess"]; p != "" && p != data.Prep.Name {
		return nil, fmt.Errorf("its preprocessing is %q, but the data set's here is %q", p, data.Prep.Name)
	}
	images, labels, err := f.find()
	if err != nil {
		return nil, err
	}
	d.Notes = append(d.Notes, notesOf(texts["notes"])...)
	if err := readImages(d, f, images, data); err != nil {
		return nil, err
	}
	if err := readLabels(d, f, labels, texts["label_kind"]); err != nil {
		return nil, placed(cmp.Or(f.at.Labels, f.at.File), err)
	}
	if err := readLoss(d, f, texts["loss"]); err != nil {
		return nil, placed(cmp.Or(f.at.Labels, f.at.File), err)
	}
	if err := readExtra(d, f); err != nil {
		return nil, err
	}
	return d, d.Check()
}

// Limits on what is kept of notes.
const maxNotes, maxNote = 50, 1000

// notesOf are the lines of a text, without what a terminal would obey.
func notesOf(text string) []string {
	var notes []string
	for line := range strings.Lines(text) {
		if len(notes) == maxNotes {
			return append(notes, fmt.Sprintf("its other notes, beyond %d lines, were left out", maxNotes))
		}
		line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "")
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, line)
		if letters := []rune(line); len(letters) > maxNote {
			line = string(letters[:maxNote]) + "..."
		}
		notes = append(notes, line)
	}
	return notes
}

// names under which images and labels usually are. DC, and those after it, save
// data = [[images, labels], ...].
var pairs = [][2]string{
	{"images", "labels"}, {"pixels", "labels"}, {"x", "y"}, {"X", "y"}, {"x_train", "y_train"}, {"train_images", "train_labels"},
	{"image_syn", "label_syn"}, {"data", "labels"}, {"data", "targets"}, {"0", "1"}, {"arr_0", "arr_1"},
}

const saveBoth = `torch.save({"images": images, "labels": labels}, FILE) makes a set of two tensors`

// find returns the names of the arrays of images and labels.
func (f setFile) find() (images, labels string, err error) {
	images, labels = f.Images, f.Labels
	if f.Source == f.labels { // the images or the labels of an experiment bring the others
		if pair, is := strings.CutSuffix(images, ".0"); is && labels == "" && ofExperiment(pair) && f.Has(pair+".1") {
			labels = pair + ".1"
		}
		if pair, is := strings.CutSuffix(labels, ".1"); is && images == "" && ofExperiment(pair) && f.Has(pair+".0") {
			images = pair + ".0"
		}
		f.Images, f.Labels = images, labels
	}
	experiment, err := f.experiment()
	if err != nil {
		return "", "", err
	}
	usual := pairs
	if experiment >= 0 {
		at := "data." + strconv.Itoa(experiment)
		usual = append([][2]string{{at + ".0", at + ".1"}}, usual...)
	}
	pick := func(s arrays.Source, side int) string {
		for _, p := range usual {
			if s.Has(p[side]) && (f.Source != f.labels || s.Has(p[1-side])) && (p[side] != strconv.Itoa(side) || !batches(s)) {
				return p[side]
			}
		}
		if len(s.Names()) == 1 && (f.Source != f.labels || side == 0 && s.Has(".")) {
			return s.Names()[0]
		}
		for _, p := range usual { // though the other is missing
			if s.Has(p[side]) && p[side] != strconv.Itoa(side) {
				return p[side]
			}
		}
		return ""
	}
	if images == "" {
		images = pick(f.Source, 0)
	}
	if labels == "" {
		labels = pick(f.labels, 1)
	}
	if images == "" {
		if slices.ContainsFunc(f.Names(), func(name string) bool { return strings.HasSuffix(name, ".weight") }) {
			return "", "", fmt.Errorf("it has %s, the weights of a network, and no images\nhint: %s", npz.Listed(f.Names()), saveBoth)
		}
		return "", "", fmt.Errorf("it has neither an array images nor an array pixels, but %s\nhint: images = \"NAME\" and labels = \"NAME\" beside path name them; of a list, torch.stack makes one tensor of images, torch.cat of batches of them", npz.Listed(f.Names()))
	}
	if labels == "" {
		const needs = "it needs an array labels with one label for each of its images, and has "
		const otherFile = "labels_path names another file, such as MTT's labels_best.pt"
		if f.labels.Has(".") {
			return "", "", fmt.Errorf(needs+"one tensor alone\nhint: %s; %s", saveBoth, otherFile)
		}
		return "", "", fmt.Errorf(needs+"%s\nhint: labels = \"NAME\" beside path names it, %s; torch.stack makes one tensor of a list of labels", npz.Listed(f.labels.Names()), otherFile)
	}
	return images, labels, nil
}

// ofExperiment reports whether the name of a pair is data.0, data.1 and so on.
func ofExperiment(pair string) bool {
	number, is := strings.CutPrefix(pair, "data.")
	_, err := strconv.ParseUint(number, 10, 32)
	return is && err == nil
}

// batches reports whether a list has more than images and labels, such as batches of
// images: what is third is large.
func batches(s arrays.Source) bool {
	if !s.Has("2") {
		return false
	}
	_, err := s.Read("2", 1000)
	return errors.Is(err, npz.ErrOversized)
}

// experiment returns which of the sets in a file such as DC's is meant, -1 if the file
// is none or names are given.
func (f setFile) experiment() (int, error) {
	n := 0
	for f.Has("data."+strconv.Itoa(n)+".0") && f.Has("data."+strconv.Itoa(n)+".1") {
		n++
	}
	switch {
	case n == 0 || f.Images != "" && f.Labels != "":
		return -1, nil
	case n == 1:
		return 0, nil
	case f.at.Seed >= uint64(n):
		return 0, fmt.Errorf("it has the sets of %d experiments, for the seeds from 0 on, and none for seed %d\nhint: images = \"data.0.0\" and labels = \"data.0.1\" beside path take the first for all", n, f.at.Seed)
	}
	return int(f.at.Seed), nil
}

func readExtra(d *method.Distilled, f setFile) error {
	left := maxExtra
	for _, full := range f.Names() {
		name, ok := strings.CutPrefix(full, "extra.")
		if !ok {
			continue
		}
		a, err := f.Read(full, left)
		if !f.own && errors.Is(err, npz.ErrFormat) {
			continue // another program's own
		}
		if err != nil {
			return err
		}
		v, numbers := a.Float64s()
		left -= len(v)
		if texts, is := a.Texts(); is {
			left -= len(strings.Join(texts, " "))
		}
		if numbers {
			if d.Extra == nil {
				d.Extra = map[string]method.Array{}
			}
			d.Extra[name] = method.Array{Shape: a.Shape, Data: v}
		}
	}
	return nil
}

// readPixels reads the array of images to use, and returns its name. Bytes are left for
// an array pixels of numbers.
func readPixels(f setFile, name string, classes, dim int) (npz.Array, string, error) {
	most := cmp.Or(f.at.enough(classes), f.most)
	a, err := f.Read(name, most*dim)
	if errors.Is(err, npz.ErrOversized) && f.at.IPC > 0 {
		err = fmt.Errorf("%w\nhint: ipc %d of %d classes are %d images", err, f.at.IPC, classes, f.at.IPC*classes)
	}
	if err == nil && f.Images == "" && name == "images" && a.Type == "u1" && f.Has("pixels") {
		name = "pixels"
		a, err = f.Read(name, most*dim)
	}
	return a, name, err
}

func readImages(d *method.Distilled, f setFile, name string, data *method.Data) error {
	a, name, err := readPixels(f, name, len(d.Classes), d.H*d.W*d.C)
	if err != nil {
		return err
	}
	first, err := f.channelsFirst(d, a, name)
	if err != nil {
		return err
	}
	x, ok := a.Float32s()
	if !ok {
		return fmt.Errorf("its array %s holds no images", name)
	}
	if err := finite(name, x, a.Shape[0]); err != nil {
		return err
	}
	if first {
		x = ChannelsLast(x, a.Shape[0], d.C, d.H*d.W)
	}
	u, err := f.units(a, name, x, data)
	if err != nil {
		return err
	}
	return u.apply(d, x)
}

// finite reports a value of n images, or of their labels, that is NaN or infinite.
func finite[T float32 | float64](name string, x []T, n int) error {
	for i, v := range x {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("its array %s has the value %v for image %d", name, v, i/(len(x)/n))
		}
	}
	return nil
}

// channelsFirst reports whether images are given as [n, c, h, w], not [n, h, w, c]. What
// is neither, or another number of images than it must be, costs no more memory.
func (f setFile) channelsFirst(d *method.Distilled, a npz.Array, name string) (first bool, err error) {
	s, classes := a.Shape, len(d.Classes)
	if len(s) == 3 && d.C == 1 { // one channel, left out
		s = append(slices.Clone(s), 1)
	}
	if len(s) != 4 || s[0] < 1 {
		return false, fmt.Errorf("its images, the array %s, have the shape %v, not [n, h, w, c] or [n, c, h, w]\nhint: torch.stack makes one tensor of a list of images", name, a.Shape)
	}
	last := s[1] == d.H && s[2] == d.W && s[3] == d.C && (f.Layout != "channels-first" || len(a.Shape) == 3)
	first = s[1] == d.C && s[2] == d.H && s[3] == d.W && f.Layout != "channels-last" && !last
	switch n := s[0]; {
	case !first && !last:
		also := ""
		if f.Layout != "" {
			also = " in layout " + f.Layout
		}
		if d.C == 1 && slices.Contains(s, 3) {
			also += "\nhint: of grey images saved in colour, images[:, :1] takes one channel"
		}
		return false, fmt.Errorf("its images have the shape %v; the data set's are %dx%d with %d channels%s", a.Shape, d.H, d.W, d.C, also)
	case f.at.IPC > 0 && n != f.at.IPC*classes:
		hint := ""
		if n%classes == 0 {
			hint = fmt.Sprintf("\nhint: write ipc = [%d] in [grid], if its classes are those of the data set here: %s", n/classes, npz.Listed(d.Classes))
		}
		return false, fmt.Errorf("it has %d images, and ipc %d of %d classes are %d%s", n, f.at.IPC, classes, f.at.IPC*classes, hint)
	}
	return first, nil
}

// ChannelsLast returns images [n, c, plane] as [n, plane, c]; with c and plane exchanged it is
// its own inverse.
func ChannelsLast(x []float32, n, c, plane int) []float32 {
	out := make([]float32, len(x))
	for i := range n {
		for k := range c {
			for p := range plane {
				out[(i*plane+p)*c+k] = x[(i*c+k)*plane+p]
			}
		}
	}
	return out
}
