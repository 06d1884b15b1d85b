package posenc_test

import (
	"errors"
	"maps"
	"math"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/testkit"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

// argumentBytes is the memory from which slices are taken.
const argumentBytes = 16 << 10

// FuzzArguments calls every function of the package with arguments of any kind:
// lengths and strides that no memory holds, nil and empty slices, slices that
// share memory or end where the memory ends, nil and zero receivers, numbers that
// are none. No call panics, touches memory beyond its slices, or allocates out of
// proportion; what returns an error has written nothing, and what succeeds
// nothing but its rows. The bits are the matter of the other targets.
func FuzzArguments(f *testing.F) {
	names := slices.Sorted(maps.Keys(argumentCalls))
	for i := range names {
		for _, shape := range []string{
			"",
			"\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08",
			"\x09\x07\x05\x08\x09\x0b\x0d\x08\x0f\x08\x09\x0a\x0b\x05\x0d\x0e\x08\x07\x09\x0b\x0d\x0f\x08\x0a\x0c\x0e\x05\x07\x09\x0b\x0d\x0f",
			"\x08\x10\x20\x03\x08\x18\x28\x05\x05\x00\x10\x20\x30\x01\x11\x21\x31\x04\x14\x24\x34\x05\x15\x25\x35\x06\x16\x26\x36\x07\x17\x27",
		} {
			f.Add(uint8(i), []byte(shape), []byte("\x00\x00\x80\x3f\x01\x00\x00\x00\x00\x00\xc0\x7f"))
		}
	}
	written, read := testkit.NewArena(f, argumentBytes), testkit.NewArena(f, argumentBytes)
	f.Fuzz(func(t *testing.T, function uint8, shape, data []byte) {
		callArguments(t, names[int(function)%len(names)], shape, data, written, read)
	})
}

// callArguments makes one call on every implementation and returns its error.
func callArguments(t *testing.T, name string, shape, data []byte, written, read []byte) error {
	t.Helper()
	if len(data) == 0 {
		data = []byte{0}
	}
	first, called := error(nil), false
	testkit.OnEach(func(impl kernels.Implementation) {
		for i := range written {
			written[i], read[i] = data[i%len(data)], data[i%len(data)]
		}
		a := &arguments{choices: slices.Clone(shape), written: pool{arena: written}, read: pool{arena: read}, most: 1 << 20}
		call := argumentCalls[name](a)
		before, beforeRead := slices.Clone(written), slices.Clone(read)
		var err error
		allocated := allocatedBytes()
		reason, functions := testkit.Fault(func() { err = call() })
		allocated = allocatedBytes() - allocated
		if reason != nil {
			t.Fatalf("%s, %s: %v in %s", name, impl, reason, functions)
		}
		if allocated > a.most {
			t.Errorf("%s, %s: %d bytes allocated, want at most %d", name, impl, allocated, a.most)
		}
		if called && (err == nil) != (first == nil) {
			t.Errorf("%s, %s: error %v, on others %v", name, impl, err, first)
		}
		first, called = err, true
		if err != nil {
			checkArgumentError(t, name, err)
		} else {
			for _, rows := range a.writes {
				rows(func(start, n int) { copy(before[start:start+n], written[start:]) })
			}
		}
		if !slices.Equal(written, before) || !slices.Equal(read, beforeRead) {
			t.Errorf("%s, %s: memory was written that is not to be; error %v", name, impl, err)
		}
	})
	return first
}

// The arguments are neither all right nor all wrong, for any function that can fail.
func TestArgumentsAreOfBothKinds(t *testing.T) {
	r := testkit.NewRand(150)
	written, read := testkit.NewArena(t, argumentBytes), testkit.NewArena(t, argumentBytes)
	for name := range argumentCalls {
		never := slices.Contains([]string{"Implementation", "Float16s", "BFloat16s", "T5Buckets.Bucket", "DeBERTaBuckets.Position"}, name)
		right, wrong := false, never
		for tries := 0; !right || !wrong; tries++ {
			if tries == 1000 {
				t.Fatalf("%s: succeeded %t, failed %t", name, right, wrong)
			}
			shape, data := make([]byte, 100), make([]byte, 32)
			for _, s := range [][]byte{shape, data} {
				for i := range s {
					s[i] = byte(r.Uint32())
				}
			}
			ok := callArguments(t, name, shape, data, written, read) == nil
			right, wrong = right || ok, wrong || !ok
		}
	}
}

// checkArgumentError checks that an error of a function is as errors.go says.
func checkArgumentError(t *testing.T, function string, err error) {
	t.Helper()
	sentinel := slices.ContainsFunc([]error{posenc.ErrConfig, posenc.ErrLength, posenc.ErrShape, posenc.ErrOverlap, posenc.ErrPosition}, func(s error) bool { return errors.Is(err, s) })
	if !sentinel || !strings.HasPrefix(err.Error(), "posenc."+function+": ") || len(err.Error()) > 1000 {
		t.Errorf("%s: the error %q", function, err)
	}
}

// allocatedBytes returns the bytes that were ever allocated. Spans of small objects
// count as a whole.
func allocatedBytes() uint64 {
	sample := [1]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}

// arguments makes the arguments of a call from the bytes of a fuzzer.
type arguments struct {
	testkit.Choices
	written pool // of what a call may write to, and of what it then says to overlap
	read    pool // of inputs of other types: only package unsafe makes them overlap
	writes  []func(mark func(start, n int))
	most    uint64 // bytes that the call may allocate
}

// pool is memory of which slices are parts.
type pool struct {
	arena []byte
	next  int   // behind the last slice
	taken []int // starts of slices
}

// take returns a slice of a pool: mostly of n elements and behind the one before,
// but also nil, longer, shorter, at either end or where another slice is.
func take[T any](a *arguments, p *pool, n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	switch a.Below(24) {
	case 0:
		return nil
	case 1:
		n--
	case 2:
		n++
	case 3:
		n = a.Next()
	case 4:
		n = 0
	}
	n = min(max(n, 0), len(p.arena)/size)
	start := (p.next + size - 1) / size * size
	switch at := a.Next(); a.Below(12) {
	case 0:
		start = 0
	case 1:
		start = len(p.arena)
	case 2:
		if len(p.taken) > 0 {
			start = p.taken[at%len(p.taken)] / size * size
		}
	case 3:
		start = max(0, start-at%9*size)
	}
	if start+n*size > len(p.arena) {
		start = (len(p.arena) - n*size) / size * size
	}
	if n == 0 && !testkit.GuardPages {
		start = 0 // not behind the end
	}
	p.next = start + n*size
	p.taken = append(p.taken, start)
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(p.arena)), start)), n)
}

