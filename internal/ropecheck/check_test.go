package ropecheck_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/multimodal"
)

func TestMain(m *testing.M) { kit.Main(m) }

func TestReceivers(t *testing.T) {
	kit.CheckReceivers(t, ropecheck.Report{}, ropecheck.AbsoluteReport{}, ropecheck.Hypothesis{}, ropecheck.ElementType(0), ropecheck.Format(""))
	if err := (*ropecheck.ElementType)(nil).UnmarshalText([]byte("float16")); !errors.Is(err, posenc.ErrConfig) {
		t.Errorf("UnmarshalText of nil: %v", err)
	}
}

// TestErrors checks what is refused, and that errors name it.
func TestErrors(t *testing.T) {
	right := func() ropecheck.Data { return rotated(llama, positionsOf(4), 2) }
	for _, tt := range []struct {
		name   string
		change func(d *ropecheck.Data)
		config posenc.RotaryConfig
		kind   error
		says   string
	}{
		{"no tokens", func(d *ropecheck.Data) { d.Tokens = 0 }, llama, posenc.ErrShape, "data.Tokens is 0"},
		{"no heads", func(d *ropecheck.Data) { d.Heads = 0 }, llama, posenc.ErrShape, "data.Heads is 0"},
		{"negative heads", func(d *ropecheck.Data) { d.Heads = math.MinInt }, llama, posenc.ErrShape, "data.Heads is -"},
		{"a head of one element", func(d *ropecheck.Data) { d.HeadDim = 1 }, llama, posenc.ErrShape, "data.HeadDim is 1, want at least 2"},
		{"unknown type", func(d *ropecheck.Data) { d.Type = 3 }, llama, posenc.ErrConfig, "data.Type is ElementType(3)"},
		{"huge", func(d *ropecheck.Data) { d.Tokens, d.Heads = math.MaxInt, math.MaxInt }, llama, posenc.ErrLength, "data.Before has 512 elements"},
		{"few before", func(d *ropecheck.Data) { d.Before = d.Before[1:] }, llama, posenc.ErrLength, "data.Before has 511 elements, want Tokens*Heads*HeadDim = 4*2*64 = 512"},
		{"many after", func(d *ropecheck.Data) { d.After = append(d.After, 0) }, llama, posenc.ErrLength, "data.After has 513 elements"},
		{"positions", func(d *ropecheck.Data) { d.Positions = d.Positions[:3] }, llama, posenc.ErrLength, "data.Positions has 3 elements"},
		{"no positions", func(d *ropecheck.Data) { d.Positions = []int32{} }, llama, posenc.ErrLength, "data.Positions has 0 elements"},
		{"many axes", func(d *ropecheck.Data) { d.Positions = make([]int32, 4*257) }, llama, posenc.ErrLength, "data.Positions has 1028 elements"},
		{"NaN", func(d *ropecheck.Data) { d.Before[7] = float32(math.NaN()) }, llama, ropecheck.ErrValue, "data.Before[7] (token 0, head 0, element 7) is NaN"},
		{"infinite", func(d *ropecheck.Data) { d.After[8] = float32(math.Inf(-1)) }, llama, ropecheck.ErrValue, "data.After[8] (token 0, head 0, element 8) is -Inf"},
		{"not of the type", func(d *ropecheck.Data) { d.Type, d.After = ropecheck.BFloat16, slices.Repeat([]float32{0.1}, 512) }, llama, ropecheck.ErrValue, "data.After[0] (token 0, head 0, element 0) is 0.1, want a number of data.Type, bfloat16"},
		{"unknown format", func(d *ropecheck.Data) { d.Stored = &ropecheck.Stored{Format: "q4_0"} }, llama, posenc.ErrConfig, "data.Stored.Format is q4_0, want one of"},
		{"few errors", func(d *ropecheck.Data) { d.Stored = &ropecheck.Stored{Format: ropecheck.Int8} }, llama, posenc.ErrLength, "data.Stored.Errors has 0 elements, want 512"},
		{"an error of storing that is NaN", func(d *ropecheck.Data) {
			d.Stored = &ropecheck.Stored{Format: ropecheck.Int8, Errors: slices.Repeat([]float32{float32(math.NaN())}, 512)}
		}, llama, ropecheck.ErrValue, "data.Stored.Errors[0] is NaN"},
		{"coarse codes", func(d *ropecheck.Data) {
			d.Stored = &ropecheck.Stored{Format: ropecheck.Int8, Errors: slices.Repeat([]float32{0.5}, 512)}
		}, llama, ropecheck.ErrValue, "codes of such coarse steps say nothing of the rotation"},
		{"a block that does not divide", func(d *ropecheck.Data) {
			d.Stored = &ropecheck.Stored{Format: ropecheck.Int8, Errors: make([]float32, 512), Hadamard: 48}
		}, llama, posenc.ErrConfig, "data.Stored.Hadamard is 48"},
		{"refused candidate", func(d *ropecheck.Data) {}, posenc.RotaryConfig{HeadDim: 63, Layout: posenc.HalfSplit}, posenc.ErrConfig, "candidates[1].Config is refused"},
		{"other heads", func(d *ropecheck.Data) {}, posenc.RotaryConfig{HeadDim: 32, Layout: posenc.HalfSplit}, posenc.ErrConfig, "candidates[1].Config.HeadDim is 32, want data.HeadDim = 64"},
		{"more axes", func(d *ropecheck.Data) { d.Positions = make([]int32, 8) }, mrope, posenc.ErrConfig, "candidates[1].Config.Axes is 2 for pair"},
		{"angles too large", func(d *ropecheck.Data) { d.Positions[1] = math.MaxInt32 }, posenc.RotaryConfig{HeadDim: 64, RotaryDim: 2, Layout: posenc.HalfSplit, InvFreq: []float64{0x1p49}}, posenc.ErrPosition, "data.Positions is refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := right()
			tt.change(&d)
			r, err := ropecheck.Check(d, ropecheck.Candidate{Name: "right", Config: llama}, ropecheck.Candidate{Name: "wrong", Config: tt.config})
			if r != nil || !errors.Is(err, tt.kind) || !strings.HasPrefix(err.Error(), "ropecheck.Check: ") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, error %v, want one that says %q and wraps %q", r, err, tt.says, tt.kind)
			}
		})
	}
	for _, base := range []float64{-1, 1, math.Inf(1), math.NaN()} {
		r, err := ropecheck.Check(right(), ropecheck.Candidate{Config: llama, Base: base})
		if says := fmt.Sprintf("candidates[0].Base is %v, want 0 or a finite number above 1", base); r != nil || !errors.Is(err, posenc.ErrConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, error %v, want one that says %q", r, err, says)
		}
	}
}

