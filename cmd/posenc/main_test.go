package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the outputs that scripts expect and docs/command.md shows")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"posenc": main})
}

// TestScripts runs the command as a program. $MODELS are configurations of published models,
// $TESTDATA the folder testdata.
func TestScripts(t *testing.T) {
	models, err := filepath.Abs("../../modelconfig/testdata/transformers/configs")
	if err != nil {
		t.Fatal(err)
	}
	data, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("MODELS", models)
			e.Setenv("TESTDATA", data)
			if tags := os.Getenv("POSENC_IMPL"); tags != "" {
				e.Setenv("POSENC_IMPL", tags)
			}
			return nil
		},
	})
}
