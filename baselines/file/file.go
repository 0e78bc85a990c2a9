// Package file reads distilled sets of other programs, so that they can be scored, recorded and shown in
// tables like sets of this program.
package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/sets"
	"dgkip/harness/teacher"
)

// File is the method. Paths are relative to the folder of the experiment; {dataset}, {model}, {ipc} and
// {seed} in them are replaced by the values of the run.
type File struct {
	Path       string `toml:"path,omitzero"`        // an NPZ or .pt file
	LabelsPath string `toml:"labels_path,omitzero"` // a file with the labels, if path has none
	sets.Options

	// Travel reports whether the sets also have portable labels.
	Travel bool `toml:"travel,omitzero"`

	// Digest is the SHA-256 of the files' content. It replaces the paths in a run's identity.
	// If an experiment sets it, the files must have that content.
	Digest string `toml:"digest,omitzero"`

	at sets.Place // of a run
}

// Any returns the method for a single file, with the number of images per class, or 0 if the number of
// images is not a multiple of the classes. It takes the kind of labels from the file. If like is not
// nil, it reads the file with the settings of like, which has been located.
func Any(path string, data *method.Data, like *File) (f *File, ipc int, err error) {
	f = &File{at: sets.Place{File: path}}
	if like != nil {
		f.Options, f.at.Labels = like.Options, like.at.Labels
	}
	d, err := sets.Read(f.at, f.Options, data)
	if err != nil {
		return nil, 0, err
	}
	if d.Kind != method.Hard {
		f.LabelKind = string(d.Kind)
	}
	if !slices.Contains(softKinds, d.Kind) {
		_, f.Travel = teacher.TravelLabels(d)
	}
	f.Digest, err = f.digest()
	if d.Len()%len(d.Classes) == 0 {
		ipc = d.Len() / len(d.Classes)
	}
	return f, ipc, err
}

func init() { method.Register(func() method.Method { return new(File) }) }

// Info implements method.Method.
func (f *File) Info() method.Info {
	return method.Info{
		Name: "file", Title: "Sets from files", Version: 5, Protocol: "network",
		About:      "sets of other programs, as NPZ or PyTorch's .pt",
		SoftLabels: f.Travel || slices.Contains(softKinds, method.LabelKind(f.LabelKind)),
	}
}

// softKinds are the kinds of labels whose values trained networks use. From gains and values they
// take only the class: the sign or the largest.
var softKinds = []method.LabelKind{method.Soft, method.Logits, method.Target}

// Check implements method.Checker.
func (f *File) Check() error {
	if f.Path == "" {
		return &method.BadSetting{Key: "path", Why: "is missing", Hint: `path = "sets/{dataset}-{ipc}-{seed}.pt" names the files, relative to this one`}
	}
	return f.Options.Check()
}

// Locate implements method.Locator.
func (f *File) Locate(p method.Place, data *method.Data) (method.Method, error) {
	names := strings.NewReplacer("{dataset}", p.Dataset, "{model}", p.Model, "{ipc}", strconv.Itoa(p.IPC), "{seed}", strconv.FormatUint(p.Seed, 10))
	path := func(setting string) string {
		file := filepath.FromSlash(names.Replace(setting))
		if file != "" && !filepath.IsAbs(file) {
			file = filepath.Join(p.Dir, file)
		}
		return file
	}
	out := *f
	out.at = sets.Place{File: path(f.Path), Labels: path(f.LabelsPath), IPC: p.IPC}
	out.Images, out.Labels = names.Replace(f.Images), names.Replace(f.Labels)
	digest, err := out.digest()
	if errors.Is(err, fs.ErrNotExist) && f.Digest != "" && data == nil {
		// Nothing will be run, and records of that content can be shown without the files.
		out.Path, out.LabelsPath = "", ""
		return &out, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		key, setting := "path", f.Path
		if missing := new(fs.PathError); errors.As(err, &missing) && missing.Path == out.at.Labels {
			key, setting = "labels_path", f.LabelsPath
		}
		return nil, fmt.Errorf("%w\nhint: %s = %q is relative to the folder of the experiment; {dataset}, {model}, {ipc} and {seed} in it are replaced by those of the run", err, key, setting)
	}
	if err != nil {
		return nil, err
	}
	if f.Digest != "" && digest != f.Digest {
		return nil, fmt.Errorf("%s: the digest of its content is %s, not %s\nhint: correct digest, or leave it out", out.at.File, digest, f.Digest)
	}
	out.Path, out.LabelsPath, out.Digest = "", "", digest
	if data != nil {
		if _, err := out.read(data); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

func (f *File) digest() (string, error) {
	first, err := digestOf(f.at.File)
	if err != nil || f.at.Labels == "" {
		return first, err
	}
	second, err := digestOf(f.at.Labels)
	sum := sha256.Sum256([]byte(first + "\n" + second))
	return "sha256:" + hex.EncodeToString(sum[:]), err
}

func digestOf(file string) (string, error) {
	f, _, err := sets.OpenRegular(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), err
}

// read reads the set and checks that it fits the settings.
func (f *File) read(data *method.Data) (*method.Distilled, error) {
	d, err := sets.Read(f.at, f.Options, data)
	if err != nil {
		return nil, err
	}
	if err := teacher.CheckLossOf(d); err != nil {
		return nil, fmt.Errorf("%s: %w", f.at.File, err)
	}
	if f.LabelKind == "" && d.Kind != method.Hard {
		return nil, fmt.Errorf("%s: its labels are of the kind %q, not class numbers\nhint: add label_kind = %q next to path; scores of networks trained on such labels may belong to another protocol family", f.at.File, d.Kind, d.Kind)
	}
	if _, travel := teacher.TravelLabels(d); travel != f.Travel && !slices.Contains(softKinds, d.Kind) {
		if travel {
			return nil, fmt.Errorf("%s: it also has portable labels, which trained and new networks use\nhint: add travel = true next to path; such scores belong to another protocol family", f.at.File)
		}
		return nil, fmt.Errorf("%s: travel = true, but the file has no portable labels\nhint: leave out travel", f.at.File)
	}
	noteBalance(d)
	return d, nil
}

// noteBalance adds a note if classes have different numbers of images.
func noteBalance(d *method.Distilled) {
	count := make([]int, len(d.Classes))
	for _, y := range d.Of {
		count[y]++
	}
	few, many := slices.Min(count), slices.Max(count)
	note := fmt.Sprintf("classes have between %d and %d images", few, many)
	if few != many && !slices.Contains(d.Notes, note) {
		d.Notes = append(d.Notes, note)
	}
}

// Distill implements method.Method.
func (f *File) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	if err := ctx.Err(); err != nil {
		return nil, method.Stopped(ctx, p, err)
	}
	if f.at.File == "" { // not located yet
		m, err := f.Locate(method.Place{Dataset: p.Data.Name, Model: p.Model.Kind, IPC: p.IPC, Seed: p.Seed}, nil)
		if err != nil {
			return nil, err
		}
		f = m.(*File)
	}
	d, err := f.read(p.Data)
	if err != nil {
		return nil, err
	}
	if digest, err := f.digest(); err != nil || digest != f.Digest {
		return nil, errors.Join(err, fmt.Errorf("%s changed while the program was running\nhint: run the same command again", f.at.File))
	}
	observe(method.Step{Distilled: d.Clone})
	return d, nil
}

// CheckSizes implements method.SizesChecker: sets from files need no training images.
func (f *File) CheckSizes(method.Sizes) error { return nil }
