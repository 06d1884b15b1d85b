package posenc_test

import (
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/kit"
)

func TestCases(t *testing.T) { kit.TestCases(t) }
func FuzzCases(f *testing.F) { kit.FuzzCases(f) }

func TestReceivers(t *testing.T) {
	kit.CheckReceivers(t, posenc.Rotary{}, posenc.Rows{}, posenc.DualChunk{}, posenc.PagedView{}, posenc.Layout(0), frequency.Rounding(0))
}

var (
	_ = kit.Register(kit.Case{Function: "Implementation", NeverFails: true, NoDigest: true, Call: func(*kit.Arguments) kit.Call {
		return kit.Call{Run: func() error {
			if posenc.Implementation() != dispatch.Implementation().String() {
				panic("another implementation")
			}
			return nil
		}}
	}})
	_ = kit.Register(kit.Case{Function: "ImplementationReason", NeverFails: true, NoDigest: true, Call: func(*kit.Arguments) kit.Call {
		return kit.Call{Allocates: kit.Constructed, Run: func() error {
			if posenc.ImplementationReason() == "" {
				panic("no reason")
			}
			return nil
		}}
	}})
	_ = kit.Register(kit.Case{Function: "SetImplementation", NoDigest: true, Call: func(a *kit.Arguments) kit.Call {
		name := "generic"
		if a.Any() && a.Yes() {
			name = "avx521"
		}
		return kit.Call{
			Run: func() error {
				defer dispatch.Use(dispatch.Chosen())() // as before the first operation
				return posenc.SetImplementation(name)
			},
			Right:     func() bool { return name == "generic" },
			Allocates: kit.Constructed,
		}
	}})
	_ = kit.Register(kit.Case{Function: "Layout.String", NeverFails: true, NoDigest: true, Call: func(*kit.Arguments) kit.Call {
		return kit.Call{Allocates: kit.Constructed, Run: func() error {
			for layout, want := range []string{"Layout(0)", "HalfSplit", "Interleaved", "InterleavedToHalfSplit", "HalfSplitToInterleaved", "Layout(5)"} {
				if posenc.Layout(layout).String() != want {
					panic("another name")
				}
			}
			return nil
		}}
	}})
	_ = kit.Register(kit.Case{Function: "Float16s", NeverFails: true, Call: elementsCall(posenc.Float16s[uint16]),
		Digests: digestOf("Float16s", func(d *kit.Digest) { d.Add(posenc.Float16s([]uint16{0, 1, 0x3c00, 0xffff})) }),
	})
	_ = kit.Register(kit.Case{Function: "FromBytes", Call: oneOf(fromBytesCall[float32], fromBytesCall[posenc.Float16], fromBytesCall[posenc.BFloat16], fromBytesCall[posenc.Q8_0], fromBytesCall[int8], fromBytesCall[posenc.E4M3], fromBytesCall[posenc.E5M2],
		fromBytesCall[posenc.Q4_0], fromBytesCall[posenc.Q4_1], fromBytesCall[posenc.Q5_0], fromBytesCall[posenc.Q5_1], fromBytesCall[posenc.IQ4_NL],
		fromBytesCall[posenc.MXFP4Floor], fromBytesCall[posenc.MXFP4RCeil], fromBytesCall[posenc.MXFP4Even], fromBytesCall[posenc.NVFP4]),
		Digests: digestOf("FromBytes", func(d *kit.Digest) {
			d.Add(kit.Must(posenc.FromBytes[posenc.Q8_0](make([]byte, 68))))
		}),
		OnStack: func() error {
			var bytes [68]byte
			_, err := posenc.FromBytes[posenc.Q8_0](bytes[:])
			return err
		},
	})
	_ = kit.Register(kit.Case{Function: "BFloat16s", NeverFails: true, Call: elementsCall(posenc.BFloat16s[number]),
		Digests: digestOf("BFloat16s", func(d *kit.Digest) { d.Add(posenc.BFloat16s([]uint16{0, 1, 0x3f80, 0xffff})) }),
	})
)

type number uint16 // of another package

// fromBytesCall shows that numbers are the same memory.
func fromBytesCall[T posenc.Element | posenc.Quantized](a *kit.Arguments) kit.Call {
	var zero T
	bytes := kit.Slice[byte](a, a.Below(200))
	if !a.Any() {
		bytes = kit.BytesOf(kit.Slice[T](a, a.Below(20)))
	}
	aligned := len(bytes) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))%unsafe.Alignof(zero) == 0
	return kit.Call{
		Right: func() bool { return aligned && len(bytes)%int(unsafe.Sizeof(zero)) == 0 },
		Run: func() error {
			numbers, err := posenc.FromBytes[T](bytes)
			if err == nil && (len(numbers)*int(unsafe.Sizeof(zero)) != len(bytes) || unsafe.Pointer(unsafe.SliceData(numbers)) != unsafe.Pointer(unsafe.SliceData(bytes))) {
				panic("other numbers")
			}
			return err
		},
	}
}

// elementsCall shows that elements are the same memory, as long and with as much room.
func elementsCall[B, T ~uint8 | ~uint16](convert func([]B) []T) func(a *kit.Arguments) kit.Call {
	return func(a *kit.Arguments) kit.Call {
		bits := kit.Slice[B](a, a.Below(20))
		return kit.Call{Run: func() error {
			for _, bits := range [][]B{bits, bits[:len(bits)/2], bits[len(bits)/2:], {}, nil} {
				elements := convert(bits)
				if len(elements) != len(bits) || cap(elements) != cap(bits) || (elements == nil) != (bits == nil) ||
					unsafe.Pointer(unsafe.SliceData(elements)) != unsafe.Pointer(unsafe.SliceData(bits)) {
					panic("other elements")
				}
			}
			return nil
		}}
	}
}

// Numbers of several bytes begin at addresses of theirs. None begin anywhere.
func TestFromBytesErrors(t *testing.T) {
	bytes := wordsOf[byte](make([]float32, 4))
	fails := kit.Failures(t)
	of := func(_ any, err error) error { return err }
	fails(of(posenc.FromBytes[posenc.Q8_0](make([]byte, 35))), posenc.ErrLength, "posenc.FromBytes: bytes has 35 elements, want a multiple of the 34 bytes of a number")
	fails(of(posenc.FromBytes[posenc.Float16](bytes[1:3])), posenc.ErrShape, "posenc.FromBytes: bytes is 1 bytes behind a multiple of 2, want at an address that is a multiple of 2")
	fails(of(posenc.FromBytes[float32](bytes[2:6])), posenc.ErrShape, "posenc.FromBytes: bytes is 2 bytes behind a multiple of 4")
	if none, err := posenc.FromBytes[float32](bytes[1:1]); err != nil || len(none) != 0 {
		t.Errorf("no bytes at an odd address: %v, %v", none, err)
	}
}