// output is a slice that the call may write to as a whole.
func output[T any](a *arguments, n int) []T {
	s := take[T](a, &a.written, n)
	may(a, func(mark func(s []T)) { mark(s) })
	return s
}

// may says what the call may write to, once it has succeeded.
func may[T any](a *arguments, rows func(mark func(s []T))) {
	a.writes = append(a.writes, func(mark func(start, n int)) {
		rows(func(s []T) {
			if len(s) > 0 {
				start := uintptr(unsafe.Pointer(&s[0])) - uintptr(unsafe.Pointer(&a.written.arena[0]))
				mark(int(start), len(s)*int(unsafe.Sizeof(s[0])))
			}
		})
	})
}

// number returns one from least to most, or one that is hardly right.
func (a *arguments) number(least, most int) int {
	switch a.Below(32) {
	case 0:
		extremes := []int{math.MaxInt, math.MinInt, math.MaxInt - 1, math.MaxInt >> 1, math.MaxInt>>1 + 1, math.MaxInt >> 2, math.MaxInt32, math.MinInt32, 1 << 30, 1 << 24, 1<<16 + 2, -1}
		return extremes[a.Below(len(extremes))]
	case 1:
		return least - 1
	case 2:
		return 8 * a.Next()
	}
	return least + a.Below(most-least+1)
}

// real returns usual, or some other number.
func (a *arguments) real(usual float64) float64 {
	others := []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, 1e4, 1e-3, 0x1p-149, 0x1p100, 1e300, 1e-300, math.MaxFloat32, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	if i := a.Below(64); i < len(others) {
		return others[i]
	}
	return usual
}

func (a *arguments) yes() bool { return a.Below(2) == 1 }

// positions returns those of n tokens, mostly ones that tables have.
func (a *arguments) positions(p *pool, n int) []int32 {
	s := take[int32](a, p, n)
	if a.Below(8) > 0 {
		first, step := a.Below(12), a.Below(3)
		for i := range s {
			s[i] = int32(first + i*step)
		}
		if len(s) > 0 && a.Below(8) == 0 {
			s[a.Next()%len(s)] = []int32{math.MinInt32, math.MaxInt32, -1, 1 << 30}[a.Below(4)]
		}
	}
	return s
}

// config returns the configuration of a few pairs, of which some field may be
// anything.
func (a *arguments) config() posenc.RotaryConfig {
	cfg := a.Geometry()
	pairs := cfg.RotaryDim / 2
	cfg.Angles = posenc.AngleRounding(a.Below(2))
	cfg.InvFreq = testkit.LadderOf(pairs)
	switch a.Below(6) {
	case 0:
		cfg.Axes = take[uint8](a, &a.read, pairs)
		for i := range cfg.Axes {
			cfg.Axes[i] %= 4
		}
	case 1:
		cfg.XPos = &posenc.XPos{ScaleBase: a.real(512), Center: int32(a.number(-9, 9)), Keys: a.yes()}
	case 2:
		cfg.InvFreq = nil
	}
	switch a.Below(16) {
	case 0:
		cfg.HeadDim = a.number(1, 80)
	case 1:
		cfg.RotaryDim = a.number(0, 80)
	case 2:
		cfg.Offset = a.number(0, 80)
	case 3:
		cfg.Layout = posenc.Layout(a.Next())
	case 4:
		cfg.Base = a.real(1e4)
	case 5:
		cfg.InvFreq = take[float64](a, &a.read, pairs)
	case 6:
		cfg.Scaling = a.real(1.5)
	case 7:
		cfg.Angles = posenc.AngleRounding(a.Next())
	case 8:
		cfg.Axes = take[uint8](a, &a.read, pairs)
	}
	return cfg
}

// tableFor returns a table for cfg, in memory that may be written to.
func tableFor[C posenc.Element](a *arguments, cfg posenc.RotaryConfig) (posenc.RotaryConfig, posenc.Table[C]) {
	cfg = posenc.RotaryConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: cfg.Layout}
	t := posenc.Table[C]{FullWidth: a.yes()}
	width := cfg.RotaryDim / 2
	if t.FullWidth {
		width = cfg.RotaryDim
	}
	rows := a.Below(12)
	if a.yes() {
		t.Stride = a.number(width, 2*width+3)
		n := testkit.Small(max(rows-1, 0), t.Stride) + testkit.Small(width)
		t.Cos, t.Sin = take[C](a, &a.written, n), take[C](a, &a.written, n)
	} else {
		t.Cos, t.Sin = take[C](a, &a.written, testkit.Small(rows, width)), take[C](a, &a.written, testkit.Small(rows, width))
	}
	return cfg, t
}

// rotary returns a Rotary of any kind, also nil and zero ones, and the elements of
// its heads.
func (a *arguments) rotary() (*posenc.Rotary, int) {
	cfg := a.config()
	var r *posenc.Rotary
	switch a.Below(16) {
	case 0:
		return nil, 4
	case 1:
		return new(posenc.Rotary), 4
	case 2:
		r, _ = posenc.NewTableRotary(tableFor[float32](a, cfg))
	case 3:
		r, _ = posenc.NewTableRotary(tableFor[posenc.Float16](a, cfg))
	case 4:
		r, _ = posenc.NewTableRotary(tableFor[posenc.BFloat16](a, cfg))
	case 5, 6, 7:
		if r, _ = posenc.NewRotary(cfg); r != nil {
			r, _ = r.Tabulate(a.positions(&a.read, r.axisCount*a.Below(12)))
		}
		for r != nil && a.yes() {
			r, _ = r.Extend(a.positions(&a.read, r.table.source.axisCount*a.Below(12)))
		}
	default:
		r, _ = posenc.NewRotary(cfg)
	}
	if r == nil {
		return nil, 4
	}
	return r, r.headDim
}

