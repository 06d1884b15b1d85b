// Command decoder runs a decoder-only transformer of Llama 3's shapes, with
// random weights, in plain Go: a prefill, then decode steps through a cache of
// keys and values in bfloat16. posenc does all that concerns positions.
//
//	go run -C examples/decoder . [-shrink 4] [-layers 2] [-prompt 48] [-steps 16]
//
// It then prefills the whole sequence at once. That gives the same bits: those
// of posenc are defined, and every sum here has one order. It exits with 1 where
// they are not.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
)

// shape is the shape of a model.
type shape struct{ layers, width, queryHeads, keyHeads, headDim, hidden, vocabulary int }

// llama3 returns the shape of Llama 3 8B, narrower by a factor of 1, 2, 4 or 8.
func llama3(shrink, layers int) shape {
	return shape{layers, 4096 / shrink, 32 / shrink, 8 / shrink, 128, 14336 / shrink, 128256 / shrink}
}

// layer has the weights of a layer, matrices as rows of [outputs][inputs].
type layer struct{ query, key, value, output, gate, up, down []float32 }

type model struct {
	shape
	rotary     *posenc.Rotary
	embeddings []float32 // [vocabulary][width], also the matrix of the scores of tokens
	weights    []layer
}

func newModel(s shape) (*model, error) {
	// Half-split pairs, as Llama's weights on Hugging Face have them.
	rotary, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: s.headDim, Base: 500000})
	if err != nil {
		return nil, err
	}
	random := uint64(1)
	matrix := func(outputs, inputs int) []float32 { // Knuth's MMIX generator
		x := make([]float32, outputs*inputs)
		bound := float32(math.Sqrt(3 / float64(inputs))) // products keep the variance
		for i := range x {
			random = random*6364136223846793005 + 1442695040888963407
			x[i] = float32(int32(random>>32)) * 0x1p-31 * bound
		}
		return x
	}
	m := &model{shape: s, rotary: rotary, embeddings: matrix(s.vocabulary, s.width)}
	for range s.layers {
		m.weights = append(m.weights, layer{
			query: matrix(s.queryHeads*s.headDim, s.width), key: matrix(s.keyHeads*s.headDim, s.width),
			value: matrix(s.keyHeads*s.headDim, s.width), output: matrix(s.width, s.queryHeads*s.headDim),
			gate: matrix(s.hidden, s.width), up: matrix(s.hidden, s.width), down: matrix(s.width, s.hidden),
		})
	}
	return m, nil
}

// cache holds the rotated keys and the values of each layer, [keyHeads][capacity]
// [headDim]: what one head attends to is contiguous.
type cache struct {
	length, capacity int
	keys, values     [][]posenc.BFloat16
}

func (m *model) newCache(capacity int) *cache {
	c := &cache{capacity: capacity}
	for range m.weights {
		c.keys = append(c.keys, make([]posenc.BFloat16, m.keyHeads*capacity*m.headDim))
		c.values = append(c.values, make([]posenc.BFloat16, m.keyHeads*capacity*m.headDim))
	}
	return c
}

// forward runs tokens at their positions, puts them into the cache and returns
// their last hidden states, [tokens][width].
func (m *model) forward(tokens []int, positions []int32, c *cache) ([]float32, error) {
	// One cos/sin cache for all layers: they rotate alike.
	rows, err := m.rotary.Rows(positions)
	if err != nil {
		return nil, err
	}
	slots := make([]int32, len(tokens))
	x := make([]float32, 0, len(tokens)*m.width)
	for t, token := range tokens {
		slots[t] = int32(c.length + t)
		x = append(x, m.embeddings[token*m.width:][:m.width]...)
	}
	for l, w := range m.weights {
		normed := normalize(x, m.width)
		q, k, v := multiply(w.query, normed, m.width), multiply(w.key, normed, m.width), multiply(w.value, normed, m.width)
		if err := posenc.Rotate(rows.All(), posenc.View[float32]{Data: q, Heads: m.queryHeads}); err != nil {
			return nil, err
		}
		// Keys are rotated on their way into the cache, and rounded once.
		cached := posenc.View[posenc.BFloat16]{Data: c.keys[l], Heads: m.keyHeads, TokenStride: m.headDim, HeadStride: c.capacity * m.headDim}
		if err := posenc.RotateInto(rows.All(), cached, slots, posenc.View[float32]{Data: k, Heads: m.keyHeads}); err != nil {
			return nil, err
		}
		for t := range tokens {
			for h := range m.keyHeads {
				to := c.values[l][(h*c.capacity+c.length+t)*m.headDim:][:m.headDim]
				for i, value := range v[(t*m.keyHeads+h)*m.headDim:][:m.headDim] {
					to[i] = posenc.BFloat16(generic.Float32ToBFloat16(value))
				}
			}
		}
		for t := range tokens {
			for h := range m.queryHeads {
				head := q[(t*m.queryHeads+h)*m.headDim:][:m.headDim]
				first := h * m.keyHeads / m.queryHeads * c.capacity * m.headDim // heads of queries share heads of keys
				upTo := (c.length + t + 1) * m.headDim                          // causal
				attend(head, c.keys[l][first:][:upTo], c.values[l][first:][:upTo])
			}
		}
		add(x, multiply(w.output, q, m.queryHeads*m.headDim))

		normed = normalize(x, m.width)
		gate, up := multiply(w.gate, normed, m.width), multiply(w.up, normed, m.width)
		for i, g := range gate {
			gate[i] = g / (1 + float32(math.Exp(-float64(g)))) * up[i]
		}
		add(x, multiply(w.down, gate, m.hidden))
	}
	c.length += len(tokens)
	return normalize(x, m.width), nil
}

