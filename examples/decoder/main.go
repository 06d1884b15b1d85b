// Decoder recites a poem: a small Llama, trained with transformers, in plain Go.
//
//	go run -C examples/decoder .
//
// It loads the model's own config.json and model.safetensors, runs a prefill and then decode
// steps, once with a cache of float32 and once with a cache of 8-bit numbers, and prints what
// the model says, how far its logits are at most from those of transformers, and by how much 8 bits
// change the logits of transformers. posenc does all
// that concerns positions: model.go has the model, cache.go the caches, model/generate.py
// what was trained and how transformers computed its logits.
//
// Logits differ by roundings alone. With 8 bits a rounding counts for more where a number
// lies next to the middle of two codes.
//
// In the end it runs all tokens at once, as one prefill. That gives the same bits: those of
// posenc are defined, and every sum here has one order. It exits with 1 where they are not,
// or where a token is not that of transformers.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/nlpodyssey/safetensors"
)

// What transformers wrote.
var (
	//go:embed model/config.json
	configFile []byte
	//go:embed model/model.safetensors
	weightsFile []byte
	//go:embed model/golden.safetensors
	goldenFile []byte
)

// kinds are the caches, by their names in golden.safetensors.
var kinds = []struct {
	name string
	new  func(geometry) cache
}{
	{"float32", newFloatCache},
	{"q8_0", newQ8Cache},
}

// golden is what transformers computed with one kind of cache.
type golden struct {
	tokens     []int32 // the prompt, and what the model adds to it
	prompt     int     // tokens of the prompt
	logits     []float32
	difference float64 // what other roundings of keys and values do to its logits: model/generate.py
}

func readGolden(file []byte, kind string, vocabulary int) (g golden, err error) {
	t, err := safetensors.Deserialize(file)
	if err != nil {
		return g, err
	}
	_, header, err := safetensors.ReadMetadata(file)
	if err != nil {
		return g, err
	}
	if g.tokens, err = tensor[int32](t, safetensors.I32, kind+".tokens", -1); err != nil {
		return g, err
	}
	if g.logits, err = tensor[float32](t, safetensors.F32, kind+".logits", len(g.tokens)-1, vocabulary); err != nil {
		return g, err
	}
	if g.prompt, err = strconv.Atoi(header.Metadata()["prompt"]); err != nil {
		return g, err
	}
	g.difference, err = strconv.ParseFloat(header.Metadata()[kind+".difference"], 64)
	return g, err
}

// decode runs a prompt, then steps, each with the likeliest token so far. It returns
// all tokens, and the logits of all but the last.
func (m *model) decode(prompt []int32, steps int, c cache) (tokens []int32, logits []float32, err error) {
	tokens = slices.Clone(prompt)
	for done := 0; len(tokens) < len(prompt)+steps; {
		next, err := m.forward(tokens[done:], done, c)
		if err != nil {
			return nil, nil, err
		}
		logits = append(logits, next...)
		done = len(tokens)
		last := next[len(next)-m.Vocabulary:]
		tokens = append(tokens, int32(slices.Index(last, slices.Max(last))))
	}
	return tokens, logits, nil
}

// difference returns the greatest difference of two logits.
func difference(a, b []float32) (d float64) {
	for i := range a {
		d = max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}

// text returns what tokens stand for, which are bytes, each line after an indent.
func text(tokens []int32) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte(byte(token))
	}
	return "    " + strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", "\n    ") + "\n"
}

func run(w io.Writer) error {
	m, err := loadModel(configFile, weightsFile)
	if err != nil {
		return err
	}
	exact, err := readGolden(goldenFile, "float32", m.Vocabulary)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "A Llama of %d layers, with %d query heads and %d key heads of %d; posenc on %s.\n",
		m.Layers, m.QueryHeads, m.KeyHeads, m.HeadDim, posenc.Implementation())
	for _, kind := range kinds {
		want, err := readGolden(goldenFile, kind.name, m.Vocabulary)
		if err != nil {
			return err
		}
		prompt := want.tokens[:want.prompt]
		geometry := m.geometry(len(want.tokens))
		stepwise := kind.new(geometry)
		tokens, logits, err := m.decode(prompt, len(want.tokens)-len(prompt), stepwise)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\nA cache of %s, %d bytes for a token and layer: a prompt of %d tokens, and %d steps.\n\n%s\n%s\n",
			kind.name, stepwise.bytesPerToken(), len(prompt), len(tokens)-len(prompt), text(prompt), text(tokens[len(prompt):]))
		if !slices.Equal(tokens, want.tokens) {
			return fmt.Errorf("cache of %s: transformers has other tokens:\n%s", kind.name, text(want.tokens))
		}
		fmt.Fprintf(w, "The logits are those of transformers with such a cache, within %.1e.\n", difference(logits, want.logits))
		if kind.name != "float32" {
			fmt.Fprintf(w, "This cache itself changes the logits by up to %.1e.\n", difference(want.logits, exact.logits))
		}

		atOnce, err := m.forward(tokens[:len(tokens)-1], 0, kind.new(geometry))
		if err != nil {
			return err
		}
		for i := range logits {
			if math.Float32bits(logits[i]) != math.Float32bits(atOnce[i]) {
				return fmt.Errorf("cache of %s, token %d: decode steps and a prefill of all tokens give other bits: %v and %v", kind.name, i/m.Vocabulary, logits[i], atOnce[i])
			}
		}
		fmt.Fprintf(w, "A prefill of all tokens at once: the same bits.\n")
	}
	return nil
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("decoder: ")
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}
