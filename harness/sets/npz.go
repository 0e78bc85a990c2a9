package sets

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
)

// Encode returns arrays as an NPZ file, sorted by name. Equal arrays give equal bytes: the
// archive is not compressed and stores no times.
func Encode(arrays []Array) ([]byte, error) {
	var files []Array
	for _, a := range slices.SortedFunc(slices.Values(arrays), byName) {
		files = append(files, Array{Name: a.Name + ".npy", Data: npy(a)})
	}
	return archive(files)
}

// archive returns a zip archive of files.
func archive(files []Array) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		size := uint64(len(f.Data))
		w, err := z.CreateRaw(&zip.FileHeader{Name: f.Name, CRC32: crc32.ChecksumIEEE(f.Data), CompressedSize64: size, UncompressedSize64: size})
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// unzip reads an entry of a file of size bytes, which may not claim to have more bytes than limit.
func unzip(f *zip.File, size, limit int64) ([]byte, error) {
	claim := f.UncompressedSize64
	if claim > uint64(limit) {
		return nil, fmt.Errorf("%w: it claims %d bytes; a file of %d bytes may unpack to %d", ErrOversized, claim, size, limit)
	}
	r, err := f.Open()
	if err != nil { // the archive's directory is wrong
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	defer r.Close()
	b := bytes.NewBuffer(make([]byte, 0, min(claim, uint64(size))+bytes.MinRead)) // grows if the claim is true
	_, err = b.ReadFrom(io.LimitReader(r, limit))                                 // compares the checksum at the end
	return b.Bytes(), Damage(err)
}

// Digest returns the SHA-256 of the names and contents of arrays, except the one left out.
func Digest(arrays []Array, leftOut string) string {
	sum := sha256.New()
	for _, a := range slices.SortedFunc(slices.Values(arrays), byName) {
		if b := npy(a); a.Name != leftOut {
			fmt.Fprintf(sum, "%d %s %d\n%s", len(a.Name), a.Name, len(b), b)
		}
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil))
}

func byName(a, b Array) int { return strings.Compare(a.Name, b.Name) }