// tokens returns positions for r, nil ones too, and of how many tokens they are.
func (a *arguments) tokens(r *posenc.Rotary) ([]int32, int) {
	axes := 1
	if r != nil {
		axes = max(r.axisCount, 1)
	}
	var positions []int32
	n := a.Below(20)
	if a.Below(4) > 0 {
		positions = a.positions(&a.read, n*axes)
	}
	if r != nil && r.table != nil && positions == nil {
		return nil, r.table.count
	}
	return positions, len(positions) / axes
}

// view returns a view of any shape.
func view[T posenc.Element](a *arguments, tokens, dim int) posenc.View[T] {
	tokens, dim = testkit.Small(tokens), testkit.Small(dim)
	var v posenc.View[T]
	length := 0
	if a.Below(3) == 0 {
		v, _, length = testkit.ChosenView[T](&a.choices, min(tokens, 64), dim)
	} else {
		v = testkit.RandomShape[T](testkit.NewRand(uint64(a.Next())), tokens, a.number(1, 4), dim)
		if v.Heads > 0 && v.Heads < 200 && v.TokenStride >= 0 && v.HeadStride >= 0 && v.SequenceStride >= 0 {
			length = testkit.ReachOf(&v, min(tokens, 64), dim)
		}
	}
	switch a.Below(24) {
	case 0:
		v.Heads = a.number(1, 9)
	case 1:
		v.TokenStride = a.number(0, 200)
	case 2:
		v.HeadStride = a.number(0, 200)
	case 3:
		v.SequenceStride = a.number(0, 200)
	case 4:
		v.SequenceTokens = a.number(0, 9)
	}
	v.Data = take[T](a, &a.written, length)
	return v
}

// outputView is a view whose rows the call may write to.
func outputView[T posenc.Element](a *arguments, tokens, dim int) posenc.View[T] {
	v := view[T](a, tokens, dim)
	may(a, func(mark func(s []T)) {
		for t := range tokens {
			for h := range v.Heads {
				mark(v.Data[testkit.RowAt(&v, t, h, dim):][:dim])
			}
		}
	})
	return v
}

// outputViews are up to three views of the same tokens.
func outputViews[T posenc.Element](a *arguments, tokens, dim int) []posenc.View[T] {
	var xs []posenc.View[T]
	for range a.Below(4) {
		xs = append(xs, outputView[T](a, tokens, dim))
	}
	return xs
}

// scores returns a tile, of which the call may write the rows.
func (a *arguments) scores() relative.Scores {
	s := relative.Scores{Heads: a.number(1, 3), Queries: a.number(0, 5), Keys: a.number(0, 40), FirstHead: a.number(0, 2), FirstQuery: a.number(0, 8), FirstKey: a.number(0, 8)}
	if a.yes() {
		s.QueryStride = a.number(0, 60)
	}
	if a.yes() {
		s.HeadStride = a.number(0, 300)
	}
	row, head := s.QueryStride, s.HeadStride
	if row == 0 {
		row = s.Keys
	}
	if head == 0 {
		head = testkit.Small(s.Queries, row)
	}
	need := testkit.Small(max(s.Heads-1, 0), head) + testkit.Small(max(s.Queries-1, 0), row) + testkit.Small(s.Keys)
	if s.QueryStride == 0 && s.HeadStride == 0 {
		need = testkit.Small(s.Heads, s.Queries, s.Keys)
	}
	s.Data = take[float32](a, &a.written, need)
	return s
}

func (a *arguments) outputScores() relative.Scores {
	s := a.scores()
	may(a, func(mark func(s []float32)) {
		if s.Queries == 0 || s.Keys == 0 {
			return
		}
		row, head := s.QueryStride, s.HeadStride
		if row == 0 {
			row = s.Keys
		}
		if head == 0 {
			head = s.Queries * row
		}
		for h := range s.Heads {
			for q := range s.Queries {
				mark(s.Data[h*head+q*row:][:s.Keys])
			}
		}
	})
	return s
}

// products returns those of a tile.
func (a *arguments) products(heads, rows, columns int) relative.Products {
	var p relative.Products
	if a.yes() {
		p.RowStride = a.number(0, 100)
	}
	if a.yes() {
		p.HeadStride = a.number(0, 300)
	}
	row, head := p.RowStride, p.HeadStride
	if row == 0 {
		row = columns
	}
	if head == 0 {
		head = testkit.Small(rows, row)
	}
	need := testkit.Small(max(heads-1, 0), head) + testkit.Small(max(rows-1, 0), row) + testkit.Small(columns)
	if p.RowStride == 0 && p.HeadStride == 0 {
		need = testkit.Small(heads, rows, columns)
	}
	p.Data = take[float32](a, &a.written, need)
	return p
}

// relative returns rows that shape makes, and vectors for them.
func (a *arguments) relative(shape func(a *arguments, tokens, dim int) posenc.View[float32]) (x, vectors posenc.View[float32], tokens, columns, dim int) {
	tokens, columns, dim = a.number(0, 5), a.number(1, 12), a.number(1, 40)
	x, vectors = shape(a, tokens, dim), view[float32](a, columns, dim)
	if a.yes() {
		vectors = posenc.View[float32]{Data: take[float32](a, &a.written, testkit.Small(columns, dim)), Heads: 1}
	}
	return x, vectors, tokens, columns, dim
}

// sinusoidal returns an encoding of any kind, nil and zero ones too, and what its
// rows and axes count.
func (a *arguments) sinusoidal() (s *absolute.Sinusoidal, dim, axes int) {
	switch a.Below(8) {
	case 0:
		return nil, 4, 1
	case 1:
		return new(absolute.Sinusoidal), 4, 1
	}
	s, _ = absolute.NewSinusoidal(a.sinusoidalConfig())
	if s == nil {
		return nil, 4, 1
	}
	return s, s.dim, s.axes
}

