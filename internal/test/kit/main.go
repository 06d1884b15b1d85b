package kit

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// Fuzzing reports whether this program was started with -fuzz: its code is then instrumented, and
// wrappers of kernels do more than call them.
func Fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// Main is for TestMain of a package with a folder testdata, which importers of the module do not
// get: there it tests nothing. With -fuzz and without -run, fuzzing begins at once: else all tests
// would run before it, instrumented.
func Main(m *testing.M) {
	namePackage()
	if _, err := os.Stat("testdata"); err != nil {
		fmt.Println("NOT TESTED: golden vectors are in the repository, not in the module's zip")
		os.Exit(0)
	}
	flag.Parse()
	if run := flag.Lookup("test.run"); Fuzzing() && run.Value.String() == "" {
		if err := run.Value.Set("^$"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
