// Command dgkip runs the experiments in the folder experiments: go run . -h
package main

import (
	_ "dgkip/baselines/all"
	"dgkip/harness/cli"
)

func main() { cli.Main() }
