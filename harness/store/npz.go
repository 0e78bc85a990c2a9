package store

import (
	"bytes"
	"encoding/json"

	"dgkip/harness/arrays"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/npz"
	"dgkip/harness/sets"
)

// recipe names the array that holds where a set comes from.
const recipe = "recipe"

// encodeSet returns distilled.npz and its digest. The recipe is left out of that: it
// says what the record's key says.
func encodeSet(d *method.Distilled, id experiment.Identity) (file []byte, digest string, err error) {
	file, err = npz.Encode(append(sets.Arrays(d), npz.Text(recipe, string(experiment.Canonical(id)))))
	if err != nil {
		return nil, "", err
	}
	z, err := npz.New(SetFile, bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, "", err
	}
	digest, err = z.Digest(recipe)
	return file, digest, err
}

// ReadRecipe returns the identity of the run that made the set in a file, false if
// the file does not say.
func ReadRecipe(file string) (id experiment.Identity, ok bool) {
	z, err := arrays.Open(file)
	if err != nil {
		return id, false
	}
	defer z.Close()
	a, err := z.Read(recipe, 1<<20)
	if err != nil {
		return id, false
	}
	text, ok := a.Texts()
	return id, ok && len(text) == 1 && json.Unmarshal([]byte(text[0]), &id) == nil
}