func (a *arguments) sinusoidalConfig() absolute.SinusoidalConfig {
	pairs := a.Below(40)
	cfg := absolute.SinusoidalConfig{InvFreq: testkit.LadderOf(pairs), Order: absolute.SinusoidalOrder(a.Below(4)), Axes: a.number(0, 3), Scaling: a.real(1)}
	cfg.Dim = a.number(2*testkit.Small(max(cfg.Axes, 1), pairs), 2*testkit.Small(max(cfg.Axes, 1), pairs)+3)
	if a.Below(8) == 0 {
		cfg.InvFreq = take[float64](a, &a.read, pairs)
	}
	if a.yes() {
		cfg.Padding = new(int32)
	}
	return cfg
}

// oneType calls the one of three that the fuzzer chooses.
func oneType(a *arguments, float32s, float16s, bfloat16s func(*arguments) func() error) func() error {
	return []func(*arguments) func() error{float32s, float16s, bfloat16s}[a.Below(3)](a)
}

// made checks what a constructor returns: a value or an error.
func made[T any](value *T, err error) error {
	if (value == nil) != (err != nil) {
		panic("a value and an error, or neither")
	}
	return err
}

// constructor says that a call makes a value of a few MiB at most.
func (a *arguments) constructor() { a.most = 16 << 20 }

