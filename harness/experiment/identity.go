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

// IdentitySchema is raised when identities change their form, which makes all
// earlier records count as other runs.
const IdentitySchema = 2

// Identity is all that a run's result depends on: what was declared, and the
// integer versions of the code that computes it.
type Identity struct {
	Schema  int             `json:"schema"`
	Dataset DatasetIdentity `json:"dataset"`
	IPC     int             `json:"ipc"` // 0 if it makes no difference
	Method  PartIdentity    `json:"method"`
	Model   map[string]any  `json:"model"`
	Eval    PartIdentity    `json:"eval"`
	Seed    uint64          `json:"seed"`
}

// DatasetIdentity is the data's part. The digest covers images and labels of the
// classes in use; a name alone would not tell one person's data from another's.
type DatasetIdentity struct {
	Name       string   `json:"name"`
	Classes    []string `json:"classes"`
	Preprocess string   `json:"preprocess"`
	Digest     string   `json:"digest"`
	Characters bool     `json:"characters,omitempty"` // as one's own data declares
}

// PartIdentity is a method's or a protocol's part.
type PartIdentity struct {
	Name     string         `json:"name"`
	Version  int            `json:"version"`
	Settings map[string]any `json:"settings"`
}

// Declared is what names the images of a [data.NAME] section: all that it says but
// titles, and for files of one's own the folder that their paths start from, as it
// is reached from another one. So it stays the same where both are moved together.
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

// Relative returns the path from one folder to another, with slashes. Between drives
// there is none, and the folder itself has to do.
func Relative(from, to string) string {
	a, errA := filepath.Abs(from)
	b, errB := filepath.Abs(to)
	path, err := filepath.Rel(a, b)
	if cmp.Or(errA, errB, err) != nil {
		path = to
	}
	return filepath.ToSlash(path)
}

// Shown is the title that tables have: its own, or that of known data, or else the name.
func (d Data) Shown() string {
	info, _ := data.Describe(d.Use) // nothing for one's own
	return cmp.Or(d.Title, info.Title, d.Name)
}

// Preprocessing is the name of the one in use.
func (d Data) Preprocessing() string { return cmp.Or(d.Preprocess, "standard") }

// Key returns the SHA-256 of the identity's canonical JSON, in hexadecimal.
func (id Identity) Key() string {
	sum := sha256.Sum256(Canonical(id))
	return hex.EncodeToString(sum[:])
}

// Canonical returns v as JSON without blanks, with sorted keys and the shortest
// numbers that read back to the same bits. It panics if v holds what JSON lacks:
// settings are checked to be finite when they are read.
func Canonical(v any) []byte {
	first, err := json.Marshal(v)
	if err != nil {
		panic("Canonical: value has no JSON form")
	}
	// Through maps, for their keys are sorted and a struct's are not.
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
