package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/internal/testkit"
)

// TestCheckNamesEngines: of heads that engines rotated, check names the engine.
func TestCheckNamesEngines(t *testing.T) {
	var vectors struct {
		Rotations []struct {
			Name, Layout string
			HeadDim      int `json:"head_dim"`
			Heads        int
			Base, Factor float64
			Divisors     []float64
			Positions    []int32
			After        []string
		}
	}
	testkit.ReadJSON("../../internal/ropecheck/testdata/engines.json", &vectors)
	named := 0
	for _, c := range vectors.Rotations {
		if c.Layout != "HalfSplit" || c.Divisors != nil {
			continue // no config.json has them
		}
		folder := t.TempDir()
		scaling := ""
		if c.Factor != 0 {
			scaling = fmt.Sprintf(`, "rope_scaling": {"rope_type": "yarn", "factor": %g, "original_max_position_embeddings": 8192}`, c.Factor)
		}
		config := filepath.Join(folder, "config.json")
		testkit.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `{"model_type": "llama", "hidden_size": 128, "num_attention_heads": %d, "num_hidden_layers": 1, "head_dim": %d, "max_position_embeddings": 131072, "rope_theta": %g%s}`, c.Heads, c.HeadDim, c.Base, scaling), 0o600))
		after := testkit.Hex[float32](c.After...)
		file, shape := filepath.Join(folder, "dump.npz"), []int{len(c.Positions), c.Heads, c.HeadDim}
		testkit.NoError(t, array.WriteFile(file, &array.File{Arrays: []array.Array{{Name: "q", Shape: shape, Values: testkit.GoldenInputs(0, len(after))}, {Name: "r", Shape: shape, Values: after}}}))
		result := testkit.Must(check(config, file+":q", file+":r", checkOptions{positions: fmt.Sprintf("%d-%d", c.Positions[0], c.Positions[len(c.Positions)-1])}))
		if !slices.Contains(result.Engines, c.Name) { // powers of float64 and float32 make the same frequencies here
			t.Errorf("%s: %s, engines %q\n%v", c.Name, result.Verdict, result.Engines, result.Report)
		}
		named++
	}
	if named < 7 {
		t.Errorf("%d cases", named)
	}
}