// argumentCalls makes a call of each function of the package. Where arguments
// depend on each other they mostly fit.
var argumentCalls = map[string]func(a *arguments) func() error{
	"Implementation": func(*arguments) func() error {
		return func() error { posenc.Implementation(); return nil }
	},
	"Float16s": func(a *arguments) func() error {
		bits := take[uint16](a, &a.read, 20)
		return func() error { return sameLength(bits, len(posenc.Float16s(bits))) }
	},
	"BFloat16s": func(a *arguments) func() error {
		bits := take[uint16](a, &a.read, 20)
		return func() error { return sameLength(bits, len(posenc.BFloat16s(bits))) }
	},

	// The rotary embedding.
	"NewRotary": func(a *arguments) func() error {
		cfg := a.config()
		a.constructor()
		return func() error { return made(posenc.NewRotary(cfg)) }
	},
	"NewTableRotary": func(a *arguments) func() error {
		return oneType(a, newTableRotaryCall[float32], newTableRotaryCall[posenc.Float16], newTableRotaryCall[posenc.BFloat16])
	},
	"Rotary.Tabulate": func(a *arguments) func() error {
		r, _ := a.rotary()
		positions, _ := a.tokens(r)
		a.constructor()
		return func() error { return made(r.Tabulate(positions)) }
	},
	"Rotary.Extend": func(a *arguments) func() error {
		r, _ := a.rotary()
		positions, _ := a.tokens(r)
		a.constructor()
		return func() error { return made(r.Extend(positions)) }
	},
	"Rotary.CosSin": func(a *arguments) func() error {
		r, _ := a.rotary()
		positions, tokens := a.tokens(r)
		n := 5
		if r != nil {
			n = testkit.Small(tokens, r.rotaryDim/2)
		}
		cos, sin := output[float32](a, n), output[float32](a, n)
		return func() error { return r.CosSin(cos, sin, positions) }
	},
	"Rotary.CosSinFractional": func(a *arguments) func() error {
		r, _ := a.rotary()
		n, axes, tokens := 5, 1, a.Below(20)
		if r != nil {
			n, axes = testkit.Small(tokens, r.rotaryDim/2), r.axisCount
		}
		positions := take[float32](a, &a.written, axes*tokens)
		if a.Below(4) > 0 {
			for i := range positions {
				positions[i] = float32(i) / 4
			}
		}
		cos, sin := output[float32](a, n), output[float32](a, n)
		return func() error { return r.CosSinFractional(cos, sin, positions) }
	},
	"CosSin": func(a *arguments) func() error {
		tokens, pairs := a.Below(20), a.Below(80)
		positions := a.positions(&a.read, tokens)
		invFreq := take[float64](a, &a.read, pairs)
		if a.Below(4) > 0 {
			copy(invFreq, testkit.LadderOf(pairs))
		}
		cos, sin := output[float32](a, tokens*pairs), output[float32](a, tokens*pairs)
		return func() error { return posenc.CosSin(cos, sin, positions, invFreq) }
	},
	"CosSinAngles": func(a *arguments) func() error {
		n := a.Below(100)
		angles := take[float32](a, &a.written, n)
		cos, sin := output[float32](a, n), output[float32](a, n)
		return func() error { return posenc.CosSinAngles(cos, sin, angles) }
	},
	"Rotate": func(a *arguments) func() error {
		return oneType(a, rotateCall[float32](posenc.Rotate), rotateCall[posenc.Float16](posenc.Rotate), rotateCall[posenc.BFloat16](posenc.Rotate))
	},
	"RotateInverse": func(a *arguments) func() error {
		return oneType(a, rotateCall[float32](posenc.RotateInverse), rotateCall[posenc.Float16](posenc.RotateInverse), rotateCall[posenc.BFloat16](posenc.RotateInverse))
	},
	"Shift": func(a *arguments) func() error {
		return oneType(a, shiftCall[float32], shiftCall[posenc.Float16], shiftCall[posenc.BFloat16])
	},
	"RotateInto": func(a *arguments) func() error {
		return []func(*arguments) func() error{
			rotateIntoCall[float32, float32], rotateIntoCall[float32, posenc.Float16], rotateIntoCall[float32, posenc.BFloat16],
			rotateIntoCall[posenc.Float16, float32], rotateIntoCall[posenc.Float16, posenc.Float16], rotateIntoCall[posenc.Float16, posenc.BFloat16],
			rotateIntoCall[posenc.BFloat16, float32], rotateIntoCall[posenc.BFloat16, posenc.Float16], rotateIntoCall[posenc.BFloat16, posenc.BFloat16],
		}[a.Below(9)](a)
	},
	"RotateFused": func(a *arguments) func() error {
		return oneType(a, rotateFusedCall[float32], rotateFusedCall[posenc.Float16], rotateFusedCall[posenc.BFloat16])
	},
	"NewRMSNorm": func(a *arguments) func() error {
		weight := take[float32](a, &a.written, a.Next())
		epsilon, unitOffset := float32(a.real(1e-6)), a.yes()
		return func() error { return made(posenc.NewRMSNorm(weight, epsilon, unitOffset)) }
	},
	"Normalize": func(a *arguments) func() error {
		return oneType(a, normalizeCall[float32], normalizeCall[posenc.Float16], normalizeCall[posenc.BFloat16])
	},
	"Scale": func(a *arguments) func() error {
		return oneType(a, scaleCall[float32], scaleCall[posenc.Float16], scaleCall[posenc.BFloat16])
	},
	"QueryScales": func(a *arguments) func() error {
		n := a.Below(40)
		positions := a.positions(&a.read, n)
		scales := output[float32](a, n)
		beta, length, offset := a.real(0.1), a.number(1, 9), a.number(0, 9)
		return func() error { return posenc.QueryScales(scales, positions, beta, length, offset) }
	},
	"RaggedPositions": func(a *arguments) func() error {
		sequences, tokens := a.Below(9), 0
		starts := take[int32](a, &a.written, sequences+1)
		if a.Below(8) > 0 {
			for i := range starts {
				starts[i] = int32(tokens)
				if i+1 < len(starts) {
					tokens += a.Below(20)
				}
			}
		}
		var offsets []int32
		if a.yes() {
			offsets = a.positions(&a.written, sequences)
		}
		positions := output[int32](a, tokens)
		return func() error { return posenc.RaggedPositions(positions, starts, offsets) }
	},
	"DualChunk.KeyPositions": func(a *arguments) func() error {
		d, positions, results := a.dualChunk()
		return func() error { return d.KeyPositions(results, positions) }
	},
	"DualChunk.QueryPositions": func(a *arguments) func() error {
		d, positions, results := a.dualChunk()
		which := posenc.DualChunkQuery(a.Below(6))
		return func() error { return d.QueryPositions(results, positions, which) }
	},
	"PermuteWeights": func(a *arguments) func() error {
		return []func(*arguments) func() error{permuteCall[float32], permuteCall[uint16], permuteCall[byte], permuteCall[[3]byte], permuteCall[struct{}]}[a.Below(5)](a)
	},

	// Encodings that are added.
	"NewSinusoidal": func(a *arguments) func() error {
		cfg := a.sinusoidalConfig()
		a.constructor()
		return func() error { return made(absolute.NewSinusoidal(cfg)) }
	},
	"SinusoidalVaswani":  dimCall(absolute.SinusoidalVaswani),
	"SinusoidalMarian":   dimCall(absolute.SinusoidalMarian),
	"SinusoidalWhisper":  dimCall(absolute.SinusoidalWhisper),
	"SinusoidalMusicGen": dimCall(absolute.SinusoidalMusicGen),
	"SinusoidalMAE":      dimCall(absolute.SinusoidalMAE),
	"SinusoidalFairseq": func(a *arguments) func() error {
		padding := int32(a.number(0, 2))
		return dimCall(func(dim int) (*absolute.Sinusoidal, error) { return absolute.SinusoidalFairseq(dim, padding) })(a)
	},
	"SinusoidalDETR": func(a *arguments) func() error {
		temperature := a.real(1e4)
		return dimCall(func(features int) (*absolute.Sinusoidal, error) {
			return absolute.SinusoidalDETR(features, temperature)
		})(a)
	},
	"SinusoidalMLX": func(a *arguments) func() error {
		least, most, scale, cosFirst := a.real(1e-4), a.real(1), a.real(0), a.yes()
		return dimCall(func(dim int) (*absolute.Sinusoidal, error) {
			return absolute.SinusoidalMLX(dim, least, most, scale, cosFirst)
		})(a)
	},
	"SinusoidalTensor2Tensor": func(a *arguments) func() error {
		axes, least, most := a.number(1, 4), a.real(1), a.real(1e4)
		return dimCall(func(dim int) (*absolute.Sinusoidal, error) {
			return absolute.SinusoidalTensor2Tensor(dim, axes, least, most)
		})(a)
	},
	"SinusoidalTimesteps": func(a *arguments) func() error {
		p := absolute.Timesteps{FlipSinToCos: a.yes(), DownscaleFreqShift: a.real(1), Scale: a.real(0), MaxPeriod: a.real(0)}
		return dimCall(func(dim int) (*absolute.Sinusoidal, error) { return absolute.SinusoidalTimesteps(dim, p) })(a)
	},
	"SinusoidalRows": func(a *arguments) func() error {
		if a.yes() {
			return oneType(a, sinusoidalRowsCall[float32, int32], sinusoidalRowsCall[posenc.Float16, int32], sinusoidalRowsCall[posenc.BFloat16, int32])
		}
		return oneType(a, sinusoidalRowsCall[float32, float32], sinusoidalRowsCall[posenc.Float16, float32], sinusoidalRowsCall[posenc.BFloat16, float32])
	},
	"AddSinusoidal": func(a *arguments) func() error {
		if a.yes() {
			return oneType(a, addSinusoidalCall[float32, int32], addSinusoidalCall[posenc.Float16, int32], addSinusoidalCall[posenc.BFloat16, int32])
		}
		return oneType(a, addSinusoidalCall[float32, float32], addSinusoidalCall[posenc.Float16, float32], addSinusoidalCall[posenc.BFloat16, float32])
	},
	"SinusoidalRows64": func(a *arguments) func() error {
		a.most = 16 << 20 // big.Float, for each pair
		if a.yes() {
			return sinusoidalRows64Call[int32](a)
		}
		return sinusoidalRows64Call[float32](a)
	},
	"Sinusoidal.Shift": func(a *arguments) func() error {
		s, dim, axes := a.sinusoidal()
		tokens := a.Below(5)
		deltas := a.positions(&a.written, tokens*axes)
		rows := output[float32](a, tokens*dim)
		return func() error { return s.Shift(rows, deltas) }
	},
	"Sinusoidal.ShiftMatrix": func(a *arguments) func() error {
		s, dim, axes := a.sinusoidal()
		deltas := a.positions(&a.written, axes)
		matrix := output[float32](a, testkit.Small(dim, dim))
		return func() error { return s.ShiftMatrix(matrix, deltas) }
	},
	"PaddedPositions": func(a *arguments) func() error {
		n := a.Below(60)
		mask := a.mask(n)
		positions, padding := output[int32](a, n), int32(a.number(0, 2))
		return func() error { return absolute.PaddedPositions(positions, mask, padding) }
	},
	"DescendingPositions": func(a *arguments) func() error {
		positions, limit := output[int32](a, a.Below(60)), int32(a.number(0, 9))
		return func() error { return relative.DescendingPositions(positions, limit) }
	},
	"XLNetPositions": func(a *arguments) func() error {
		positions, keys, limit, backward := output[int32](a, a.Below(60)), a.number(0, 60), int32(a.number(0, 9)), a.yes()
		return func() error { return relative.XLNetPositions(positions, keys, limit, backward) }
	},
	"DETRPositions": func(a *arguments) func() error {
		height, width, scale, offset := a.number(1, 9), a.number(1, 9), a.real(2*math.Pi), a.real(0.5)
		var mask []bool
		if a.yes() {
			mask = a.mask(testkit.Small(height, width))
		}
		positions := output[float32](a, testkit.Small(2, height, width))
		return func() error { return absolute.DETRPositions(positions, mask, height, width, scale, offset) }
	},
	"AddEmbeddings": func(a *arguments) func() error {
		switch a.Below(3) {
		case 0:
			return oneType(a, addEmbeddingsCall[float32, float32], addEmbeddingsCall[posenc.Float16, float32], addEmbeddingsCall[posenc.BFloat16, float32])
		case 1:
			return oneType(a, addEmbeddingsCall[float32, posenc.Float16], addEmbeddingsCall[posenc.Float16, posenc.Float16], addEmbeddingsCall[posenc.BFloat16, posenc.Float16])
		}
		return oneType(a, addEmbeddingsCall[float32, posenc.BFloat16], addEmbeddingsCall[posenc.Float16, posenc.BFloat16], addEmbeddingsCall[posenc.BFloat16, posenc.BFloat16])
	},
	"InterpolateTable": func(a *arguments) func() error {
		dim := a.number(1, 9)
		src, dst := take[float32](a, &a.written, testkit.Small(dim, a.Below(20))), output[float32](a, testkit.Small(dim, a.Below(20)))
		return func() error { return absolute.InterpolateTable(dst, src, dim) }
	},
	"InterpolateGrid": func(a *arguments) func() error {
		antialias := a.yes()
		dim, height, width, fromHeight, fromWidth := a.number(1, 9), a.number(1, 9), a.number(1, 9), a.number(1, 9), a.number(1, 9)
		src, dst := take[float32](a, &a.written, testkit.Small(dim, fromHeight, fromWidth)), output[float32](a, testkit.Small(dim, height, width))
		return func() error {
			return absolute.InterpolateGrid(dst, height, width, src, fromHeight, fromWidth, dim, antialias)
		}
	},

	// Relative encodings.
	"ALiBiSlopes": func(a *arguments) func() error {
		slopes, maxBias := output[float32](a, a.Below(40)), a.real(8)
		return func() error { return relative.ALiBiSlopes(slopes, maxBias) }
	},
	"AddALiBi": func(a *arguments) func() error {
		s := a.outputScores()
		slopes, form := take[float32](a, &a.written, 5), relative.ALiBiForm(a.Below(4))
		return func() error { return relative.AddALiBi(s, slopes, form) }
	},
	"NewT5Buckets": func(a *arguments) func() error {
		buckets, maxDistance, bidirectional := a.number(2, 40), a.number(1, 300), a.yes()
		a.constructor()
		return func() error { return made(relative.NewT5Buckets(buckets, maxDistance, bidirectional)) }
	},
	"T5Buckets.Bucket": func(a *arguments) func() error {
		b, buckets := a.t5()
		distance := a.number(-300, 300)
		return func() error { return within(b.Bucket(distance), buckets) }
	},
	"NewT5Bias": func(a *arguments) func() error {
		b, buckets := a.t5()
		weights := take[float32](a, &a.written, testkit.Small(5, buckets))
		a.constructor()
		return func() error { return made(relative.NewT5Bias(b, weights)) }
	},
	"AddT5": func(a *arguments) func() error {
		s := a.outputScores()
		b, buckets := a.t5()
		bias, err := relative.NewT5Bias(b, make([]float32, 5*buckets))
		if err != nil && a.yes() {
			bias = new(relative.T5Bias)
		}
		return func() error { return relative.AddT5(s, bias) }
	},
	"NewDeBERTaBuckets": func(a *arguments) func() error {
		buckets, maxPosition := a.number(0, 40), a.number(1, 300)
		a.constructor()
		return func() error { return made(relative.NewDeBERTaBuckets(buckets, maxPosition)) }
	},
	"DeBERTaBuckets.Position": func(a *arguments) func() error {
		b, positions := a.deberta()
		distance := a.number(-300, 300)
		return func() error { return within(b.Position(distance), positions) }
	},
	"AddDeBERTa": func(a *arguments) func() error {
		b, positions := a.deberta()
		s := a.outputScores()
		c2p, p2c := a.products(s.Heads, s.Queries, positions), a.products(s.Heads, s.Keys, positions)
		scale := float32(a.real(3))
		return func() error { return relative.AddDeBERTa(s, b, c2p, p2c, scale) }
	},
	"AddRelativeShift": func(a *arguments) func() error {
		s := a.outputScores()
		columns, first := a.number(40, 60), a.number(8, 20)
		products := a.products(s.Heads, s.Queries, columns)
		return func() error { return relative.AddRelativeShift(s, products, columns, first) }
	},
	"AddShaw": func(a *arguments) func() error {
		s, maxDistance := a.outputScores(), a.number(0, 20)
		products := a.products(s.Heads, s.Queries, testkit.Small(2, maxDistance)+1)
		return func() error { return relative.AddShaw(s, products, maxDistance) }
	},
	"SumShaw": func(a *arguments) func() error {
		weights, maxDistance := a.scores(), a.number(0, 20)
		columns := testkit.Small(2, maxDistance) + 1
		sums := a.products(weights.Heads, weights.Queries, columns)
		may(a, func(mark func(s []float32)) {
			row, head := sums.RowStride, sums.HeadStride
			if row == 0 {
				row = columns
			}
			if head == 0 {
				head = weights.Queries * row
			}
			if weights.Keys == 0 {
				return
			}
			for h := range weights.Heads {
				for q := range weights.Queries {
					mark(sums.Data[h*head+q*row:][:columns])
				}
			}
		})
		return func() error { return relative.SumShaw(sums, weights, maxDistance) }
	},
	"RelativeProducts": func(a *arguments) func() error {
		x, vectors, tokens, columns, dim := a.relative(view[float32])
		products := a.products(x.Heads, tokens, columns)
		var bias []float32
		if a.yes() {
			bias = take[float32](a, &a.written, testkit.Small(x.Heads, dim))
		}
		may(a, func(mark func(s []float32)) {
			for h := range x.Heads {
				for t := range tokens {
					mark(products.Data[testkit.ProductAt(&products, tokens, columns, h, t, 0):][:columns])
				}
			}
		})
		return func() error { return relative.RelativeProducts(products, x, bias, vectors, tokens, columns, dim) }
	},
	"AddRelativeValues": func(a *arguments) func() error {
		out, vectors, tokens, columns, dim := a.relative(outputView[float32])
		sums := a.products(out.Heads, tokens, columns)
		return func() error { return relative.AddRelativeValues(out, sums, vectors, tokens, columns, dim) }
	},
	"NewSwinBias": func(a *arguments) func() error {
		height, width := a.number(6, 9), a.number(6, 9)
		table := take[float32](a, &a.written, testkit.Small(5, max(2*testkit.Small(height)-1, 0), max(2*testkit.Small(width)-1, 0)))
		a.constructor()
		return func() error { return made(relative.NewSwinBias(height, width, table)) }
	},
	"SwinCoordinates": func(a *arguments) func() error {
		height, width := a.number(1, 9), a.number(1, 9)
		pretrainedHeight, pretrainedWidth := a.number(2, 20), a.number(2, 20)
		if a.yes() {
			pretrainedHeight, pretrainedWidth = 0, 0
		}
		dst := output[float32](a, testkit.Small(2, max(2*testkit.Small(height)-1, 0), max(2*testkit.Small(width)-1, 0)))
		return func() error { return relative.SwinCoordinates(dst, height, width, pretrainedHeight, pretrainedWidth) }
	},
	"AddSwin": func(a *arguments) func() error {
		s := a.outputScores()
		var bias *relative.SwinBias
		switch height, width := 1+a.Below(9), 1+a.Below(9); a.Below(8) {
		case 0:
		case 1:
			bias = new(relative.SwinBias)
		default:
			var err error
			if bias, err = relative.NewSwinBias(height, width, make([]float32, 5*(2*height-1)*(2*width-1))); err != nil {
				panic(err)
			}
		}
		return func() error { return relative.AddSwin(s, bias) }
	},
}