// TestUnknownPositions solves for positions by the frequencies of the candidates.
func TestUnknownPositions(t *testing.T) {
	for _, tt := range []struct {
		name      string
		cfg       posenc.RotaryConfig
		positions []int32
	}{
		{"neighbours", llama, []int32{5, 6, 7, 8, 9, 10}},
		{"far apart", llama, []int32{0, 100, 4097, 131071, 77, 9}},
		{"interleaved", gptj, []int32{0, 1, 2, 3, 1000}},
		{"scaled", llama3, []int32{3, 1, 4, 1, 5, 90000}},
		{"axes", mrope, imagePositions()},
	} {
		for _, kind := range []ropecheck.ElementType{ropecheck.Float32, ropecheck.BFloat16} {
			t.Run(fmt.Sprint(tt.name, "/", kind), func(t *testing.T) {
				d := rotated(tt.cfg, tt.positions, 6)
				d.Positions, d.Type, d.After = nil, kind, narrowed(d.After, kind)
				other := tt.cfg
				other.Base, other.InvFreq = 77777, nil
				r := kit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "other", Config: other}, ropecheck.Candidate{Name: "right", Config: tt.cfg}))
				h := r.Hypotheses[0]
				known := len(tt.positions)
				if tt.cfg.Axes != nil && kind == ropecheck.BFloat16 {
					known = known * 2 / 3 // the pairs of the width turn by less than bfloat16 shows
				}
				if h.Candidate != "right" || len(h.Positions) != len(tt.positions) || !slices.Equal(h.Positions[:known], tt.positions[:known]) || r.Candidates[1].Verdict != ropecheck.Agrees || r.Candidates[0].Verdict != ropecheck.Differs {
					t.Errorf("%q, positions %v, want %v: %v", h.Candidate, h.Positions, tt.positions, r)
				}
				if !says(r, ropecheck.PositionsAspect) {
					t.Errorf("undecided: %v", r.Undecided)
				}
			})
		}
	}
}

func says(r *ropecheck.Report, aspect ropecheck.Aspect) bool {
	return slices.ContainsFunc(r.Undecided, func(u ropecheck.Undecided) bool { return u.Aspect == aspect })
}

