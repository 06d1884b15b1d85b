package main

import (
	"math"
	"strings"
	"testing"
)

var small = shape{layers: 2, width: 64, queryHeads: 4, keyHeads: 2, headDim: 16, hidden: 96, vocabulary: 101}

func TestRun(t *testing.T) {
	for _, s := range []shape{small, llama3(8, 1)} {
		var out strings.Builder
		if err := run(&out, s, 9, 5); err != nil {
			t.Fatal(err)
		}
		if want := "prefill of all 14 tokens: the same bits"; !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// hidden returns the last hidden states of ten tokens at the positions first,
// first+step, ...
func hidden(t *testing.T, first, step int32) []float32 {
	t.Helper()
	m, err := newModel(small)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []int
	var positions []int32
	for i := range 10 {
		tokens = append(tokens, 7*i)
		positions = append(positions, first+step*int32(i))
	}
	states, err := m.forward(tokens, positions, m.newCache(len(tokens)))
	if err != nil {
		t.Fatal(err)
	}
	return states
}

// Only the differences of positions count: others move the states by no more than
// the rounding of rotated keys to bfloat16 does, other differences by much more.
func TestPositionsAreRelative(t *testing.T) {
	distance := func(a, b []float32) (d float64) {
		for i := range a {
			d = max(d, math.Abs(float64(a[i])-float64(b[i])))
		}
		return d
	}
	states := hidden(t, 0, 1)
	moved, stretched, none := distance(states, hidden(t, 1000000, 1)), distance(states, hidden(t, 0, 3)), distance(states, hidden(t, 0, 0))
	// States are of order 1, and a key is rounded by up to 2^-8 of itself.
	if moved > 0x1p-5 {
		t.Errorf("positions from 1000000 on change the states by %v", moved)
	}
	if stretched < 8*moved || none < 8*moved {
		t.Errorf("other distances change the states by %v and %v, moving them by %v", stretched, none, moved)
	}
}

// The first layer's keys are the products, turned by position*500000^(-2i/16).
func TestCachedKeys(t *testing.T) {
	m, err := newModel(small)
	if err != nil {
		t.Fatal(err)
	}
	tokens, positions := []int{5, 50, 100}, []int32{0, 7, 123456}
	c := m.newCache(4)
	if _, err := m.forward(tokens, positions, c); err != nil {
		t.Fatal(err)
	}
	half := m.headDim / 2
	for i, token := range tokens {
		k := multiply(m.weights[0].key, normalize(m.embeddings[token*m.width:][:m.width], m.width), m.width)
		for h := range m.keyHeads {
			row, cached := k[h*m.headDim:][:m.headDim], c.keys[0][(h*c.capacity+i)*m.headDim:][:m.headDim]
			for pair := range half {
				sin, cos := math.Sincos(float64(positions[i]) * math.Pow(500000, -float64(pair)/float64(half)))
				x1, x2 := float64(row[pair]), float64(row[pair+half])
				for element, want := range map[int]float64{pair: x1*cos - x2*sin, pair + half: x2*cos + x1*sin} {
					// Half a unit of bfloat16, and float32 roundings of the products.
					tolerance := 0x1.01p-8*math.Abs(want) + 0x1p-22*(math.Abs(x1)+math.Abs(x2))
					if got := float64(toFloat32(cached[element])); math.Abs(got-want) > tolerance {
						t.Errorf("token %d, head %d, element %d: %v, expected %v", i, h, element, got, want)
					}
				}
			}
		}
	}
}