// attend replaces a query by the values of the keys, weighed by the softmax of
// its scores.
func attend(query []float32, keys, values []posenc.BFloat16) {
	dim := len(query)
	scores := make([]float32, len(keys)/dim)
	highest := float32(math.Inf(-1))
	for t := range scores {
		for i, k := range keys[t*dim:][:dim] {
			scores[t] += query[i] * toFloat32(k)
		}
		scores[t] /= float32(math.Sqrt(float64(dim)))
		highest = max(highest, scores[t])
	}
	clear(query)
	sum := float32(0)
	for t, score := range scores {
		weight := float32(math.Exp(float64(score - highest)))
		sum += weight
		for i, v := range values[t*dim:][:dim] {
			query[i] += weight * toFloat32(v)
		}
	}
	for i := range query {
		query[i] /= sum
	}
}

// multiply returns the product of a matrix with each row of x.
func multiply(matrix, x []float32, inputs int) []float32 {
	y := make([]float32, 0, len(x)/inputs*(len(matrix)/inputs))
	for row := range slices.Chunk(x, inputs) {
		for weights := range slices.Chunk(matrix, inputs) {
			var sums [4]float32
			for i := 0; i < inputs; i += 4 {
				for j := range sums {
					sums[j] += weights[i+j] * row[i+j]
				}
			}
			y = append(y, sums[0]+sums[1]+(sums[2]+sums[3]))
		}
	}
	return y
}

// normalize returns the rows of x by their root mean square.
func normalize(x []float32, width int) []float32 {
	y := slices.Clone(x)
	for row := range slices.Chunk(y, width) {
		squares := 0.0
		for _, v := range row {
			squares += float64(v) * float64(v)
		}
		scale := float32(1 / math.Sqrt(squares/float64(width)+1e-5))
		for i := range row {
			row[i] *= scale
		}
	}
	return y
}

func add(x, y []float32) {
	for i := range x {
		x[i] += y[i]
	}
}

func toFloat32(x posenc.BFloat16) float32 { return math.Float32frombits(uint32(x) << 16) }

// likeliest returns the token with the highest score.
func (m *model) likeliest(hidden []float32) int {
	scores := multiply(m.embeddings, hidden, m.width)
	return slices.Index(scores, slices.Max(scores))
}

func run(w io.Writer, s shape, prompt, steps int) error {
	m, err := newModel(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d layers of %d, %d query and %d key heads of %d, cache of bfloat16, posenc on %s\n",
		s.layers, s.width, s.queryHeads, s.keyHeads, s.headDim, posenc.Implementation())
	total := prompt + steps
	tokens, positions := make([]int, prompt), make([]int32, total)
	for t := range tokens {
		tokens[t] = (7919 * t) % s.vocabulary
	}
	for t := range positions {
		positions[t] = int32(t)
	}

	stepwise := m.newCache(total)
	states, err := m.forward(tokens, positions[:prompt], stepwise)
	if err != nil {
		return err
	}
	for t := prompt; t < total; t++ {
		tokens = append(tokens, m.likeliest(states[len(states)-m.width:]))
		state, err := m.forward(tokens[t:], positions[t:t+1], stepwise)
		if err != nil {
			return err
		}
		states = append(states, state...)
	}
	fmt.Fprintf(w, "prefill of %d tokens, then %d steps: %d\n", prompt, steps, tokens[prompt:])

	atOnce := m.newCache(total)
	want, err := m.forward(tokens, positions, atOnce)
	if err != nil {
		return err
	}
	for l := range m.weights {
		if !slices.Equal(stepwise.keys[l], atOnce.keys[l]) || !slices.Equal(stepwise.values[l], atOnce.values[l]) {
			return fmt.Errorf("layer %d: the steps and a prefill of all tokens differ in the cache", l)
		}
	}
	for i := range states {
		if math.Float32bits(states[i]) != math.Float32bits(want[i]) {
			return fmt.Errorf("token %d: the steps and a prefill of all tokens differ: %v and %v", i/m.width, states[i], want[i])
		}
	}
	fmt.Fprintf(w, "prefill of all %d tokens: the same bits, in %d hidden states and %d cached keys and values of each layer\n",
		total, len(states), 2*len(atOnce.keys[0]))
	return nil
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("decoder: ")
	shrink := flag.Int("shrink", 4, "divide the width of Llama 3 8B by 1, 2, 4 or 8")
	layers := flag.Int("layers", 2, "layers, 32 in Llama 3 8B; with -shrink 1 their weights take 30 GB")
	prompt := flag.Int("prompt", 48, "tokens of the prefill")
	steps := flag.Int("steps", 16, "tokens decoded after it")
	flag.Parse()
	if !slices.Contains([]int{1, 2, 4, 8}, *shrink) || *layers < 1 || *layers > 32 || *prompt < 1 || *prompt > 8192 || *steps < 1 || *steps > 8192 {
		log.Fatal("expected -shrink of 1, 2, 4 or 8, -layers from 1 to 32, -prompt and -steps from 1 to 8192")
	}
	if err := run(os.Stdout, llama3(*shrink, *layers), *prompt, *steps); err != nil {
		log.Fatal(err)
	}
}
