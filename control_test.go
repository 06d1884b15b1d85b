//go:build (amd64 || arm64) && !purego

package posenc_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

// controlMode is bits of the register that controls the floating-point arithmetic
// of a thread.
type controlMode struct {
	name string
	bits uint64
}

// under runs f with the arithmetic of its thread in a mode.
func (m controlMode) under(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := swapControl(defaultControl)
	swapControl(before | m.bits)
	f()
	swapControl(before)
}

// controlled is an operation on float32 of a magnitude, or on what they round
// to.
type controlled struct {
	name string
	run  func(t *testing.T, magnitude float32) []float32
}

var controlledOperations = []controlled{
	{"CosSin", func(t *testing.T, magnitude float32) []float32 {
		cos, sin := make([]float32, 64*300), make([]float32, 64*300)
		frequencies := make([]float64, 64)
		for i := range frequencies {
			frequencies[i] = float64(magnitude) * math.Ldexp(1+float64(i)/97, -i/8)
		}
		positions := make([]int32, 300)
		for i := range positions {
			positions[i] = int32(7 * i)
		}
		for i := range 200 {
			positions[i] = int32(i)
		}
		if err := posenc.CosSin(cos, sin, positions, frequencies); err != nil {
			t.Fatal(err)
		}
		return append(cos, sin...)
	}},
	{"CosSinAngles", func(t *testing.T, magnitude float32) []float32 {
		angles := controlInput(magnitude)
		cos, sin := make([]float32, len(angles)), make([]float32, len(angles))
		if err := posenc.CosSinAngles(cos, sin, angles); err != nil {
			t.Fatal(err)
		}
		return append(cos, sin...)
	}},
	{"Rotate float32", func(t *testing.T, magnitude float32) []float32 {
		x := controlInput(magnitude)
		if err := posenc.Rotate(controlRotary(t).At([]int32{3, 4, 5, 6}), posenc.View[float32]{Data: x, Heads: 8}); err != nil {
			t.Fatal(err)
		}
		return x
	}},
	{"Rotate float16", func(t *testing.T, magnitude float32) []float32 {
		x := controlInput(max(magnitude, 0x1p-24))
		narrow := make([]posenc.Float16, len(x))
		controlInto(t, narrow, x, false)
		if err := posenc.Rotate(controlRotary(t).At([]int32{3, 4, 5, 6}), posenc.View[posenc.Float16]{Data: narrow, Heads: 8}); err != nil {
			t.Fatal(err)
		}
		return asNumbers(narrow)
	}},
	{"Rotate bfloat16", func(t *testing.T, magnitude float32) []float32 {
		x := controlInput(magnitude)
		narrow := make([]posenc.BFloat16, len(x))
		controlInto(t, narrow, x, false)
		if err := posenc.Rotate(controlRotary(t).At([]int32{3, 4, 5, 6}), posenc.View[posenc.BFloat16]{Data: narrow, Heads: 8}); err != nil {
			t.Fatal(err)
		}
		return asNumbers(narrow)
	}},
	{"RotateInto float16", func(t *testing.T, magnitude float32) []float32 {
		y := make([]posenc.Float16, 4*8*64)
		controlInto(t, y, controlInput(magnitude), true)
		return asNumbers(y)
	}},
	{"Normalize", func(t *testing.T, magnitude float32) []float32 {
		weight := make([]float32, 64)
		for i := range weight {
			weight[i] = 1 + float32(i)/64
		}
		norm, err := posenc.NewRMSNorm(weight, 1e-6, false)
		if err != nil {
			t.Fatal(err)
		}
		x := controlInput(magnitude)
		if err := posenc.Normalize(norm, 4, posenc.View[float32]{Data: x, Heads: 8}); err != nil {
			t.Fatal(err)
		}
		return x
	}},
	{"Scale", func(t *testing.T, magnitude float32) []float32 {
		x := controlInput(magnitude)
		if err := posenc.Scale([]float32{0.3, 0.7, 1.1, 1.9}, 64, posenc.View[float32]{Data: x, Heads: 8}); err != nil {
			t.Fatal(err)
		}
		return x
	}},
	{"AddALiBi", func(t *testing.T, magnitude float32) []float32 {
		x := controlInput(magnitude)
		if err := relative.AddALiBi(relative.Scores{Data: x, Heads: 2, Queries: 16, Keys: 64}, []float32{0.3 * magnitude, 0.1}, relative.CausalALiBi); err != nil {
			t.Fatal(err)
		}
		return x
	}},
}

