//go:build goexperiment.simd && amd64

package peers

import (
	"simd/archsimd"

	"github.com/go-posenc/posenc"
)

// archsimdPeers are loops over the vectors of Go's experiment, of eight float32.
func archsimdPeers() ([]Peer, []string) {
	if !archsimd.X86.AVX2() {
		return nil, []string{"simd/archsimd: no AVX2"}
	}
	return []Peer{{
		Name: "simd/archsimd", Version: "GOEXPERIMENT=simd", Computes: "the plain loop, eight pairs at a time",
		Accuracy: "as posenc", Ready: map[posenc.Layout]func(x, cos, sin []float32, heads, dim int){
			posenc.HalfSplit: archsimdHalfSplit, posenc.Interleaved: archsimdInterleaved,
		},
	}}, nil
}

// archsimdHalfSplit is for dim a multiple of 16.
func archsimdHalfSplit(x, cos, sin []float32, heads, dim int) {
	half := dim / 2
	for h := range heads {
		first, second := x[h*dim:][:half], x[h*dim+half:][:half]
		for i := 0; i+8 <= half; i += 8 {
			c, s := archsimd.LoadFloat32x8Slice(cos[i:]), archsimd.LoadFloat32x8Slice(sin[i:])
			x1, x2 := archsimd.LoadFloat32x8Slice(first[i:]), archsimd.LoadFloat32x8Slice(second[i:])
			x1.Mul(c).Sub(x2.Mul(s)).StoreSlice(first[i:])
			x2.Mul(c).Add(x1.Mul(s)).StoreSlice(second[i:])
		}
	}
}

// archsimdInterleaved is for dim a multiple of 16.
func archsimdInterleaved(x, cos, sin []float32, heads, dim int) {
	twice := archsimd.LoadUint32x8(&[8]uint32{0, 0, 1, 1, 2, 2, 3, 3})
	twiceHigh := archsimd.LoadUint32x8(&[8]uint32{4, 4, 5, 5, 6, 6, 7, 7})
	swap := archsimd.LoadUint32x8(&[8]uint32{1, 0, 3, 2, 5, 4, 7, 6})
	for h := range heads {
		head := x[h*dim:][:dim]
		for i := 0; i+16 <= dim; i += 16 {
			c, s := archsimd.LoadFloat32x8Slice(cos[i/2:]), archsimd.LoadFloat32x8Slice(sin[i/2:])
			low, high := archsimd.LoadFloat32x8Slice(head[i:]), archsimd.LoadFloat32x8Slice(head[i+8:])
			low.Mul(c.Permute(twice)).AddSub(low.Permute(swap).Mul(s.Permute(twice))).StoreSlice(head[i:])
			high.Mul(c.Permute(twiceHigh)).AddSub(high.Permute(swap).Mul(s.Permute(twiceHigh))).StoreSlice(head[i+8:])
		}
	}
}
