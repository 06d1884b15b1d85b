package frequency_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

// vector is one of testdata/vectors.json, made by vectors.py there.
type vector struct {
	Rule       string
	Name       string
	Parameters ladderParameters
	Exact      vectorLadder
	Float32    vectorLadder
}

// vectorLadder holds hexadecimal floats.
type vectorLadder struct {
	InvFreq      string `json:"inv_freq"`
	Scaling      string
	SoftmaxScale string `json:"softmax_scale"`
}

// Every number has the bits that a 300-bit evaluation of the equation rounds
// to (Exact), or that the operations of the reference give (Float32).
func TestVectors(t *testing.T) {
	decoder := json.NewDecoder(bytes.NewReader(testkit.Must(os.ReadFile("testdata/vectors.json"))))
	decoder.DisallowUnknownFields()
	var vectors []vector
	testkit.NoError(t, decoder.Decode(&vectors))
	seen := map[string]bool{}
	for i, v := range vectors {
		seen[v.Rule] = true
		for rounding, want := range []vectorLadder{frequency.Exact: v.Exact, frequency.Float32: v.Float32} {
			t.Run(fmt.Sprintf("%s/%d %s/rounding=%d", v.Rule, i, v.Name, rounding), func(t *testing.T) {
				ladder, err := constructors[v.Rule](v.Parameters, frequency.Rounding(rounding))
				testkit.NoError(t, err)
				var bits []uint64
				for _, digits := range strings.Fields(want.InvFreq + " " + want.Scaling + " " + want.SoftmaxScale) {
					bits = append(bits, math.Float64bits(testkit.Must(strconv.ParseFloat(digits, 64))))
				}
				got := append(ladder.InvFreq, ladder.AttentionFactor, ladder.SoftmaxScale)
				if len(bits) != v.Parameters.Dim/2+2 || !slices.EqualFunc(got, bits, func(x float64, b uint64) bool { return math.Float64bits(x) == b }) {
					t.Errorf("frequencies and the two factors are %x, want %s, %s and %s", got, want.InvFreq, want.Scaling, want.SoftmaxScale)
				}
			})
		}
	}
	if rules := slices.Sorted(maps.Keys(constructors)); !slices.Equal(slices.Sorted(maps.Keys(seen)), rules) {
		t.Errorf("vectors of %v, want of %v", slices.Sorted(maps.Keys(seen)), rules)
	}
}