// withZeros clears a pair of every head.
func withZeros(d *ropecheck.Data) {
	for at := 0; at < len(d.Before); at += d.HeadDim {
		d.Before[at+5], d.After[at+5], d.Before[at+37], d.After[at+37] = 0, 0, 0, 0
	}
}

// TestUndecided checks that what data do not tell is said not to be decided, and that nothing
// else is.
func TestUndecided(t *testing.T) {
	data := func(cfg posenc.RotaryConfig, positions []int32, heads int, changes ...func(d *ropecheck.Data)) ropecheck.Data {
		d := rotated(cfg, positions, heads)
		for _, change := range changes {
			change(&d)
		}
		return d
	}
	for _, tt := range []struct {
		name    string
		data    ropecheck.Data
		with    []posenc.RotaryConfig
		verdict []ropecheck.Verdict
		aspects []ropecheck.Aspect
	}{
		{"all is told", data(llama, positionsOf(16), 4), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.Agrees}, nil},
		{"position 0", data(llama, []int32{0, 0, 0}, 4), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.NotDecidable}, aspects(ropecheck.LayoutAspect)},
		{"an unknown position 0", data(llama, []int32{0, 0, 0, 0}, 8, func(d *ropecheck.Data) { d.Positions = nil }), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.NotDecidable}, aspects(ropecheck.LayoutAspect)},
		{"one position", data(llama, []int32{9, 9, 9}, 4), nil, nil, aspects(ropecheck.FrequenciesAspect)},
		{"one position and a candidate", data(llama, []int32{9, 9, 9}, 4), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.Agrees}, aspects(ropecheck.FrequenciesAspect)},
		{"zeros", data(llama, positionsOf(8), 4, func(d *ropecheck.Data) { clear(d.Before); clear(d.After) }), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.NotDecidable}, aspects(ropecheck.LayoutAspect)},
		{"zeros before", data(llama, positionsOf(8), 4, func(d *ropecheck.Data) { clear(d.Before) }), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.NotDecidable}, aspects(ropecheck.LayoutAspect)},
		{"a pair of zeros", data(llama, positionsOf(8), 4, withZeros), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.Agrees}, aspects(ropecheck.FrequenciesAspect)},
		{"slices alike", data(changed(llama, func(c *posenc.RotaryConfig) { c.Layout = posenc.Interleaved }), []int32{0, 1, 2, 3}, 4, func(d *ropecheck.Data) { d.Type, d.After = ropecheck.BFloat16, narrowed(d.After, ropecheck.BFloat16) }), nil, nil, aspects(ropecheck.SliceAspect, ropecheck.FrequenciesAspect)},
		{"a factor or a scale", data(changed(llama, func(c *posenc.RotaryConfig) { c.AttentionFactor = 1.5 }), positionsOf(8), 4), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.Differs}, aspects(ropecheck.ScaleAspect)},
		{"twice or double", data(llama, positionsOf(8), 4, func(d *ropecheck.Data) { rotateBy(d.After, llama, d.Positions, d.Heads) }), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.Differs}, aspects(ropecheck.TimesAspect)},
		{"candidates alike", data(llama3, []int32{0, 1, 2, 3}, 4, func(d *ropecheck.Data) { d.Type, d.After = ropecheck.BFloat16, narrowed(d.After, ropecheck.BFloat16) }), []posenc.RotaryConfig{llama, llama3}, []ropecheck.Verdict{ropecheck.Agrees, ropecheck.Agrees}, aspects(ropecheck.FrequenciesAspect)},
		{"decay", data(xpos, positionsOf(24), 6), []posenc.RotaryConfig{xpos}, []ropecheck.Verdict{ropecheck.Agrees}, nil},
		{"axes of text", data(mrope, slices.Repeat(positionsOf(16), 3), 4), []posenc.RotaryConfig{mrope}, []ropecheck.Verdict{ropecheck.Agrees}, aspects(ropecheck.AxesAspect)},
		{"noise alone", data(llama, positionsOf(8), 4, func(d *ropecheck.Data) { d.After = random(9, len(d.After)) }), []posenc.RotaryConfig{llama}, []ropecheck.Verdict{ropecheck.Differs}, aspects(ropecheck.LayoutAspect)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var candidates []ropecheck.Candidate
			for i, cfg := range tt.with {
				candidates = append(candidates, ropecheck.Candidate{Name: fmt.Sprint(i), Config: cfg})
			}
			r := kit.Must(ropecheck.Check(tt.data, candidates...))
			for i, want := range tt.verdict {
				if c := r.Candidates[i]; c.Verdict != want || want == ropecheck.Agrees && len(c.Faults) > 0 {
					t.Errorf("candidate %d %s, want %s, faults %v", i, c.Verdict, want, c.Faults)
				}
			}
			var found []ropecheck.Aspect
			for _, u := range r.Undecided {
				if u.Aspect != ropecheck.RoundingAspect {
					found = append(found, u.Aspect)
				}
			}
			if !slices.Equal(found, tt.aspects) {
				t.Errorf("undecided %v, want %v", found, tt.aspects)
			}
			if t.Failed() {
				t.Log(r)
			}
		})
	}
}

