//go:build noasm || !(amd64 || arm64)

package kernel

func native() []*Path { return nil }
