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

// Identity is all that a run's result depends on: the settings, and the integer versions of the code
// that computes it.
type Identity struct {
	Schema  int             `json:"schema"`
	Dataset DatasetIdentity `json:"dataset"`
	IPC     int             `json:"ipc"` // 0 if it has no effect
	Method  PartIdentity    `json:"method"`
	Model   map[string]any  `json:"model"`
	Eval    PartIdentity    `json:"eval"`
	Seed    uint64          `json:"seed"`
}

// DatasetIdentity is the dataset's part. The digest covers images and labels of the used classes, because
// different data may have the same name.
type DatasetIdentity struct {
	Name       string   `json:"name"`
	Classes    []string `json:"classes"`
	Preprocess string   `json:"preprocess"`
	Digest     string   `json:"digest"`
	Characters bool     `json:"characters,omitempty"` // only for your own data
}

// PartIdentity is the part of a method or a protocol.
type PartIdentity struct {
	Name     string         `json:"name"`
	Version  int            `json:"version"`
	Settings map[string]any `json:"settings"`
}

// Declared returns what identifies the images of a [data.NAME] section: all settings except titles. For
// your own files it includes the relative path between two folders, which does not change if both are
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

// Relative returns the path from one folder to another, with slashes. Between drives there is no such
// path, and it returns the other folder itself.
func Relative(from, to string) string {
	a, errA := filepath.Abs(from)
	b, errB := filepath.Abs(to)
	path, err := filepath.Rel(a, b)
	if cmp.Or(errA, errB, err) != nil {
		path = to
	}
	return filepath.ToSlash(path)
}

// Shown returns the title in tables: its own, that of known data, or the name.
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
// the same bits. It panics if v has no JSON form. Settings have one, because they are checked to be
// finite when they are read.
func Canonical(v any) []byte {
	first, err := json.Marshal(v)
	if err != nil {
		panic("Canonical: value has no JSON form")
	}
	// Converts to maps, because their keys are sorted, unlike those of structs.
	var tree any
	dec := json.NewDecoder(bytes.NewReader(first))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		panic("Canonical: value has no JSON form")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(tree); err != nil {
		panic("Canonical: value has no JSON form")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
