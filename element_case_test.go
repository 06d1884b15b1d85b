package posenc_test

import (
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/testkit"
)

var (
	_ = testkit.Register(testkit.Case{Function: "Implementation", NeverFails: true, Call: func(*testkit.Arguments) testkit.Call {
		return testkit.Call{Run: func() error {
			if posenc.Implementation() != dispatch.Implementation().String() {
				panic("another implementation")
			}
			return nil
		}}
	}})
	_ = testkit.Register(testkit.Case{Function: "Float16s", NeverFails: true, Call: elementsCall(posenc.Float16s[uint16]),
		Digests: func(add testkit.AddDigest) {
			add("Float16s", func(d *testkit.Digest) { d.Add(posenc.Float16s([]uint16{0, 1, 0x3c00, 0xffff})) })
		},
	})
	_ = testkit.Register(testkit.Case{Function: "BFloat16s", NeverFails: true, Call: elementsCall(posenc.BFloat16s[uint16]),
		Digests: func(add testkit.AddDigest) {
			add("BFloat16s", func(d *testkit.Digest) { d.Add(posenc.BFloat16s([]uint16{0, 1, 0x3f80, 0xffff})) })
		},
	})
)

func elementsCall[T ~uint16](convert func([]uint16) []T) func(a *testkit.Arguments) testkit.Call {
	return func(a *testkit.Arguments) testkit.Call {
		bits := testkit.Slice[uint16](a, a.Below(20))
		return testkit.Call{Run: func() error {
			if elements := convert(bits); !slices.Equal(testkit.BytesOf(elements), testkit.BytesOf(bits)) || len(bits) > 0 && !shareMemory(testkit.BytesOf(elements), testkit.BytesOf(bits)) {
				panic("other elements")
			}
			return nil
		}}
	}
}
