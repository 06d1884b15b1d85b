package ropetest_test

import (
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/ropetest"
)

// printer stands for the *testing.T of an engine's test.
type printer struct{ testing.TB }

func (printer) Helper()        {}
func (printer) Error(a ...any) { fmt.Println(a...) }

// An engine reads rope_theta and not rope_scaling.
func Example() {
	model, err := modelconfig.HuggingFace([]byte(`{"model_type": "llama", "head_dim": 64, "num_hidden_layers": 16,
		"max_position_embeddings": 131072, "rope_theta": 500000, "rope_scaling": {"rope_type": "llama3", "factor": 32,
		"low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192}}`))
	if err != nil {
		log.Fatal(err)
	}
	rotate := func(head []float32, position int32) { // the engine's function
		for i := range 32 {
			sin, cos := math.Sincos(float64(position) * math.Pow(500000, -float64(i)/32))
			x, y := float64(head[i]), float64(head[i+32])
			head[i], head[i+32] = float32(x*cos-y*sin), float32(y*cos+x*sin)
		}
	}
	var t printer // in a test: t *testing.T
	ropetest.Check(t, model, func(_ int, positions []int32, heads []float32) {
		for at := 0; at < len(heads); at += 64 {
			rotate(heads[at:][:64], positions[at*len(positions)/len(heads)])
		}
	})
	// Output:
	// layers 0 to 15: candidate "llama": The frequencies are those of "llama without its rule llama3".
}

// Models whose last layer does not rotate: an engine's test checks all that the engine supports.
func ExampleModels() {
	for name, config := range ropetest.Models() {
		model, err := modelconfig.HuggingFace(config)
		if err != nil {
			log.Fatal(err)
		}
		if layers := model.Layers(); !layers[len(layers)-1].Rotates {
			fmt.Println(name, model.Type(), len(layers))
		}
	}
	// Output:
	// EXAONE-4.0-32B exaone4 64
	// Llama-4-Scout-17B-16E-Instruct llama4_text 48
	// SmolLM3-3B smollm3 36
	// c4ai-command-r7b-12-2024 cohere2 32
}
