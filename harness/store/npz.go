package store

import (
	"encoding/json"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/sets"
)

// recipe names the array that holds where a set comes from.
const recipe = "recipe"

// encodeSet returns distilled.npz and its digest. The recipe is left out of the digest: it
// repeats the record's key.
func encodeSet(d *method.Distilled, id experiment.Identity) (file []byte, digest string, err error) {
	arrays := append(sets.Arrays(d), sets.Text(recipe, string(experiment.Canonical(id))))
	file, err = sets.Encode(arrays)
	return file, sets.Digest(arrays, recipe), err
}

// ReadRecipe returns the identity of the run that made the set in a file, false if
// the file does not say.
func ReadRecipe(file string) (id experiment.Identity, ok bool) {
	z, err := sets.Open(file)
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