func sameLength(bits []uint16, n int) error {
	if n != len(bits) {
		panic("another length")
	}
	return nil
}

func within(n, most int) error {
	if n < 0 || n >= max(most, 1) {
		panic("a number out of range")
	}
	return nil
}

func newTableRotaryCall[C posenc.Element](a *arguments) func() error {
	given := a.config()
	cfg, t := tableFor[C](a, given)
	if a.Below(8) == 0 {
		cfg = given
	}
	return func() error { return made(posenc.NewTableRotary(cfg, t)) }
}

func rotateCall[T posenc.Element](rotate func(*posenc.Rotary, []int32, ...posenc.View[T]) error) func(*arguments) func() error {
	return func(a *arguments) func() error {
		r, dim := a.rotary()
		positions, tokens := a.tokens(r)
		xs := outputViews[T](a, tokens, dim)
		return func() error { return rotate(r, positions, xs...) }
	}
}

func shiftCall[T posenc.Element](a *arguments) func() error {
	r, dim := a.rotary()
	axes := 1
	switch {
	case r != nil && r.table != nil && r.table.source != nil:
		axes = r.table.source.axisCount
	case r != nil:
		axes = r.axisCount
	}
	tokens := a.Below(20)
	deltas := a.positions(&a.read, tokens*axes)
	xs := outputViews[T](a, len(deltas)/max(axes, 1), dim)
	return func() error { return posenc.Shift(r, deltas, xs...) }
}

