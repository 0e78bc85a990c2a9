package method

// Place says for which run of which experiment a file is looked for.
type Place struct {
	Dir     string // of the experiment's file, from where paths count
	Dataset string // as the experiment calls it
	Model   string
	IPC     int
	Seed    uint64
}

// Locator is implemented by a method whose sets come from files, which its settings
// alone do not name.
type Locator interface {
	// Locate returns the method of one run. Its settings hold a digest of the run's
	// files in place of their paths, so that other files make another run. With data,
	// of which only the images are missing, it checks that the files fit.
	Locate(p Place, data *Data) (Method, error)
}
