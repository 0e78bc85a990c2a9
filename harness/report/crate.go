package report

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// crateName is the name that RO-Crate gives to the description of a folder.
const crateName = "ro-crate-metadata.json"

// entity is a node of an RO-Crate: a file, a folder, a program or an action of a program.
type entity map[string]any

func to(ids ...string) []entity {
	var out []entity
	for _, id := range ids {
		out = append(out, entity{"@id": id})
	}
	return out
}

var fileTypes = map[string]string{
	".csv": "text/csv", ".html": "text/html", ".json": "application/json", ".md": "text/markdown",
	".pdf": "application/pdf", ".png": "image/png", ".tex": "text/x-tex",
}

// crate returns the RO-Crate 1.1 description of a folder of results: which program wrote which
// files from which records.
func crate(sections []section, written []output) []byte {
	var files, about []string
	for _, o := range written {
		files = append(files, o.name)
	}
	slices.Sort(files)
	var runs []Run
	for _, s := range sections {
		about, runs = append(about, s.Title), append(runs, s.runs...)
	}
	finished, commit := newest(runs)
	root := entity{
		"@id": "./", "@type": "Dataset", "name": "Results of dgkip", "description": strings.Join(about, "; "),
		"hasPart": append(to("runs/", "data.json"), to(files...)...),
	}
	if !finished.IsZero() {
		root["datePublished"] = finished.Format(time.DateOnly)
	}
	graph := []entity{
		{"@id": crateName, "@type": "CreativeWork", "about": to("./")[0], "conformsTo": to("https://w3id.org/ro/crate/1.1")[0]},
		root,
		{"@id": "runs/", "@type": "Dataset", "name": "records", "description": "a folder for each run: result.json holds its settings and numbers, provenance.json where and when it ran, SHA256SUMS the checksums of its files"},
		{"@id": "data.json", "@type": "File", "name": "the datasets behind the records, with digests", "encodingFormat": fileTypes[".json"]},
		{"@id": "#dgkip", "@type": "SoftwareApplication", "name": "dgkip", "softwareVersion": commit},
		{"@id": "#collect", "@type": "CreateAction", "name": "tables and figures from records", "instrument": to("#dgkip")[0], "object": to("runs/", "data.json"), "result": to(files...)},
	}
	for _, f := range files {
		graph = append(graph, entity{"@id": f, "@type": "File", "name": path.Base(f), "encodingFormat": fileTypes[filepath.Ext(f)]})
	}
	b, err := json.MarshalIndent(map[string]any{"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}, "", " ")
	if err != nil {
		panic("report: " + err.Error()) // it holds only strings, lists and maps
	}
	return append(b, '\n')
}
