package data

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// realData returns the directory of the published files: $DGKIP_DATA, or shared/data in a parent
// directory. It skips the test if there is none.
func realData(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("DGKIP_DATA"); dir != "" {
		t.Logf("RUN: with the files in DGKIP_DATA=%s", dir)
		return dir
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		data := filepath.Join(dir, "shared", "data")
		if info, err := os.Stat(data); err == nil && info.IsDir() {
			t.Logf("RUN: with the files in %s", data)
			return data
		}
		if dir == filepath.Dir(dir) {
			t.Skip("SKIPPED: DGKIP_DATA is not set, and no parent directory has a folder shared/data")
		}
	}
}

// loadReal loads from dir alone.
func loadReal(t *testing.T, dir, name string, classes []int) *Set {
	t.Helper()
	s, err := Load(context.Background(), name, classes, Options{Dir: dir, CacheDir: filepath.Join(dir, "none"), Offline: true})
	if errors.Is(err, ErrMissing) {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !s.Verified || s.BuiltIn {
		t.Errorf("%s: verified %v, built in %v", name, s.Verified, s.BuiltIn)
	}
	return s
}

// near compares numbers that were published with four digits.
func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 0.6e-4 })
}

func TestRealSets(t *testing.T) {
	dir := realData(t)
	for _, c := range []struct {
		name        string
		classes     []int
		train, test []int
		mean, sd    []float64
		digest      string
	}{
		{"mnist", nil,
			[]int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}, []int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009},
			[]float64{0.1307}, []float64{0.3081}, "60bebe935addf591a3eb1a2043612390a97f4b2fcfd5daad9a4e4412c97e07eb"},
		{"mnist", []int{0, 1}, []int{5923, 6742}, []int{980, 1135}, nil, nil, "7120dfc9d6b00a5a5ade053c3d011e6422910ef7a7b9e232875f50e703ebc608"},
		{"mnist", []int{8, 3}, []int{5851, 6131}, []int{974, 1010}, nil, nil, "401421b0569f3a92556d372d1130e628e8ceedd624d8cf912cb5ac6a75d80bd0"},
		{"fashion-mnist", nil, slices.Repeat([]int{6000}, 10), slices.Repeat([]int{1000}, 10),
			[]float64{0.2860}, []float64{0.3530}, "adb0b022ece971be3e267cffc2413606ed2fa975e5afd44188bf7b1ffed69741"},
		{"fashion-mnist", []int{0, 1}, []int{6000, 6000}, []int{1000, 1000}, nil, nil, "5cdf0fd9721ca5db122337065ea7872fcdc69498bc318e21bd17e577d715f510"},
		{"cifar-10", []int{0, 1}, []int{5000, 5000}, []int{1000, 1000},
			[]float64{0.4984, 0.5074, 0.5181}, []float64{0.2607, 0.2591, 0.2796}, "0bc0ada37db325e0ea393a2d689ca1061935536b9e66cb9d8ba99ced8431b14a"},
	} {
		if !*slow && (c.classes == nil || c.classes[0] == 8) {
			continue
		}
		s := loadReal(t, dir, c.name, c.classes)
		if train, test := s.Train.counts(len(s.Classes)), s.Test.counts(len(s.Classes)); !slices.Equal(train, c.train) || !slices.Equal(test, c.test) {
			t.Errorf("%s %v: %v and %v images", c.name, c.classes, train, test)
		}
		if s.Digest != c.digest {
			t.Errorf("%s %v: digest %s", c.name, c.classes, s.Digest)
		}
		tr, err := Fit(context.Background(), "", s)
		if err != nil {
			t.Fatal(err)
		}
		if c.mean != nil && (!near(tr.Mean, c.mean) || !near(tr.SD, c.sd)) {
			t.Errorf("%s %v: mean %v, sd %v", c.name, c.classes, tr.Mean, tr.SD)
		}
	}
}