func rotateIntoCall[D, S posenc.Element](a *arguments) func() error {
	r, dim := a.rotary()
	positions, tokens := a.tokens(r)
	reach := tokens
	var slots []int32
	if a.yes() {
		slots = take[int32](a, &a.read, tokens)
		for i := range slots {
			slots[i] = int32(a.number(-1, 30))
			if n := int(slots[i]); n < 1000 {
				reach = max(reach, n+1)
			}
		}
	}
	dst, src := view[D](a, reach, dim), view[S](a, tokens, dim)
	if a.Below(8) > 0 {
		dst.Heads = src.Heads
	}
	may(a, func(mark func(s []D)) {
		for t := range tokens {
			if slots != nil {
				t = int(slots[t])
			}
			for h := range dst.Heads {
				if t >= 0 {
					mark(dst.Data[testkit.RowAt(&dst, t, h, dim):][:dim])
				}
			}
		}
	})
	return func() error { return posenc.RotateInto(r.At(positions), dst, slots, src) }
}

func rotateFusedCall[T posenc.Element](a *arguments) func() error {
	r, dim := a.rotary()
	positions, tokens := a.tokens(r)
	var xs []posenc.FusedView[T]
	for _, v := range outputViews[T](a, tokens, dim) {
		x := posenc.FusedView[T]{View: v}
		switch a.Below(6) {
		case 0:
			x.Norm = new(posenc.RMSNorm)
		case 1, 2:
			n := dim
			if a.yes() {
				n = testkit.Small(v.Heads, dim)
			}
			x.Norm, _ = posenc.NewRMSNorm(take[float32](a, &a.read, n), 1e-6, a.yes())
		}
		if a.yes() {
			x.Scale = take[float32](a, &a.written, tokens)
		}
		xs = append(xs, x)
	}
	return func() error { return posenc.RotateFused(r.At(positions), xs...) }
}

