package ropecheck_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
)

func bf16(x float32) float32 { return kit.Widen(kit.Narrow[posenc.BFloat16](x)) }

func f16(x float32) float32 { return kit.Widen(kit.Narrow[posenc.Float16](x)) }

// rounds is a rounding to a type in float64.
func rounds(to func(float32) float32) func(x float64) float64 {
	return func(x float64) float64 { return float64(to(float32(x))) }
}

// plainModel has heads of 64 and base 1e6, without a rule.
var plainModel = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 1e6}

// checkArithmetic checks what a port of a model makes in an arithmetic of arithmetics, changed, of positions
// [axes][tokens] against candidates.
func checkArithmetic(model posenc.RotaryConfig, kind ropecheck.ElementType, name string, positions [][]int32, change func(e *port), candidates ...ropecheck.Candidate) *ropecheck.Report {
	l := layer{headDim: model.HeadDim, dim: model.HeadDim, layout: model.Layout, base: model.Base, axes: model.Axes, heads: 6, factor: 1, invFreq: model.InvFreq}
	if l.invFreq == nil {
		l.invFreq = powers(l.dim, l.base)
	}
	l.image = [2]int{4, 5} // positions are given
	hows := arithmetics()
	e := newPort(l, kind, hows[slices.IndexFunc(hows, func(a arithmetic) bool { return a.name == name })])
	e.positions = positions
	change(e)
	return kit.Must(ropecheck.Check(e.data(3), candidates...))
}

// roundedPositions give tokens the rotation of other tokens: they are no rounding of a right rotation.
var roundedPositions = []ropecheck.Angles{ropecheck.BFloat16Pos, ropecheck.Float16Pos, ropecheck.BFloat16Angles, ropecheck.Float16Angles}

