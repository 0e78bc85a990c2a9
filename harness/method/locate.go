package method

// Place identifies the run for which a file is located.
type Place struct {
	Dir     string // folder of the experiment's file, the base of relative paths
	Dataset string // name in the experiment
	Model   string
	IPC     int
	Seed    uint64
}

// Locator is implemented by a method that reads its sets from files, whose names depend on the run.
type Locator interface {
	// Locate returns the method of one run. Its settings hold a digest of the run's files
	// instead of their paths, so that other files give another run. If data is given,
	// Locate also returns an error if the files do not fit; data may lack the images.
	Locate(p Place, data *Data) (Method, error)
}