func normalizeCall[T posenc.Element](a *arguments) func() error {
	var norm *posenc.RMSNorm
	dim := 1 + a.Below(70)
	switch a.Below(8) {
	case 0:
	case 1:
		norm = new(posenc.RMSNorm)
	default:
		norm, _ = posenc.NewRMSNorm(make([]float32, dim), 1e-6, a.yes())
	}
	tokens := a.number(0, 9)
	xs := outputViews[T](a, tokens, dim)
	if tokens < 0 || len(xs) == 0 {
		a.writes = nil
	}
	return func() error { return posenc.Normalize(norm, tokens, xs...) }
}

func scaleCall[T posenc.Element](a *arguments) func() error {
	factors, dim := take[float32](a, &a.written, a.Below(9)), a.number(1, 70)
	xs := outputViews[T](a, len(factors), dim)
	return func() error { return posenc.Scale(factors, dim, xs...) }
}

func (a *arguments) dualChunk() (d posenc.DualChunk, positions, results []int32) {
	d = posenc.DualChunk{ChunkSize: int32(a.number(1, 40)), LocalSize: int32(a.number(0, 4))}
	n := a.Below(40)
	return d, a.positions(&a.written, n), output[int32](a, n)
}

func permuteCall[T any](a *arguments) func() error {
	p := posenc.Permutation{Heads: a.number(1, 4), HeadDim: a.number(2, 20), RotaryDim: a.number(0, 4) &^ 1, Offset: a.number(0, 3), Layout: posenc.Layout(a.Below(4)), RowSize: a.number(0, 5)}
	n := testkit.Small(p.Heads, p.HeadDim, max(p.RowSize, 1))
	if unsafe.Sizeof(*new(T)) == 0 { // no memory, however many
		rows, _ := argument.Multiply(max(p.Heads, 0), max(p.HeadDim, 0))
		n, ok := argument.Multiply(max(rows, 0), max(p.RowSize, 1))
		if !ok {
			n = 0
		}
		dst, src := make([]T, n), make([]T, n)
		return func() error { return posenc.PermuteWeights(dst, src, p) }
	}
	src := take[T](a, &a.written, n)
	dst := output[T](a, n)
	if a.Below(4) == 0 {
		dst = src
		may(a, func(mark func(s []T)) { mark(dst) })
	}
	return func() error { return posenc.PermuteWeights(dst, src, p) }
}

func dimCall(make func(int) (*absolute.Sinusoidal, error)) func(*arguments) func() error {
	return func(a *arguments) func() error {
		dim := a.number(2, 90)
		a.constructor()
		return func() error { return made(make(dim)) }
	}
}

// encoded returns the positions of an encoding and how many tokens they are.
func encoded[P absolute.Position](a *arguments, axes int) ([]P, int) {
	tokens := a.Below(40)
	positions := take[P](a, &a.written, tokens*axes)
	if a.Below(4) > 0 {
		for i := range positions {
			positions[i] = P(i)
		}
	}
	return positions, tokens
}

func sinusoidalRowsCall[T posenc.Element, P absolute.Position](a *arguments) func() error {
	s, dim, axes := a.sinusoidal()
	positions, tokens := encoded[P](a, axes)
	dst := output[T](a, testkit.Small(tokens, dim))
	return func() error { return absolute.SinusoidalRows(s, positions, dst) }
}

func addSinusoidalCall[T posenc.Element, P absolute.Position](a *arguments) func() error {
	s, dim, axes := a.sinusoidal()
	positions, tokens := encoded[P](a, axes)
	x, scale := output[T](a, testkit.Small(tokens, dim)), float32(a.real(1))
	return func() error { return absolute.AddSinusoidal(s, positions, x, scale) }
}

func sinusoidalRows64Call[P absolute.Position](a *arguments) func() error {
	s, dim, axes := a.sinusoidal()
	positions, tokens := encoded[P](a, axes)
	dst := output[float64](a, testkit.Small(tokens, dim))
	return func() error { return absolute.SinusoidalRows64(s, positions, dst) }
}

func (a *arguments) mask(n int) []bool {
	bytes := take[byte](a, &a.written, n)
	for i := range bytes {
		bytes[i] &= 1
	}
	return unsafe.Slice((*bool)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes))
}

func addEmbeddingsCall[T, W posenc.Element](a *arguments) func() error {
	dim, tokens := a.number(1, 40), a.Below(9)
	x := output[T](a, testkit.Small(dim, tokens))
	var embeddings []absolute.Embedding[W]
	for range a.Below(4) {
		e := absolute.Embedding[W]{Table: take[W](a, &a.written, testkit.Small(dim, 20)), IDs: a.positions(&a.written, tokens), Offset: a.number(0, 3)}
		embeddings = append(embeddings, e)
	}
	return func() error { return absolute.AddEmbeddings(x, dim, embeddings...) }
}

// t5 returns buckets, nil and zero ones too, and their number.
func (a *arguments) t5() (*relative.T5Buckets, int) {
	switch a.Below(8) {
	case 0:
		return nil, 0
	case 1:
		return new(relative.T5Buckets), 0
	}
	b, err := relative.NewT5Buckets(4*(1+a.Below(9)), 100, a.yes())
	if err != nil {
		panic(err)
	}
	return b, b.buckets
}

// deberta returns buckets, nil and zero ones too, and their positions.
func (a *arguments) deberta() (*relative.DeBERTaBuckets, int) {
	switch a.Below(8) {
	case 0:
		return nil, 0
	case 1:
		return new(relative.DeBERTaBuckets), 0
	}
	buckets := 0
	if a.yes() {
		buckets = 4 * (1 + a.Below(4))
	}
	b, err := relative.NewDeBERTaBuckets(buckets, 12+a.Below(20))
	if err != nil {
		panic(err)
	}
	return b, 2 * b.span
}