// TestWithoutCandidates checks what is said of rotations that nothing is known of: the other way, and
// with a pair of zeros.
func TestWithoutCandidates(t *testing.T) {
	if text := kit.Must(ropecheck.Check(rotated(inverse, positionsOf(8), 4))).String(); !strings.Contains(text, ", the other way") {
		t.Error(text)
	}
	d := rotated(llama3, positionsOf(24), 4)
	withZeros(&d)
	if r := kit.Must(ropecheck.Check(d)); !slices.Contains(r.Hypotheses[0].Unknown, 5) || slices.Contains(r.Hypotheses[0].Unknown, 0) {
		t.Errorf("unknown are %v: %v", r.Hypotheses[0].Unknown, r)
	}
}

// TestJSON checks that a report marshals, with names.
func TestJSON(t *testing.T) {
	d := rotated(mrope, imagePositions(), 3)
	r := kit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "model", Config: mrope}))
	text := string(kit.Must(json.Marshal(r)))
	for _, part := range []string{`"layout":"HalfSplit"`, `"type":"float32"`, `"verdict":"agrees"`, `"angles":"exact"`, `"undecided":[`, `"axes":[0,`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	var kind ropecheck.ElementType
	if err := json.Unmarshal([]byte(`"bfloat16"`), &kind); err != nil || kind != ropecheck.BFloat16 {
		t.Errorf("%v, %v", kind, err)
	}
	if err := json.Unmarshal([]byte(`"int8"`), &kind); !errors.Is(err, posenc.ErrConfig) {
		t.Error(err)
	}
}

