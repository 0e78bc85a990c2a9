// Command dgkip runs the experiments in the folder experiments: go run . -h
package main

import (
	"embed"

	_ "dgkip/baselines/all"
	"dgkip/harness/cli"
)

// experiments are those that come with the program; files on disk come before them.
//
//go:embed experiments/*.toml
var experiments embed.FS

func main() { cli.Main(experiments) }
