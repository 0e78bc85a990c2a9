package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dgkip/harness/data"
	"dgkip/harness/engine"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/report"
	"dgkip/harness/sets"
)

// cardHead is the first line of a card. -export does not overwrite a README.md without it.
const cardHead = "<!-- Written by -export from the records. -->\n"

// cardEntry is an exported set that the card, README.md, describes.
type cardEntry struct {
	file string
	run  *engine.Run
	set  setFile
}

// writeCard writes README.md, which describes the exported sets.
func (f *flags) writeCard(out io.Writer, specs []*experiment.Spec, entries []cardEntry) error {
	file := filepath.Join(f.exportDir, "README.md")
	old, _, err := sets.OpenRegular(file)
	if err == nil {
		text, err := io.ReadAll(io.LimitReader(old, 1<<22))
		old.Close() // so that Windows replaces it
		switch {
		case err != nil:
			return fmt.Errorf("-export: %w", err)
		case !strings.HasPrefix(string(text), cardHead):
			fmt.Fprintf(out, "%s was not written by this program, so it stays as it is\n", file)
			return nil
		case f.describesOthers(string(text), entries):
			fmt.Fprintf(out, "%s also describes other sets, so it stays as it is\nhint: export to an empty folder\n", file)
			return nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("-export: %w", err)
	}
	if err := report.WriteFile(file, f.card(specs, entries)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// describesOthers reports whether a card describes a file in its folder that is not among the
// entries.
func (f *flags) describesOthers(card string, entries []cardEntry) bool {
	for line := range strings.Lines(card) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if ext := filepath.Ext(name); !strings.HasPrefix(line, "| ") || ext != ".npz" && ext != ".pt" ||
			slices.ContainsFunc(entries, func(e cardEntry) bool { return e.file == name }) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(f.exportDir, filepath.Base(name))); err == nil {
			return true
		}
	}
	return false
}

// card describes exported sets.
func (f *flags) card(specs []*experiment.Spec, entries []cardEntry) []byte {
	var b bytes.Buffer
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add(cardHead+`# Distilled sets

Small sets of synthetic images with labels, for training in place of a whole dataset. An accuracy scored in the same networks
holds only for those networks; a network trained on the set can be far worse. The sets come from the records of dgkip, which
reproduces DGKIP (Aoyama et al., 2025, arXiv:2502.12607). This command wrote them:

    %s

| file | dataset | method | networks | images per class | labels | loss | accuracy | scored by | record | computed by |
|:--|:--|:--|:--|--:|:--|:--|--:|:--|:--|:--|`, f.exportCommand())
	var protocols, terms []string
	for _, e := range entries {
		c, id, protocol := e.run.Cell, e.run.Identity, e.run.Cell.Protocol.Info()
		spec := specs[slices.IndexFunc(specs, func(s *experiment.Spec) bool { return s.Name == c.Exp })]
		exp, only := report.Selection(spec, c)
		command := fmt.Sprintf("`go run . %s%s -only '%s seed:%d'`", exp, f.changes(), only, e.run.Seed)
		dataset := c.Data.Shown() + ": " + strings.Join(id.Dataset.Classes, ", ")
		if n := len(id.Dataset.Classes); n > 5 {
			dataset = fmt.Sprintf("%s: %d classes", c.Data.Shown(), n)
		}
		loss := e.set.loss
		if loss == "" || loss == "softmax" {
			loss = "cross-entropy"
		}
		row := []string{
			e.file, dataset, title(spec, e.run), method.ModelTitle(c.Net.Kind), fmt.Sprint(c.IPC), e.set.kind, loss,
			fmt.Sprintf("%.2f", 100*e.set.record.Result.Metrics["test_acc"]), protocol.Title, e.run.Key[:8], command,
		}
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
		add("| %s |", strings.Join(row, " | "))
		protocols = append(protocols, fmt.Sprintf("* %s: %s.", protocol.Title, protocol.About))
		info, _ := data.Describe(c.Data.Use) // empty for your own data
		switch {
		case info.BuiltIn:
			terms = append(terms, fmt.Sprintf("* %s, drawn by dgkip.", info.Title))
		case info.Terms != "":
			terms = append(terms, fmt.Sprintf("* %s, %s.", info.Title, info.Terms))
		default:
			terms = append(terms, fmt.Sprintf("* %s, your own data.", c.Data.Shown()))
		}
	}
	add(`
Accuracy is the test accuracy in percent. The column record shows the first digits of the record's key. The protocols are:

%s

The command in the last column computes the record if it does not exist, or with -force in any case. With -verify 1 it
compares the record with a new run.

## Arrays

| array | what it holds |
|:--|:--|
%s`, strings.Join(experiment.With(nil, protocols...), "\n"), arraysOf[f.export])
	add(`| labels | float32 [n, k]; label_kind is their kind |
| label_kind | the meaning of the labels, see below |
| of | int64 [n], the class of each image |
| loss | the convex loss of the labels; absent if there is none |
| classes, notes | text, one per line (a list in .pt) |
| preprocess, mean, std | images = (pixels - mean)/std for each channel, unless preprocess names a whitening |
| extra.* | further arrays of the method. extra.exact_labels holds the labels in float64, extra.travel_labels the portable labels, for other networks |
| recipe | all settings, as JSON |

## How to train on them

Normalise test images in the same way as the set: (pixels - mean)/std, with pixels from 0 to 1. Sets with preprocess zca or
norm-zca need the whitening that is fitted to all training images; see harness/data/whiten.go.

| label_kind | train with |
|:--|:--|
| hard, soft | cross-entropy with a row over the classes |
| logits | cross-entropy with the softmax of a row |
| target | log(1 + exp(f)) - p f, where p is the label and f the model's one output, positive for the second class |
| gain | log(1 + exp(-y f)) if loss is logistic, max(0, 1 - y f) if it is hinge, where y is the label and f the one output |
| value | (f - y)^2/2, where y is the label and f the output, one or one for each class |

Labels of the kinds soft, target, gain and value belong to a convex model in the networks of the distillation. results/train.py
trains a ConvNet in PyTorch with cross-entropy. It clips targets to [0, 1], replaces gains and values by classes, and uses other
labels unchanged:

    python3 results/train.py FILE TEST

TEST is test_batch.bin of CIFAR-10, or t10k-images-idx3-ubyte of MNIST or Fashion-MNIST with its label file in the same folder.

## Licence

Like the program, the sets that come with dgkip are under the Apache License 2.0, as far as the terms of the original data allow:

%s`, strings.Join(experiment.With(nil, terms...), "\n"))
	return b.Bytes()
}

// exportCommand returns the command that writes the sets. DIR stands for the folder.
func (f *flags) exportCommand() string {
	var names []string
	for _, name := range strings.Split(f.exp, ",") {
		names = append(names, filepath.Base(strings.TrimSpace(name)))
	}
	command := "go run . -exp " + strings.Join(names, ",")
	if f.profile != experiment.DefaultProfile {
		command += " -profile " + f.profile
	}
	command += f.changes()
	if f.only != "" {
		command += " -only '" + f.only + "'"
	}
	return command + " -export " + f.export + " DIR"
}

// changes returns the flags that change an experiment.
func (f *flags) changes() string {
	changes := ""
	if f.seeds > 0 {
		changes = fmt.Sprintf(" -seeds %d", f.seeds)
	}
	for _, one := range f.shownSet() {
		changes += " -set '" + one + "'"
	}
	return changes
}

// arraysOf describes the arrays of images in each format.
var arraysOf = map[string]string{
	"pt": `| images | float32 [n, c, h, w], as networks see them |
| pixels | float32 [n, c, h, w], 0 to 1 for real images; learned images may leave this range |`,
	"npz": `| images | float32 [n, h, w, c], as networks see them |
| pixels | float16 [n, h, w, c], 0 to 1 for real images; learned images may leave this range |`,
	"half": `| images | float16 [n, h, w, c], as networks see them; rounded from the float32 images of the record, to which the accuracy applies |
| pixels | float16 [n, h, w, c], only for whitened images; otherwise pixels = images std + mean, 0 to 1 for real images |`,
}

// title returns the title of a run's method in its experiment.
func title(s *experiment.Spec, r *engine.Run) string {
	if t := s.Titles[r.Cell.Column]; t != "" {
		return t
	}
	return r.Method().Info().Title
}

// textIn returns the text of an array, or "".
func textIn(arrays []sets.Array, name string) string {
	for _, a := range arrays {
		if text, _ := a.Texts(); a.Name == name && len(text) == 1 {
			return text[0]
		}
	}
	return ""
}
