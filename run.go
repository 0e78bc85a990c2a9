// Command dgkip runs the experiments in the folder experiments: go run . -h
package main

import (
	"embed"

	_ "dgkip/baselines/all"
	"dgkip/harness/cli"
)

// experiments are the experiments that come with the program. Files on disk take precedence.
//
//go:embed experiments/*.toml
var experiments embed.FS

func main() { cli.Main(experiments) }
