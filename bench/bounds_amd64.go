//go:build !purego

package main

import (
	"github.com/go-posenc/posenc"
	loop "github.com/go-posenc/posenc/asm/bound"
)

func bounds() []bound {
	avx2 := []bound{
		assembly("scale", "avx2", loop.ScaleF32AVX2),
		assembly("scale", "avx2-prefetch", loop.ScalePrefetchF32AVX2),
		assembly("store", "avx2", loop.StoreF32AVX2),
		assembly("nontemporal", "avx2", loop.StoreNonTemporalF32AVX2),
	}
	switch posenc.Implementation() {
	case "avx512":
		return append(avx2,
			assembly("scale", "avx512", loop.ScaleF32AVX512),
			assembly("scale", "avx512-prefetch", loop.ScalePrefetchF32AVX512),
			assembly("store", "avx512", loop.StoreF32AVX512),
			assembly("nontemporal", "avx512", loop.StoreNonTemporalF32AVX512),
		)
	case "avx2":
		return avx2
	}
	return plainBounds()
}