// TestArithmetic computes the right rotation as engines do: it is recognized, and so is
// the way of rounding.
func TestArithmetic(t *testing.T) {
	position := func(round func(float32) float32) func(e *port) {
		return func(e *port) {
			e.position = func(axis, t, _ int) float64 { return float64(round(float32(e.positions[axis][t]))) }
		}
	}
	frequencies := func(round func(float32) float32) func(e *port) {
		return func(e *port) {
			for i, w := range e.invFreq {
				e.invFreq[i] = rounds(round)(w)
			}
		}
	}
	tables := func(round func(float32) float32) func(e *port) {
		return func(e *port) { e.arithmetic.table = rounds(round) }
	}
	of := func(changes ...func(e *port)) func(e *port) {
		return func(e *port) {
			for _, change := range changes {
				change(e)
			}
		}
	}
	angles := func(e *port) {
		angle := e.arithmetic.angle
		e.arithmetic.angle = func(p float64, i int, w []float64, e *port) float64 { return rounds(bf16)(angle(p, i, w, e)) }
	}
	fusedSine := func(e *port) {
		e.arithmetic.sum = func(a, x, b, y float64) float64 { return r32(math.FMA(b, y, r32(a*x))) }
	}
	for _, tt := range []struct {
		name     string
		kind     ropecheck.ElementType
		how      string
		change   func(e *port)
		angles   []ropecheck.Angles
		tables   ropecheck.Tables
		products ropecheck.Products
		fault    bool
	}{
		{"float32 angles", 0, "float32", of(), []ropecheck.Angles{ropecheck.Float32Angles}, "float32", "separate", false},
		{"exact angles", 0, "exact angles", of(), []ropecheck.Angles{ropecheck.ExactAngles}, "float32", "separate", false},
		{"running products", 0, "running products", of(), []ropecheck.Angles{ropecheck.RunningAngles}, "float32", "fused first", false},
		{"tables in bfloat16", 0, "float32", tables(bf16), []ropecheck.Angles{ropecheck.Float32Angles}, "bfloat16", "separate", true},
		{"tables in float16", 0, "float32", tables(f16), []ropecheck.Angles{ropecheck.Float32Angles}, "float16", "separate", true},
		{"positions in bfloat16", 0, "float32", position(bf16), []ropecheck.Angles{ropecheck.BFloat16Pos}, "float32", "separate", true},
		{"positions in float16", 0, "float32", position(f16), []ropecheck.Angles{ropecheck.Float16Pos}, "float32", "separate", true},
		{"frequencies in bfloat16", 0, "float32", frequencies(bf16), []ropecheck.Angles{ropecheck.BFloat16InvFreq}, "float32", "separate", true},
		{"frequencies in float16", 0, "float32", frequencies(f16), []ropecheck.Angles{ropecheck.Float16InvFreq}, "float32", "separate", true},
		{"angles in bfloat16", 0, "float32", of(position(bf16), frequencies(bf16), angles), []ropecheck.Angles{ropecheck.BFloat16Angles}, "float32", "separate", true},
		{"fused with the sine", 0, "float32", fusedSine, []ropecheck.Angles{ropecheck.Float32Angles}, "float32", "fused second", false},
		{"bfloat16, tables in float32", ropecheck.BFloat16, "float32", of(), nil, "float32", "separate", false},
		{"bfloat16, all rounded", ropecheck.BFloat16, "all in bfloat16", of(), nil, "bfloat16", "rounded", false},
		{"float16, all rounded", ropecheck.Float16, "all in float16", of(), nil, "float16", "rounded", false},
		{"bfloat16 with positions in bfloat16", ropecheck.BFloat16, "all in bfloat16", position(bf16), []ropecheck.Angles{ropecheck.BFloat16Pos}, "bfloat16", "rounded", true},
	} {
		for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
			t.Run(fmt.Sprint(tt.name, "/", layout), func(t *testing.T) {
				positions := append(positionsOf(16), 2049, 2051, 5003, 60001, 60001)
				model := plainModel
				model.Layout = layout
				r := checkArithmetic(model, tt.kind, tt.how, [][]int32{positions}, tt.change, ropecheck.Candidate{Name: "model", Config: model})
				c := r.Candidates[0]
				verdict, aspect := ropecheck.Agrees, ropecheck.RoundingAspect
				if len(tt.angles) > 0 && slices.Contains(roundedPositions, tt.angles[0]) {
					verdict, aspect = ropecheck.Differs, ropecheck.PositionsAspect
				}
				if c.Verdict != verdict || len(c.Arithmetics) == 0 {
					t.Fatalf("the verdict is %s, want %s: %v", c.Verdict, verdict, r)
				}
				a := c.Arithmetics[0]
				if tt.angles != nil && !slices.Contains(tt.angles, a.Angles) || a.Tables != tt.tables || a.Products != tt.products {
					t.Errorf("arithmetic %+v, want %v, %v, %v", c.Arithmetics, tt.angles, tt.tables, tt.products)
				}
				// Go's cosine, in float64, is rounded to float32 once more: nearly all elements are equal.
				if a.Equal < 0.999 || a.Typical > 0.1 {
					t.Errorf("%+v, want equal bits", a)
				}
				if has := len(c.Faults) > 0; has != tt.fault || has && c.Faults[0].Aspect != aspect {
					t.Errorf("faults %v, want one: %v", c.Faults, tt.fault)
				}
				if t.Failed() {
					t.Log(r)
				}
			})
		}
	}
}

// TestOffFrequencies has frequencies that are some units in the last place off, as of powers on GPUs: the
// same rotation, and it is said by how much they are off.
func TestOffFrequencies(t *testing.T) {
	for _, ulps := range []float64{4, 16} {
		r := checkArithmetic(plainModel, 0, fmt.Sprintf("powers within %v ulp", ulps), [][]int32{append(positionsOf(16), 9000, 9100)}, func(*port) {}, ropecheck.Candidate{Name: "model", Config: plainModel})
		_, text, _ := strings.Cut(r.Candidates[0].Text, " off, ")
		off, _ := strconv.ParseFloat(strings.Fields(text + " none")[0], 64)
		// Products with the position are rounded too, by half a unit.
		if r.Candidates[0].Verdict != ropecheck.Agrees || math.Abs(off-ulps) > 1 {
			t.Errorf("%v units: %v", ulps, r)
		}
	}
}

