package testkit

import (
	"flag"
	"os"
	"testing"
)

// Fuzzing reports whether this program was started with -fuzz: its code is then instrumented, and
// wrappers of kernels do more than call them.
func Fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// FuzzAtOnce is for TestMain of a package with fuzz targets. With -fuzz and without -run, fuzzing
// begins at once: else all tests would run before it, instrumented.
func FuzzAtOnce(m *testing.M) {
	flag.Parse()
	if run := flag.Lookup("test.run"); Fuzzing() && run.Value.String() == "" {
		if err := run.Value.Set("^$"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
