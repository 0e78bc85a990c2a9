package experiment

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"reflect"

	"dgkip/harness/data"
	"dgkip/harness/toml"
)

// IdentitySchema is the version of identities. Raising it invalidates all earlier records.
const IdentitySchema = 2

// Identity holds everything that a run's result depends on: the data, the settings, the seed, and the
// versions of the code.
type Identity struct {
	Schema  int             `json:"schema"`
	Dataset DatasetIdentity `json:"dataset"`
	IPC     int             `json:"ipc"` // 0 if it has no effect
	Method  PartIdentity    `json:"method"`
	Model   map[string]any  `json:"model"`
	Eval    PartIdentity    `json:"eval"`
	Seed    uint64          `json:"seed"`
}

// DatasetIdentity identifies the dataset of a run. Different data may have the same name, so the digest
// covers the images and labels of the classes in use.
type DatasetIdentity struct {
	Name       string   `json:"name"`
	Classes    []string `json:"classes"`
	Preprocess string   `json:"preprocess"`
	Digest     string   `json:"digest"`
	Characters bool     `json:"characters,omitempty"` // only for your own data
}

// PartIdentity identifies the method or the protocol of a run.
type PartIdentity struct {
	Name     string         `json:"name"`
	Version  int            `json:"version"`
	Settings map[string]any `json:"settings"`
}

// Declared returns the settings that identify the images of a [data.NAME] section: all but the title. For
// your own files, the path to their folder is relative to from. It stays the same if both folders are
// moved together.
func (d Data) Declared(from string) map[string]any {
	out := toml.Settings(d)
	delete(out, "title")
	delete(out, "use")
	out["name"] = cmp.Or(d.Use, d.Name)
	out["preprocess"] = d.Preprocessing()
	if d.Own() {
		out["dir"] = Relative(from, d.Dir)
	}
	for key, value := range out {
		if v := reflect.ValueOf(value); !v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
			delete(out, key)
		}
	}
	return out
}

// Relative returns the path from one folder to another, with slashes. If there is none, as between
// drives, it returns to.
func Relative(from, to string) string {
	a, errA := filepath.Abs(from)
	b, errB := filepath.Abs(to)
	path, err := filepath.Rel(a, b)
	if cmp.Or(errA, errB, err) != nil {
		path = to
	}
	return filepath.ToSlash(path)
}

// Shown returns the title for tables: its own, or else the known dataset's, or else the name.
func (d Data) Shown() string {
	info, _ := data.Describe(d.Use) // empty for your own data
	return cmp.Or(d.Title, info.Title, d.Name)
}

// Preprocessing returns the name of the preprocessing.
func (d Data) Preprocessing() string { return cmp.Or(d.Preprocess, "standard") }

// Key returns the SHA-256 of the identity's canonical JSON, in hexadecimal.
func (id Identity) Key() string {
	sum := sha256.Sum256(Canonical(id))
	return hex.EncodeToString(sum[:])
}

// Canonical returns v as JSON without blanks, with sorted keys and the shortest numbers that read back to
// the same bits. It panics if v has no JSON form. Settings always have one: the decoder only accepts
// finite numbers.
func Canonical(v any) []byte {
	first, err := json.Marshal(v)
	// The encoder sorts the keys of maps, but not the fields of structs.
	var tree any
	dec := json.NewDecoder(bytes.NewReader(first))
	dec.UseNumber()
	if err == nil {
		err = dec.Decode(&tree)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err == nil {
		err = enc.Encode(tree)
	}
	if err != nil {
		panic("Canonical: value has no JSON form")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