// TestOtherOrders divides the position by float32 powers of the base: no order of operations
// that is known, but the error of one. It has running products of positions on three axes; and divides
// them by a tensor, as ggml does: only the base tells them, as the first two frequencies do not have its ratio.
func TestOtherOrders(t *testing.T) {
	far := [][]int32{append(positionsOf(16), 100001, 131071, 131070)}
	candidate := func(cfg posenc.RotaryConfig, base float64) ropecheck.Candidate {
		return ropecheck.Candidate{Name: fmt.Sprint(base), Config: cfg, Base: base}
	}
	right := func(r *ropecheck.Report, angles ropecheck.Angles) ropecheck.Comparison {
		t.Helper()
		if c := r.Candidates[0]; c.Verdict != ropecheck.Agrees || len(c.Faults) > 0 || c.Arithmetics[0].Angles != angles {
			t.Error(r)
		}
		return r.Candidates[len(r.Candidates)-1]
	}
	other := plainModel
	other.Base = 1.001e6
	divides := func(e *port) {
		e.arithmetic.angle = func(p float64, i int, w []float64, _ *port) float64 { return r32(p / r32(1/w[i])) }
	}
	if c := right(checkArithmetic(plainModel, 0, "exact angles", far, divides, candidate(plainModel, 0), candidate(other, 0)), ropecheck.OtherAngles); c.Verdict != ropecheck.Differs || c.Arithmetics[0].Angles != ropecheck.OtherAngles {
		t.Error(c)
	}
	right(checkArithmetic(mrope, 0, "running products", slices.Collect(slices.Chunk(imagePositions(), 28)), func(*port) {}, candidate(mrope, 0)), ropecheck.RunningAngles)
	divided := plainModel
	for i, w := range powers(64, 1e6) {
		divided.InvFreq = append(divided.InvFreq, w/float64(1.1+float32(i)/8))
	}
	divided.Base = 0
	running := divided
	running.Base = 1e6
	if c := right(checkArithmetic(running, 0, "running products", far, func(*port) {}, candidate(divided, 1e6), candidate(divided, 0)), ropecheck.RunningAngles); c.Arithmetics[0].Angles == ropecheck.RunningAngles {
		t.Error(c)
	}
}

// frameworkCase is what a framework rotated: testdata/generate.py, testdata/ggml.c.
type frameworkCase struct {
	Name      string                `json:"name"`
	Type      ropecheck.ElementType `json:"type"`
	Layout    string                `json:"layout"`
	HeadDim   int                   `json:"head_dim"`
	Heads     int                   `json:"heads"`
	Base      float64               `json:"base"`
	Positions []int32               `json:"positions"`
	After     []string              `json:"after"`
}

var frameworkLayouts = []posenc.Layout{posenc.HalfSplit, posenc.Interleaved, posenc.InterleavedToHalfSplit}

func (c *frameworkCase) data() (ropecheck.Data, posenc.RotaryConfig) {
	n := len(c.Positions) * c.Heads * c.HeadDim
	d := ropecheck.Data{Tokens: len(c.Positions), Heads: c.Heads, HeadDim: c.HeadDim, Type: c.Type, Positions: c.Positions}
	d.Before = narrowed(kit.GoldenInputs(0, n), c.Type)
	switch c.Type {
	case ropecheck.Float16:
		for _, x := range kit.Hex[posenc.Float16](c.After...) {
			d.After = append(d.After, kit.Widen(x))
		}
	case ropecheck.BFloat16:
		for _, x := range kit.Hex[posenc.BFloat16](c.After...) {
			d.After = append(d.After, kit.Widen(x))
		}
	default:
		d.After = kit.Hex[float32](c.After...)
	}
	cfg := posenc.RotaryConfig{HeadDim: c.HeadDim, Layout: posenc.HalfSplit, Base: c.Base}
	cfg.Layout = frameworkLayouts[slices.IndexFunc(frameworkLayouts, func(l posenc.Layout) bool { return l.String() == c.Layout })]
	return d, cfg
}

