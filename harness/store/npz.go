package store

import (
	"encoding/json"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/sets"
)

// recipe names the array with the identity of the run that computed the set.
const recipe = "recipe"

// encodeSet returns the content of distilled.npz and its digest. The digest excludes the recipe,
// which repeats the key of the record.
func encodeSet(d *method.Distilled, id experiment.Identity) (file []byte, digest string, err error) {
	arrays := append(sets.Arrays(d), sets.Text(recipe, string(experiment.Canonical(id))))
	digest = sets.Digest(arrays, recipe)
	file, err = sets.Encode(arrays)
	return file, digest, err
}

// ReadRecipe returns the identity of the run that computed the set in a file. It reports false if
// the file does not contain one.
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
	ok = ok && len(text) == 1 && json.Unmarshal([]byte(text[0]), &id) == nil
	return id, ok
}
