//go:build linux || darwin || freebsd || netbsd || openbsd

package posenc

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
	"golang.org/x/sys/unix"
)

// fence is memory between two pages that may not be touched.
type fence struct{ pages []byte }

func newFence(t testing.TB, elements int) *fence {
	t.Helper()
	page := os.Getpagesize()
	inside := (4*elements + page - 1) / page * page
	memory, err := unix.Mmap(-1, 0, inside+2*page, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(memory) })
	pages := memory[page : page+inside]
	if err := unix.Mprotect(pages, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		t.Fatal(err)
	}
	return &fence{pages}
}

// slice returns n float32 that end, or start, at a page that may not be touched.
func (f *fence) slice(n int, atEnd bool) []float32 {
	at := 0
	if atEnd {
		at = len(f.pages)/4 - n
	}
	all := unsafe.Slice((*float32)(unsafe.Pointer(&f.pages[0])), len(f.pages)/4)
	s := all[at : at+n : at+n]
	for i := range s {
		s[i] = 1 + float32(i%7)
	}
	return s
}

// within runs call and fails the test where it touches a page that it may not.
func within(t *testing.T, what string, call func()) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			t.Fatalf("%s: %v", what, fault)
		}
	}()
	call()
}

// The pages do stop what goes beyond a slice: else the tests below test nothing.
func TestGuardFaults(t *testing.T) {
	f := newFence(t, 16)
	for _, atEnd := range []bool{false, true} {
		s := f.slice(16, atEnd)
		beyond := unsafe.Pointer(uintptr(unsafe.Pointer(&s[0])) - 4)
		if atEnd {
			beyond = unsafe.Pointer(uintptr(unsafe.Pointer(&s[15])) + 4)
		}
		func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				if recover() == nil {
					t.Errorf("at end %t: no fault", atEnd)
				}
			}()
			s[0] = *(*float32)(beyond)
		}()
	}
}

const guardedLengths = 70

func TestGuardRotate(t *testing.T) {
	const most = 3 * 2 * 2 * guardedLengths
	xs, cosines, sines := newFence(t, most), newFence(t, most), newFence(t, most)
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, layout := range layouts {
			for pairs := range guardedLengths + 1 {
				for _, tokens := range []int{1, 3} {
					for _, atEnd := range []bool{false, true} {
						const heads = 2
						dim := 2 * pairs
						rows := kernels.Rows{Pairs: pairs, Partner: pairs, Tokens: tokens, TokenStride: heads * dim, Heads: heads, HeadStride: dim, TableStride: pairs}
						x := xs.slice(tokens*heads*dim, atEnd)
						cos, sin := cosines.slice(tokens*pairs, atEnd), sines.slice(tokens*pairs, atEnd)
						want := append([]float32(nil), x...)
						rotateEachPair(layout, want, cos, sin, &rows, make([]bool, len(want)))
						what := fmt.Sprintf("layout %s, %d pairs, %d tokens, at end %t", layoutName(layout), pairs, tokens, atEnd)
						within(t, what, func() { rotateKernel(layout, impl, x, cos, sin, &rows) })
						for i := range x {
							if !same(x[i], want[i]) {
								t.Fatalf("%s: x[%d] is %v, want %v", what, i, x[i], want[i])
							}
						}
					}
				}
			}
		}
	})
}

func TestGuardCosSin(t *testing.T) {
	const most = 5 * guardedLengths
	cosines, sines, angles := newFence(t, most), newFence(t, most), newFence(t, most)
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for n := range guardedLengths + 1 {
			for _, atEnd := range []bool{false, true} {
				what := fmt.Sprintf("%d entries, at end %t", n, atEnd)
				wantCos, wantSin := make([]float32, 5*n), make([]float32, 5*n)
				check := func(cos, sin []float32) {
					t.Helper()
					for i := range cos {
						if !same(cos[i], wantCos[i]) || !same(sin[i], wantSin[i]) {
							t.Fatalf("%s: entry %d is %v, %v, want %v, %v", what, i, cos[i], sin[i], wantCos[i], wantSin[i])
						}
					}
				}
				cos, sin, in := cosines.slice(n, atEnd), sines.slice(n, atEnd), angles.slice(n, atEnd)
				generic.CosSinFloat32(wantCos, wantSin, in, 3, 1, 1)
				within(t, what, func() { kernels.CosSinFloat32(impl, cos, sin, in, 3, 1, 1) })
				check(cos, sin)
				if n > kernels.Width {
					continue
				}
				invFreq := make([]float64, n)
				for i := range invFreq {
					invFreq[i] = 1 / float64(1+i)
				}
				var block kernels.Block
				var shift kernels.Shift
				block.Set(invFreq)
				shift.Set(impl, &block)
				generic.CosSinExact(wantCos, wantSin, 12345, invFreq, 1, 1)
				within(t, what, func() { kernels.CosSinExactRow(impl, cos, sin, 12345, &block, 1, 1) })
				check(cos, sin)
				positions := []int32{64, 65, 66, 67, 68}
				for i, p := range positions {
					generic.CosSinExact(wantCos[i*n:], wantSin[i*n:], p, invFreq, 1, 1)
				}
				for _, pastCaches := range []bool{false, true} {
					cos, sin := cosines.slice(5*n, atEnd), sines.slice(5*n, atEnd)
					within(t, what, func() {
						kernels.CosSinExactRows(impl, cos, sin, n, positions, &block, &shift, 1, 1, pastCaches)
					})
					check(cos, sin)
				}
			}
		}
	})
}