// FuzzCheck calls Check with data of any kind: there is no panic, an error or a report that
// marshals and that equal data give again, and one axis or candidate more changes nothing of that.
func FuzzCheck(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, []byte(nil))
	}
	f.Add(uint64(7), []byte{0xff, 0x80, 0x7f, 0, 1, 0, 0x80, 0x3f})
	f.Fuzz(func(t *testing.T, seed uint64, raw []byte) {
		r := rand.New(rand.NewPCG(seed, 2))
		one := func(list ...int) int { return list[r.IntN(len(list))] }
		d := ropecheck.Data{Tokens: one(1, 2, 3, 5, 9), Heads: one(1, 2, 3, 4), HeadDim: one(2, 3, 4, 6, 8, 16, 24, 33), Type: ropecheck.ElementType(one(0, 0, 1, 2))}
		n := d.Tokens * d.Heads * d.HeadDim
		positions := func() []int32 {
			list := make([]int32, d.Tokens*one(1, 1, 2, 3))
			for i := range list {
				list[i] = int32(one(0, 1, i, 2*i, -i, 1000*i, math.MaxInt32, math.MinInt32, r.IntN(1<<20)))
			}
			return list
		}
		if r.IntN(3) > 0 {
			d.Positions = positions()
		}
		size := math.Pow(10, float64(one(0, 0, 0, -44, -20, 20, 38)))
		fill := func() []float32 {
			list := make([]float32, n)
			for i := range list {
				list[i] = float32(max(-3e38, min(3e38, size*r.NormFloat64())))
				if r.IntN(one(2, 50)) == 0 {
					list[i] = 0
				}
			}
			return list
		}
		config := func() posenc.RotaryConfig {
			cfg := posenc.RotaryConfig{HeadDim: d.HeadDim, RotaryDim: min(one(0, 2, 4, 6), d.HeadDim/2*2), Layout: posenc.Layout(one(1, 2, 3, 4)), Base: float64(one(0, 2, 10000, 1e9)), AttentionFactor: float64(one(0, 1, 3)), Rounding: frequency.Rounding(one(0, 1))}
			if cfg.RotaryDim > 0 {
				cfg.Offset = r.IntN(d.HeadDim - cfg.RotaryDim + 1)
			}
			if dim := cfg.RotaryDim; dim > 0 && r.IntN(2) == 0 {
				cfg.Base = 0
				for range dim / 2 {
					cfg.InvFreq = append(cfg.InvFreq, []float64{0, 1, -1, 1e-30, 3.1415, 1e9, r.Float64()}[r.IntN(7)])
				}
				if r.IntN(2) == 0 {
					for range dim / 2 {
						cfg.Axes = append(cfg.Axes, uint8(one(0, 0, 1, 2)))
					}
				} else if r.IntN(3) == 0 {
					cfg.XPos = &posenc.XPos{ScaleBase: 512, Keys: r.IntN(2) == 0}
				}
			}
			return cfg
		}
		d.Before = fill()
		d.After = slices.Clone(d.Before)
		switch r.IntN(4) {
		case 0:
			d.After = fill()
		case 1, 2:
			if rotary, err := posenc.NewRotary(config()); err == nil {
				at := slices.Concat(d.Positions, d.Positions, d.Positions, make([]int32, 3*d.Tokens))
				for _, axes := range []int{1, 2, 3} {
					if posenc.Rotate(rotary.AtAxes(at[:axes*d.Tokens]), posenc.View[float32]{Data: d.After, Heads: d.Heads}) == nil {
						break
					}
				}
			}
		}
		for i := 0; i+8 <= len(raw) && n > 0; i += 8 { // anything anywhere
			at := int(raw[i]) | int(raw[i+1])<<8
			v := math.Float32frombits(uint32(raw[i+4]) | uint32(raw[i+5])<<8 | uint32(raw[i+6])<<16 | uint32(raw[i+7])<<24)
			switch raw[i+2] % 4 {
			case 0:
				d.Before[at%n] = v
			case 1:
				d.After[at%n] = v
			case 2:
				d.Heads = at - 5
			case 3:
				d.Tokens = at - 5
			}
		}
		if d.Type <= ropecheck.BFloat16 && r.IntN(8) > 0 {
			d.After = narrowed(d.After, d.Type)
		}
		var candidates []ropecheck.Candidate
		for range one(0, 1, 1, 2) {
			candidates = append(candidates, ropecheck.Candidate{Name: fmt.Sprint(len(candidates)), Config: config(), Base: [...]float64{0, 0, 10000, 1e300}[r.IntN(4)]})
		}
		report, err := ropecheck.Check(d, candidates...)
		if err != nil {
			if report != nil || !strings.HasPrefix(err.Error(), "ropecheck.Check: ") || len(err.Error()) > 1000 {
				t.Fatalf("%v, error %v", report, err)
			}
			return
		}
		if again := kit.Must(ropecheck.Check(d, candidates...)); !reflect.DeepEqual(again, report) {
			t.Fatalf("%v and %v", report, again)
		}
		if _, err := json.Marshal(report); err != nil || len(report.Hypotheses) == 0 || len(report.Candidates) != len(candidates) {
			t.Fatalf("%+v, error %v", report, err)
		}
		if text := report.String(); strings.Contains(text, "%!") || strings.Contains(text, "NaN") {
			t.Fatal(text)
		}
	})
}

// TestLargeData: the search sees a sample of the tokens and heads, and a fault outside it is named all the
// same.
func TestLargeData(t *testing.T) {
	positions := make([]int32, 1100)
	for i := range positions {
		positions[i] = int32(i)
	}
	const heads = 10
	row := func(x []float32, token, head int) []float32 {
		return x[(token*heads+head)*llama.HeadDim:][:llama.HeadDim]
	}
	for _, tt := range []struct {
		name   string
		kind   ropecheck.ElementType
		change func(d *ropecheck.Data)
		cfg    posenc.RotaryConfig
		text   string // "": it agrees
	}{
		{"right", ropecheck.Float32, func(*ropecheck.Data) {}, llama, ""},
		{"an element", ropecheck.BFloat16, func(d *ropecheck.Data) { row(d.After, 901, 4)[7] = 3 }, llama, "Token 901, head 4: element 7 is 3, and the rotation makes"},
		{"a row", ropecheck.BFloat16, func(d *ropecheck.Data) { clear(row(d.After, 502, 6)) }, llama, "Token 502, head 6: all elements are zero."},
		{"a head", ropecheck.Float32, func(d *ropecheck.Data) {
			for i := range positions {
				copy(row(d.After, i, 5), row(d.Before, i, 5))
			}
		}, llama, "Head 5: Nothing was rotated."},
		{"half of the heads", ropecheck.Float16, func(d *ropecheck.Data) {
			for i := range positions {
				for h := 5; h < heads; h++ {
					copy(row(d.After, i, h), row(d.Before, i, h))
				}
			}
		}, llama, "Heads 5 to 9: Nothing was rotated."},
		{"base", ropecheck.Float32, func(*ropecheck.Data) {}, changed(llama, func(c *posenc.RotaryConfig) { c.Base = 10000 }), "The frequencies are those of base 500000, in place of base 10000."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := rotated(llama, positions, heads)
			tt.change(&d)
			d.Type, d.After = tt.kind, narrowed(d.After, tt.kind)
			r := kit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "model", Config: tt.cfg}))
			c := r.Candidates[0]
			if agrees := c.Verdict == ropecheck.Agrees; agrees != (tt.text == "") || !strings.Contains(c.Text, tt.text) {
				t.Errorf("%s, want %q", r, tt.text)
			}
		})
	}
}

