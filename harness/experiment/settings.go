package experiment

import "dgkip/harness/toml"

// Part is a part of a cell's identity: method, networks or scoring.
type Part struct {
	Kind, Name string
	Settings   []Setting
}

// Setting is a setting of a part, and the place where a file sets it, or "" for a default.
type Setting struct {
	Name  string
	Value any
	From  string
}

// Parts returns all settings of a cell in the order of their declarations.
func (c *Cell) Parts() []Part {
	part := func(kind, name string, of any, written *toml.Node) Part {
		p := Part{Kind: kind, Name: name}
		for _, s := range toml.Declarations(of) {
			p.Settings = append(p.Settings, Setting{s.Name, s.Value, written.Get(s.Name).Place()})
		}
		return p
	}
	protocol := c.Protocol.Info().Name
	return []Part{
		part("method", c.method.Info().Name, c.method, c.written[0]),
		part("model", c.Net.Kind, c.Net, c.written[1]),
		part("eval", protocol, c.Protocol, c.written[2].Get(protocol)),
	}
}
