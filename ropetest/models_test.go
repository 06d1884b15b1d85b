package ropetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/ropetest"
)

// The file of models has those with golden vectors, of each the same keys; -update writes them anew.
func TestModels(t *testing.T) {
	needGolden(t)
	var lines []string
	for name := range ropetest.Models() {
		var config bytes.Buffer
		testkit.NoError(t, json.Compact(&config, testkit.Must(os.ReadFile(filepath.Join(golden, "configs", name+".json")))))
		lines = append(lines, fmt.Sprintf("%q: %s", name, &config))
	}
	if len(lines) != 40 {
		t.Errorf("%d models, want the forty that the documentation says", len(lines))
	}
	want := "{\n" + strings.Join(lines, ",\n") + "\n}\n"
	if *testkit.Update {
		testkit.NoError(t, os.WriteFile("models.json", []byte(want), 0o666))
	} else if string(testkit.Must(os.ReadFile("models.json"))) != want {
		t.Error("models.json is not what testdata of modelconfig has: go test ./ropetest -run TestModels -update")
	}
	for range ropetest.Models() {
		break // a loop may end early
	}
}

// The forty have every kind of layer that those with golden vectors have.
func TestModelsHaveEverything(t *testing.T) {
	needGolden(t)
	has := map[string]bool{}
	for _, config := range ropetest.Models() {
		for _, feature := range features(testkit.Must(modelconfig.HuggingFace(config))) {
			has[feature] = true
		}
	}
	for _, file := range testkit.Must(filepath.Glob(filepath.Join(golden, "configs", "*.json"))) {
		for _, feature := range features(testkit.Must(modelconfig.HuggingFace(testkit.Must(os.ReadFile(file))))) {
			if !has[feature] {
				t.Errorf("no model like %s has %s", filepath.Base(file), feature)
			}
		}
	}
	if len(has) < 20 {
		t.Errorf("%d features, want more", len(has))
	}
}

// features are the model's traps, and of its layers rule, layout, part, axes and factor.
func features(model *modelconfig.Model) (list []string) {
	for _, trap := range model.Traps() {
		list = append(list, fmt.Sprint("the trap ", trap.Name))
	}
	beyond, _ := model.DependsOnLength()
	rope := testkit.Must(model.Rope(modelconfig.RopeOptions{SequenceLength: beyond}))
	for i, layer := range model.Layers() {
		if !layer.Rotates {
			list = append(list, "a layer that does not rotate")
			continue
		}
		cfg := rope.Rotary(i).Config()
		list = append(list, "rule "+layer.Rule.Name, fmt.Sprintf("%v of a part: %v, offset: %v, axes: %v, factor: %v",
			cfg.Layout, cfg.RotaryDim < cfg.HeadDim, cfg.Offset > 0, cfg.Axes != nil, cfg.AttentionFactor != 1))
	}
	return list
}