// Tokens that the engine left out are zero after the rotation: they are named, whichever and how many they are.
func TestZeroTokens(t *testing.T) {
	positions := append(positionsOf(16), 1000, 1001, 5001, 5002, 5003, 9999)
	for _, zero := range [][2]int{{1, 1}, {5, 7}, {0, 10}, {11, 21}, {3, 21}, {0, 19}, {0, 20}, {1, 21}, {1, 20}} {
		for _, kind := range []ropecheck.ElementType{ropecheck.Float32, ropecheck.BFloat16} {
			d := rotated(llama, positions, 4)
			clear(d.After[zero[0]*4*llama.HeadDim : (zero[1]+1)*4*llama.HeadDim])
			d.Type, d.After = kind, narrowed(d.After, kind)
			want := fmt.Sprintf("Tokens %d to %d: all elements are zero.", zero[0], zero[1])
			if zero[0] == zero[1] {
				want = fmt.Sprintf("Token %d: all elements are zero.", zero[0])
			}
			r := kit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "model", Config: llama}))
			if c := r.Candidates[0]; c.Verdict != ropecheck.Differs || !strings.Contains(c.Text, want) || strings.Contains(r.String(), "scale of its own") {
				t.Errorf("%v: want %q: %v", kind, want, r)
			}
		}
	}
	// With another fault beside it.
	d := rotated(llama, positions, 4)
	clear(d.After[8*4*llama.HeadDim:])
	r := kit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "model", Config: changed(llama, func(c *posenc.RotaryConfig) { c.Base = 10000 })}))
	if c := r.Candidates[0]; c.Verdict != ropecheck.Differs || !strings.Contains(c.Text, "Tokens 8 to 21: all elements are zero.") || !strings.Contains(c.Text, "base 500000") {
		t.Errorf("with another base: %v", r)
	}
	// Padding says nothing, and is named.
	d = rotated(llama, positions, 4)
	clear(d.Before[20*4*llama.HeadDim:])
	clear(d.After[20*4*llama.HeadDim:])
	if r := kit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "model", Config: llama})); r.Candidates[0].Verdict != ropecheck.Agrees || !strings.Contains(r.String(), "Tokens 20 to 21 are zero before and after the rotation.") {
		t.Errorf("with padding: %v", r)
	}
}

// A token of padding is zero before the rotation: what it is after is named.
func TestPaddingToken(t *testing.T) {
	d := rotated(llama, positionsOf(12), 4)
	clear(d.Before[5*4*64:][:4*64])
	report := kit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "llama", Config: llama}))
	if got := report.Candidates[0]; got.Verdict != ropecheck.Differs || !strings.Contains(got.Text, "oken 5") {
		t.Errorf("%s: %s", got.Verdict, got.Text)
	}
}

// BenchmarkCheck checks 2048 tokens of 32 heads.
func BenchmarkCheck(b *testing.B) {
	positions := make([]int32, 2048)
	for i := range positions {
		positions[i] = int32(i)
	}
	cfg := posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000}
	d := rotated(cfg, positions, 32)
	other := cfg
	other.Base = 10000
	for _, bb := range []struct {
		name string
		cfg  posenc.RotaryConfig
	}{{"right", cfg}, {"wrong", other}} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				kit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "model", Config: bb.cfg}))
			}
		})
	}
}