// TestFrameworks checks what frameworks rotated, in their types and roundings, against their
// configuration, and against others.
func TestFrameworks(t *testing.T) {
	// By the source of each framework: how it rounds. Angles that are equal at these positions are
	// several.
	float32Angles := []ropecheck.Angles{ropecheck.Float32Angles, ropecheck.SteppedAngles}
	want := map[string]struct {
		angles   []ropecheck.Angles
		tables   ropecheck.Tables
		products ropecheck.Products
		equal    float64 // share of elements
		fault    bool
		engines  string // one of the names begins so; "": none is named
	}{
		// PyTorch's cosines and sines are a bit off in 4 of 100. Complex numbers have the C library's.
		"llama float32":                       {float32Angles, "float32", "separate", 0.9, false, ""},
		"llama bfloat16":                      {float32Angles, "bfloat16", "rounded", 0.98, false, ""},
		"llama float16":                       {float32Angles, "float16", "rounded", 0.98, false, ""},
		"llama after .to(bfloat16)":           {[]ropecheck.Angles{ropecheck.BFloat16InvFreq}, "bfloat16", "rounded", 0.98, true, ""},
		"llama after .to(float16)":            {[]ropecheck.Angles{ropecheck.Float16InvFreq}, "float16", "rounded", 0.98, true, ""},
		"llama with a cache made in bfloat16": {[]ropecheck.Angles{ropecheck.BFloat16Angles}, "bfloat16", "rounded", 0.98, true, ""},
		"cohere float32":                      {float32Angles, "float32", "separate", 0.9, false, ""},
		"cohere bfloat16":                     {float32Angles, "bfloat16", "separate", 0.98, false, ""}, // widens q and k
		"glm4 float32":                        {float32Angles, "float32", "separate", 0.9, false, ""},
		"glm4 bfloat16":                       {float32Angles, "bfloat16", "rounded", 0.98, false, ""},
		"llama4 float32":                      {float32Angles, "float32", "separate", 0.9, false, "PyTorch 2.15.0's complex numbers"},
		"llama4 bfloat16":                     {float32Angles, "float32", "separate", 0.98, false, ""}, // complex numbers of float32
		"deepseek float32":                    {float32Angles, "float32", "separate", 0.9, false, ""},
		// Its code is x0*cos - x1*sin and x0*sin + x1*cos, of which GCC fuses the first product.
		"ggml NEOX float32":   {[]ropecheck.Angles{ropecheck.RunningAngles}, "float32", "fused complex", 0.98, false, "ggml"},
		"ggml NORMAL float32": {[]ropecheck.Angles{ropecheck.RunningAngles}, "float32", "fused complex", 0.98, false, "ggml"},
		"ggml NEOX float16":   {[]ropecheck.Angles{ropecheck.RunningAngles}, "float32", "", 0.99, false, ""}, // products are equal in 16 bits
	}
	seen := 0
	for _, path := range kit.Must(filepath.Glob("testdata/*.json")) {
		var file struct{ Cases []frameworkCase }
		kit.ReadJSON(path, &file)
		for _, c := range file.Cases {
			seen++
			t.Run(c.Name, func(t *testing.T) {
				w, ok := want[c.Name]
				if !ok {
					t.Fatal("a case of which nothing is said")
				}
				d, cfg := c.data()
				other, longer := cfg, cfg
				other.Layout, longer.Base = posenc.Interleaved, 10000
				if cfg.Layout == posenc.Interleaved {
					other.Layout = posenc.HalfSplit
				}
				r := kit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "right", Config: cfg}, ropecheck.Candidate{Name: "layout", Config: other}, ropecheck.Candidate{Name: "base", Config: longer}))
				verdict := ropecheck.Agrees
				if slices.Contains(roundedPositions, w.angles[0]) {
					verdict = ropecheck.Differs
				}
				if r.Candidates[0].Verdict != verdict || r.Candidates[1].Verdict != ropecheck.Differs || r.Candidates[2].Verdict != ropecheck.Differs {
					t.Fatalf("verdicts %s, %s, %s, want %s, differs, differs: %v", r.Candidates[0].Verdict, r.Candidates[1].Verdict, r.Candidates[2].Verdict, verdict, r)
				}
				if r.Candidates[1].Faults[0].Aspect != ropecheck.LayoutAspect || r.Candidates[2].Faults[0].Aspect != ropecheck.FrequenciesAspect {
					t.Errorf("faults %v, %v", r.Candidates[1].Faults, r.Candidates[2].Faults)
				}
				a := r.Candidates[0].Arithmetics[0]
				if !slices.Contains(w.angles, a.Angles) || a.Tables != w.tables || w.products != "" && a.Products != w.products || a.Equal < w.equal {
					t.Errorf("arithmetic %+v, want %+v", a, w)
				}
				if has := len(r.Candidates[0].Faults) > 0; has != w.fault {
					t.Errorf("faults %v, want one: %v", r.Candidates[0].Faults, w.fault)
				}
				float32Steps := cfg
				cfg.InvFreq = kit.Must(frequency.Default(c.HeadDim, c.Base, frequency.Exact)).InvFreq
				float32Steps.InvFreq = kit.Must(frequency.Default(c.HeadDim, c.Base, frequency.Float32)).InvFreq
				names := ropecheck.Engines(d, ropecheck.Rotation{Exact: cfg, Float32: float32Steps, Rule: modelconfig.Rule{Name: "default", Base: c.Base}})
				if w.engines == "" && names != nil || w.engines != "" && !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, w.engines) }) {
					t.Errorf("engines %q, want one of %q", names, w.engines)
				}
				if t.Failed() {
					t.Log(r)
				}
			})
		}
	}
	if seen != len(want) {
		t.Errorf("%d cases, want %d", seen, len(want))
	}
}