// controlInput is 4*8*64 numbers between magnitude and twice it, of both signs.
func controlInput(magnitude float32) []float32 {
	r := testkit.NewRand(11)
	x := make([]float32, 4*8*64)
	for i := range x {
		x[i] = magnitude * (1 + r.Float32())
		if i%3 == 0 {
			x[i] = -x[i]
		}
	}
	return x
}

func controlRotary(t *testing.T) *posenc.Rotary {
	r, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 64})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func controlInto[T posenc.Element](t *testing.T, y []T, x []float32, rotated bool) {
	positions := make([]int32, 4)
	if rotated {
		positions = []int32{3, 4, 5, 6}
	}
	if err := posenc.RotateInto(controlRotary(t).At(positions), posenc.View[T]{Data: y, Heads: 8}, nil, posenc.View[float32]{Data: x, Heads: 8}); err != nil {
		t.Fatal(err)
	}
}

func asNumbers[T ~uint16](x []T) []float32 {
	bits := make([]float32, len(x))
	for i, v := range x {
		bits[i] = float32(v)
	}
	return bits
}

// Where neither numbers nor results are subnormal, flushing changes nothing.
func TestFlushingKeepsNormalNumbers(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range controlledOperations {
			for _, magnitude := range []float32{1, 0x1p-12} {
				want := o.run(t, magnitude)
				for _, mode := range flushModes {
					mode.under(func() {
						if got := o.run(t, magnitude); !testkit.SameSlices(got, want) {
							t.Errorf("%s of %v: %s changes %d of %d results", o.name, magnitude, mode.name, different(got, want), len(want))
						}
					})
				}
			}
		}
	})
}

// What the modes change: docs/hardware.md has the figures. The mode ends with
// the call, and other threads do not have it.
func TestControlModes(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range controlledOperations {
			normal, tiny := o.run(t, 1), o.run(t, 0x1p-130)
			for _, mode := range flushModes {
				mode.under(func() {
					t.Logf("%s of 2^-130, %s: %d of %d differ", o.name, mode.name, different(o.run(t, 0x1p-130), tiny), len(tiny))
				})
			}
			for _, mode := range roundModes {
				mode.under(func() {
					got := o.run(t, 1)
					worst := 0.0
					for i := range got {
						worst = max(worst, math.Abs(float64(got[i])-float64(normal[i])))
					}
					t.Logf("%s of 1, rounding %s: %d of %d differ, by up to %.2g", o.name, mode.name, different(got, normal), len(normal), worst)
				})
			}
			if got := o.run(t, 1); !testkit.SameSlices(got, normal) {
				t.Errorf("%s: the modes have changed it for good", o.name)
			}
		}
	})
}

func different(a, b []float32) (count int) {
	for i := range a {
		if !testkit.Same(a[i], b[i]) {
			count++
		}
	}
	return count
}

// Go leaves the register as it is: a goroutine that is not locked to a thread may
// find what another left on it, and one on another thread does not.
func TestControlStaysOnThread(t *testing.T) {
	mode := flushModes[0]
	mode.under(func() {
		set := swapControl(defaultControl)
		swapControl(set)
		runtime.GC()
		runtime.Gosched()
		now := swapControl(defaultControl)
		swapControl(now)
		if now&^0x3f != set&^0x3f { // the lowest bits are flags of exceptions
			t.Errorf("control is %#x after a garbage collection, was set to %#x", now, set)
		}
		elsewhere := make(chan uint64)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			control := swapControl(defaultControl)
			swapControl(control)
			elsewhere <- control
		}()
		if control := <-elsewhere; control&mode.bits != 0 {
			t.Errorf("control is %#x on another thread", control)
		}
	})
}