// kindsOf are the configurations of the kinds of layers of every type of package
// modelconfig, with the keys that it needs.
func kindsOf(t *testing.T) map[string][]ropecheck.Candidate {
	var survey struct {
		Types map[string]struct {
			Needs map[string]any `json:"needs"`
		} `json:"types"`
	}
	kit.ReadJSON("../../modelconfig/testdata/transformers/survey.json.gz", &survey)
	kinds := map[string][]ropecheck.Candidate{}
	for name, entry := range survey.Types {
		document := map[string]any{"model_type": name}
		maps.Copy(document, entry.Needs)
		config := kit.Must(json.Marshal(document))
		m, err := modelconfig.HuggingFace(config)
		if err != nil {
			if m, err = modelconfig.HuggingFaceVision(config); err != nil {
				continue
			}
		}
		options := modelconfig.RopeOptions{SequenceLength: 64}
		for _, layer := range m.Layers() {
			if layer.FrequencyFactors != "" {
				options.FrequencyFactors = slices.Repeat([]float64{1.1}, layer.Rule.Pairs)
			}
		}
		rope := kit.Must(m.Rope(options))
		add := func(kind string, r *posenc.Rotary) {
			if r != nil && !slices.ContainsFunc(kinds[name], func(c ropecheck.Candidate) bool { return c.Name == kind }) {
				kinds[name] = append(kinds[name], ropecheck.Candidate{Name: kind, Config: r.Config()})
			}
		}
		for i, layer := range m.Layers() {
			add(layer.Kind, rope.Rotary(i))
			add("indexer", rope.Indexer(i))
		}
	}
	if len(kinds) < 200 {
		t.Errorf("%d types are read", len(kinds))
	}
	return kinds
}

// spread are positions of a configuration, [axes][tokens].
func spread(cfg *posenc.RotaryConfig, tokens int) []int32 {
	var list []int32
	for a := range axesOf(cfg) {
		for i, p := range positionsOf(tokens) {
			if a > 0 { // the others in another order
				p = int32(i*(5+2*a)%tokens) + int32(a)
			}
			list = append(list, p)
		}
	}
	return list
}

// TestFamilies rotates by the configuration of every kind of layer of every model type. The
// check finds it among the kinds of its model, and what it was without them.
func TestFamilies(t *testing.T) {
	kinds := kindsOf(t)
	var done []posenc.RotaryConfig
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		for _, kind := range kinds[name] {
			cfg := kind.Config
			if slices.ContainsFunc(done, func(d posenc.RotaryConfig) bool { return reflect.DeepEqual(d, cfg) }) {
				continue
			}
			done = append(done, cfg)
			if !tried(len(done)) {
				continue
			}
			t.Run(name+"/"+kind.Name, func(t *testing.T) {
				const tokens = 24
				d := rotated(cfg, spread(&cfg, tokens), 4)
				var candidates []ropecheck.Candidate
				for _, other := range kinds[name] {
					if other.Config.HeadDim == cfg.HeadDim && axesOf(&other.Config) <= axesOf(&cfg) {
						candidates = append(candidates, other)
					}
				}
				r := kit.Must(ropecheck.Check(d, candidates...))
				for i, c := range candidates {
					agrees := r.Candidates[i].Verdict == ropecheck.Agrees
					if c.Name == kind.Name && (!agrees || len(r.Candidates[i].Faults) > 0 || r.Candidates[i].Arithmetics[0].Equal != 1) {
						t.Errorf("%q does not agree", c.Name)
					}
					if c.Name != kind.Name && agrees && differ(&c.Config, &cfg) {
						t.Errorf("%q agrees, too", c.Name)
					}
				}
				if t.Failed() {
					t.Fatal(r)
				}
				r = kit.Must(ropecheck.Check(d))
				h, dim := r.Hypotheses[0], cmp.Or(cfg.RotaryDim, cfg.HeadDim)
				still := 0 // pairs at the end that do not rotate
				for still < len(cfg.InvFreq) && cfg.InvFreq[len(cfg.InvFreq)-1-still] == 0 {
					still++
				}
				if h.Layout != cfg.Layout || h.Offset != cfg.Offset || h.RotaryDim != dim && still == 0 || !h.Explains {
					t.Errorf("%v, %d elements from %d on, want %v, %d, %d", h.Layout, h.RotaryDim, h.Offset, cfg.Layout, dim, cfg.Offset)
				}
				if want := cfg.AttentionFactor; math.Abs(h.AttentionFactor*h.Scale-want) > 1e-5 {
					t.Errorf("AttentionFactor is %v, want %v", h.AttentionFactor, want)
				}
				sign, known := map[bool]float64{false: 1, true: -1}[h.Inverse], 0
				for i, f := range h.InvFreq {
					if slices.Contains(h.Unknown, i) || i >= len(cfg.InvFreq) {
						continue
					}
					known++
					// Elements of float32 have angles of 2^-24, at positions of 1000 and more.
					turns := math.Remainder(sign*f-cfg.InvFreq[i], 2*math.Pi)
					if math.Abs(turns) > 1e-6+1e-5*math.Abs(cfg.InvFreq[i]) {
						t.Errorf("InvFreq[%d] is %v, want %v", i, sign*f, cfg.InvFreq[i])
					}
				}
				if known*2 < len(cfg.InvFreq)-still {
					t.Errorf("%d of %d frequencies are known", known, len(cfg.InvFreq))
				}
				if t.Failed() {
					t.Log(cfg, r)
				}
			})
		}
	}
	t.Logf("%d configurations of %d types", len(done), len(kinds))
	if len(done) < 80 {
		t.Errorf("%d configurations, want at least 80", len(done))
	}
}