// cache is how an engine stores heads: by the definitions of ggml (quantize_row_q8_0_ref) and vLLM, and the
// floating-point numbers of 8 bits of the OCP.
type cache struct {
	format   ropecheck.Format
	oneScale bool // for all numbers, in place of one for each head
	hadamard int  // elements that are transformed together; 0: none
}

func caches() []cache {
	return []cache{{"q8_0", false, 0}, {"int8", false, 0}, {"e4m3", false, 0}, {"e4m3", true, 0}, {"e5m2", true, 0}, {"q8_0", false, 32}, {"int8", false, 32}}
}

// store is what d.After becomes in a cache, and how it is read.
func (c *cache) store(d *ropecheck.Data) {
	var codes []byte
	var scales []float32 // one for each code
	after := make([]float64, len(d.After))
	for i, x := range d.After {
		after[i] = float64(x)
	}
	if c.hadamard > 0 {
		transform(after, c.hadamard)
	}
	largest := func(x []float64) (most float64) {
		for _, v := range x {
			most = max(most, math.Abs(v))
		}
		return most
	}
	block := map[bool]int{false: d.HeadDim, true: len(after)}[c.oneScale]
	if c.format == "q8_0" {
		block = 32
	}
	for at := 0; at < len(after); at += block {
		x := after[at:][:block]
		scale, code := 0.0, func(x float64) byte { return byte(int8(math.RoundToEven(x))) }
		switch c.format {
		case "q8_0":
			scale = largest(x) / 127
			codes = binary.LittleEndian.AppendUint16(codes, uint16(kit.Narrow[posenc.Float16](float32(scale))))
		case "int8":
			scale = max(float64(float32(largest(x)/127)), 1e-6)
		case "e4m3":
			scale, code = max(float64(float32(largest(x)/448)), 1e-6), func(x float64) byte { return float8(x, 3, 7) }
		case "e5m2":
			scale, code = max(float64(float32(largest(x)/1000)), 1e-6), func(x float64) byte { return float8(x, 2, 15) }
		}
		for _, v := range x {
			if scale == 0 {
				codes = append(codes, 0)
			} else {
				codes, scales = append(codes, code(v/scale)), append(scales, float32(scale))
			}
		}
	}
	d.Stored = &ropecheck.Stored{Format: c.format, Hadamard: c.hadamard}
	var err error
	if d.After, d.Stored.Errors, err = c.format.Read(codes, func(i int) float32 { return scales[i] }, ropecheck.Float32); err != nil {
		panic(err)
	}
	if c.hadamard > 0 {
		for i, x := range d.After {
			after[i] = float64(x)
		}
		transform(after, c.hadamard)
		for i, x := range after {
			d.After[i] = float32(x)
		}
	}
}

