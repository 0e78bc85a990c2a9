package spec

import "dgkip/harness/toml"

// Sheet is a file under one profile, for whoever reads its sections on what to show.
// What is wrong with them goes to the Decoder.
type Sheet struct {
	*toml.Decoder
	Root   *toml.Node
	Names  Names
	Axes   []string // of this profile
	Name   string   // the experiment's
	Chosen bool     // the profile is the one asked for

	files files
}

// Open parses a file beside the experiment that node n names; nil after reporting why
// it cannot.
func (x *Sheet) Open(n *toml.Node, what, name string) *toml.Node {
	return x.files.parse(x.Decoder, n, what, name)
}

func (r *reader) sheet(names Names) *Sheet {
	return &Sheet{
		Decoder: r.d, Root: r.root, Names: names, Axes: r.axisNames(), Name: r.doc.Name,
		Chosen: r.profile == r.options.Profile, files: r.files,
	}
}