func axesOf(cfg *posenc.RotaryConfig) int {
	if cfg.Axes == nil {
		return 1
	}
	return int(slices.Max(cfg.Axes)) + 1
}

// differ reports whether two configurations rotate differently.
func differ(a, b *posenc.RotaryConfig) bool {
	return a.Layout != b.Layout || a.Offset != b.Offset || !slices.Equal(a.InvFreq, b.InvFreq) || a.AttentionFactor != b.AttentionFactor || !slices.Equal(a.Axes, b.Axes)
}

// positionsOf are neighbours, and a quarter of them far apart.
func positionsOf(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
		if i >= n*3/4 {
			list[i] = int32(1000 + 37*i)
		}
	}
	return list
}

func random(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(r.NormFloat64())
	}
	return list
}

// rotateBy rotates rows in place.
func rotateBy(x []float32, cfg posenc.RotaryConfig, positions []int32, heads int) {
	r := kit.Must(posenc.NewRotary(cfg))
	if err := posenc.Rotate(r.AtAxes(positions), posenc.View[float32]{Data: x, Heads: heads}); err != nil {
		panic(err)
	}
}

// rotated is data that posenc rotated, of random heads.
func rotated(cfg posenc.RotaryConfig, positions []int32, heads int) ropecheck.Data {
	d := ropecheck.Data{Tokens: len(positions) / axesOf(&cfg), Heads: heads, HeadDim: cfg.HeadDim, Positions: positions}
	d.Before = random(1, d.Tokens*heads*cfg.HeadDim)
	d.After = slices.Clone(d.Before)
	rotateBy(d.After, cfg, positions, heads)
	return d
}

// models are what tests rotate by.
var (
	llama  = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 500000}
	gptj   = posenc.RotaryConfig{HeadDim: 96, RotaryDim: 32, Layout: posenc.Interleaved}
	llama3 = ladder(frequency.Llama3(64, 500000, frequency.Llama3Parameters{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositions: 8192}, frequency.Exact))
	xpos   = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 500000, XPos: &posenc.XPos{ScaleBase: 512}}
	mrope  = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 1e6, Axes: kit.Must(frequency.Sections(8, 12, 12))}
)

// inverse is llama the other way.
var inverse = changed(ladder(frequency.Default(64, 500000, frequency.Exact)), func(c *posenc.RotaryConfig) {
	for i := range c.InvFreq {
		c.InvFreq[i] = -c.InvFreq[i]
	}
})

func ladder(l frequency.Ladder, err error) posenc.RotaryConfig {
	kit.Must(l, err)
	return posenc.RotaryConfig{HeadDim: 2 * len(l.InvFreq), Layout: posenc.HalfSplit, InvFreq: l.InvFreq, AttentionFactor: l.AttentionFactor}
}

// imagePositions are of text, an image and text, [3][tokens].
func imagePositions() []int32 {
	positions := make([]int32, 3*28)
	runs := []multimodal.Run{{Tokens: 4}, {Kind: multimodal.Image, Tokens: 20, Grid: multimodal.Grid{T: 1, H: 4, W: 5}}, {Tokens: 4}}
	kit.Must(multimodal.Model{Family: multimodal.Qwen2VL, MergeSize: 1}.Positions(positions, runs))
	return positions
}

// changed changes a configuration.
func changed(cfg posenc.RotaryConfig, change func(cfg *posenc.RotaryConfig)) posenc.RotaryConfig {
	change(&cfg)
	return cfg
}

func aspects(list ...ropecheck.Aspect) []ropecheck.Aspect { return list }

// tried reports whether subtest i runs.
func tried(i int) bool { return kit.Sampled(i, 6) }

// narrowed rounds to a type.
func narrowed(x []float32, kind ropecheck.ElementType) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = [...]func(float32) float32{ropecheck.Float32: func(x float32) float32 { return x }, ropecheck.Float16: f16, ropecheck.BFloat16: bf16}[kind](v)
	}
	return y
}