// transform multiplies blocks of n by the matrix of Hadamard: entry i, j is -1 to the number of bits that
// are set in both, by the root of n.
func transform(x []float64, n int) {
	for at := 0; at < len(x); at += n {
		y := make([]float64, n)
		for i := range y {
			for j, v := range x[at:][:n] {
				sign := 1.0
				for bits := i & j; bits > 0; bits &= bits - 1 {
					sign = -sign
				}
				y[i] += sign * v / math.Sqrt(float64(n))
			}
		}
		copy(x[at:], y)
	}
}

// float8 is the code of the number nearest to x, ties to even, of so many bits of the significand.
func float8(x float64, bits, bias int) byte {
	sign := byte(0)
	if x < 0 {
		sign, x = 0x80, -x
	}
	exponent := 1 - bias
	if x > 0 {
		exponent = max(exponent, math.Ilogb(x))
	}
	// Steps of the exponent; a number that rounds up to the next one has its code.
	steps := int(math.RoundToEven(math.Ldexp(x, bits-exponent)))
	return sign | byte((exponent+bias-1)<<bits+steps)
}

// TestStored: large data, of which a sample is searched, and heads of 16 bits that were dumped as float32.
func TestStored(t *testing.T) {
	cfg := posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000}
	candidate := ropecheck.Candidate{Name: "model", Config: cfg}
	for _, c := range caches() {
		d := rotated(cfg, positionsOf(300), 8)
		c.store(&d)
		if r := kit.Must(ropecheck.Check(d, candidate)); r.Candidates[0].Verdict != ropecheck.Agrees || r.Stored != c.format {
			t.Errorf("%+v: %v", c, r)
		}
		d.After[(201*8+5)*128+7] += 8
		if r := kit.Must(ropecheck.Check(d, candidate)); !strings.Contains(r.Candidates[0].Text, "Token 201, head 5: element 7 is ") {
			t.Errorf("%+v: %v", c, r)
		}

		e := newPort(layer{headDim: 128, dim: 128, layout: posenc.HalfSplit, base: 500000, heads: 4, factor: 1, invFreq: powers(128, 500000)}, ropecheck.BFloat16, arithmetics()[0])
		e.positions = [][]int32{positionsOf(20)}
		d = e.data(3)
		d.Type = ropecheck.Float32
		c.store(&d)
		r := kit.Must(ropecheck.Check(d, candidate))
		if r.Candidates[0].Verdict != ropecheck.Agrees || r.Type != ropecheck.BFloat16 || len(r.Candidates[0].Arithmetics) > 0 {
			t.Errorf("%+v: %v", c, r)
		}
	}
}

// A q8_0 block of ggml has no negative or infinite scale.
func TestStoredScales(t *testing.T) {
	for scale, want := range map[uint16]string{0xb800: "-0.5", 0x7c00: "+Inf", 0x7e00: "NaN"} {
		codes := make([]byte, 2*34)
		binary.LittleEndian.PutUint16(codes[34:], scale)
		want = "block 1: scale " + want + ": want a finite number of at least 0"
		if _, _, err := ropecheck.Q8_0.Read(codes, nil, ropecheck.Float32); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
