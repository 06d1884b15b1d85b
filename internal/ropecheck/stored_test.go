package ropecheck_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/testkit"
)

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
			codes = binary.LittleEndian.AppendUint16(codes, uint16(testkit.Narrow[posenc.Float16](float32(scale))))
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
		if r := testkit.Must(ropecheck.Check(d, candidate)); r.Candidates[0].Verdict != ropecheck.Agrees || r.Stored != c.format {
			t.Errorf("%+v: %v", c, r)
		}
		d.After[(201*8+5)*128+7] += 8
		if r := testkit.Must(ropecheck.Check(d, candidate)); !strings.Contains(r.Candidates[0].Text, "Token 201, head 5: element 7 is ") {
			t.Errorf("%+v: %v", c, r)
		}

		e := engine{ropecheck.BFloat16, same, product, float32Table, separate}
		d = e.data(positionsOf(20), 4, 128, posenc.HalfSplit, 500000)
		d.Type = ropecheck.Float32
		c.store(&d)
		r := testkit.Must(ropecheck.Check(d, candidate))
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
