module dgkip

go 1.25.0

require (
	github.com/BurntSushi/toml v1.6.0
	golang.org/x/sys v0.38.0
	gonum.org/v1/gonum v0.17.0
)
