package ropecheck

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
)

// engineVectors is testdata/engines.json.
type engineVectors struct {
	Functions []struct {
		Name, Version string
		Blocks        []string
		Cos, Sin      string
	}
	Rotations []struct {
		Name, Layout string
		HeadDim      int `json:"head_dim"`
		Heads        int
		Base         float64
		Factor       float64   // of YaRN, from 8192 positions; 0: none
		Divisors     []float64 // of frequencies; nil: none
		Positions    []int32
		After        []string
	}
	Powers []struct {
		Base   float32
		Powers string
	}
}

func readEngines() (v engineVectors) {
	kit.ReadJSON("testdata/engines.json", &v)
	return v
}

// TestEngineFunctions compares cosines and sines with those that engines computed: 10^7, without
// POSENC_ROUNDS=all a million.
func TestEngineFunctions(t *testing.T) {
	functions := map[string]func(float32) (cos, sin float32){
		"glibc": glibcCosSin, "numpy": numpyCosSin, "MLX": mlxCosSin, "candle": glibcCosSin, "tinygrad": tinygradCosSin,
	}
	const million = 1_000_000
	for _, f := range readEngines().Functions {
		cosSin := functions[f.Name]
		angle := func(i int) float32 {
			return float32(math.Ldexp(float64(uint64(i)*2654435761&0xffffff), i%24-27))
		}
		wantCos, wantSin := kit.Hex[float32](f.Cos), kit.Hex[float32](f.Sin)
		for i := range wantCos {
			if cos, sin := cosSin(angle(i)); cos != wantCos[i] || sin != wantSin[i] {
				t.Fatalf("%s %s: cosine and sine of %v are %v and %v, want %v and %v", f.Name, f.Version, angle(i), cos, sin, wantCos[i], wantSin[i])
			}
		}
		if !kit.AllRounds() {
			f.Blocks = f.Blocks[:1]
		}
		for block, want := range f.Blocks {
			bytes := make([]byte, 8*million)
			for i := range million {
				cos, sin := cosSin(angle(block*million + i))
				binary.LittleEndian.PutUint32(bytes[4*i:], math.Float32bits(cos))
				binary.LittleEndian.PutUint32(bytes[4*(million+i):], math.Float32bits(sin))
			}
			if sum := sha256.Sum256(bytes); hex.EncodeToString(sum[:]) != want {
				t.Errorf("%s %s: bits of million %d differ", f.Name, f.Version, block)
			}
		}
		if len(wantCos) == 0 || len(f.Blocks) == 0 || cosSin == nil {
			t.Fatalf("%s: nothing to compare", f.Name)
		}
	}
}

// TestPowers compares powers with those of PyTorch, 32768 of each base.
func TestPowers(t *testing.T) {
	vectors := readEngines().Powers
	for _, p := range vectors {
		var bytes []byte
		for i := range 32768 {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(sleefPow(p.Base, float32(i)/32768)))
		}
		if sum := sha256.Sum256(bytes); hex.EncodeToString(sum[:]) != p.Powers {
			t.Errorf("powers of %v differ", p.Base)
		}
	}
	if len(vectors) < 10 {
		t.Errorf("%d bases", len(vectors))
	}
}

// TestEngines names the engines that rotated heads, and none where other functions did.
func TestEngines(t *testing.T) {
	for _, c := range readEngines().Rotations {
		layout := posenc.HalfSplit
		if c.Layout == "Interleaved" {
			layout = posenc.Interleaved
		}
		ladder, rule := kit.Must(frequency.Default(c.HeadDim, c.Base, frequency.Exact)), modelconfig.Rule{Name: "default", Base: c.Base}
		if c.Factor != 0 {
			p := frequency.YaRNParameters{Factor: c.Factor, OriginalMaxPositions: 8192}
			ladder, rule = kit.Must(frequency.YaRN(c.HeadDim, c.Base, p, frequency.Exact)), modelconfig.Rule{Name: "yarn", Base: c.Base, Parameters: p}
		}
		if c.Divisors != nil {
			ladder = kit.Must(frequency.Factors(c.HeadDim, c.Base, c.Divisors, frequency.Exact))
			rule = modelconfig.Rule{Name: "factors", Base: c.Base, Parameters: c.Divisors}
		}
		config := posenc.RotaryConfig{HeadDim: c.HeadDim, Layout: layout, InvFreq: ladder.InvFreq, AttentionFactor: ladder.AttentionFactor}
		r := Rotation{Exact: config, Float32: config, Rule: rule}
		data := Data{Tokens: len(c.Positions), Heads: c.Heads, HeadDim: c.HeadDim, Positions: c.Positions, After: kit.Hex[float32](c.After...)}
		data.Before = kit.GoldenInputs(0, len(data.After))
		if got := Engines(data, r); !slices.Equal(got, []string{c.Name}) {
			t.Errorf("%s, %s: named %q", c.Name, c.Layout, got)
		}
		data.After[120] = math.Nextafter32(data.After[120], 8)
		if got := Engines(data, r); got != nil {
			t.Errorf("%s, %s, with another bit: named %q", c.Name, c.Layout, got)
		}
		// posenc rounds correctly: no engine has its bits.
		data.After = slices.Clone(data.Before)
		kit.NoError(t, posenc.Rotate(kit.Must(posenc.NewRotary(config)).AtAxes(c.Positions), posenc.View[float32]{Data: data.After, Heads: c.Heads}))
		if got := Engines(data, r); got != nil {
			t.Errorf("of posenc: named %q", got)
		}
	}
}

// TestInexactEngine: tinygrad's cosines are sines of another angle of float32, so that lengths of pairs change
// far from position 0. That is the same rotation.
func TestInexactEngine(t *testing.T) {
	const dim, heads, tokens = 64, 4, 8
	exact := kit.Must(frequency.Default(dim, 1e4, frequency.Exact))
	config := posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, InvFreq: exact.InvFreq}
	r := Rotation{Name: "model", Exact: config, Float32: config, Rule: modelconfig.Rule{Name: "default", Base: 1e4}}
	for _, first := range []int32{0, 1000, 10000, 60001, 100000} {
		data := Data{Tokens: tokens, Heads: heads, HeadDim: dim, Before: kit.GoldenInputs(0, tokens*heads*dim)}
		data.After = make([]float32, len(data.Before))
		write, _ := tinygradAngles(ladderOf(&config, r.Rule))
		angles := make([]float32, dim/2)
		for at := range tokens * heads {
			if at%heads == 0 {
				data.Positions = append(data.Positions, first+int32(at/heads))
				write(angles, float32(first+int32(at/heads)))
			}
			x, y := data.Before[at*dim:][:dim], data.After[at*dim:][:dim]
			for i, angle := range angles {
				c, s := tinygradCosSin(angle)
				y[i], y[i+dim/2] = float32(x[i]*c)-float32(x[i+dim/2]*s), float32(x[i+dim/2]*c)+float32(x[i]*s)
			}
		}
		report, _, err := CheckModel(data, r)
		kit.NoError(t, err)
		if c := report.Candidates[0]; c.Verdict != Agrees || len(c.Faults) > 0 {
			t.Errorf("from position %d: %s: %s", first, c.Verdict, c.Text)
		}
	}
}
