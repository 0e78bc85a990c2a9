module dgkip

go 1.25.0

require golang.org/x/sys v0.38.0

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/rogpeppe/go-internal v1.14.1 // indirect
)
