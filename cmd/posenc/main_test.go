package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"posenc": main})
}

// TestScripts runs the command as a program. $MODELS are configurations of published models,
// $TESTDATA the folder testdata.
func TestScripts(t *testing.T) {
	models := testkit.Must(filepath.Abs("../../modelconfig/testdata/transformers/configs"))
	data := testkit.Must(filepath.Abs("testdata"))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *testkit.Update,
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
