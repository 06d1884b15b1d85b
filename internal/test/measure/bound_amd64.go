//go:build !purego

package measure

import (
	loop "github.com/go-posenc/posenc/internal/test/bound"
	"github.com/go-posenc/posenc/kernels"
)

var assembly = []bound{
	boundOf(kernels.AVX2, "scale", "", loop.ScaleF32AVX2),
	boundOf(kernels.AVX2, "scale", "-prefetch", loop.ScalePrefetchF32AVX2),
	boundOf(kernels.AVX2, "add", "", loop.AddF32AVX2),
	boundOf(kernels.AVX2, "add", "-prefetch", loop.AddPrefetchF32AVX2),
	boundOf(kernels.AVX2, "store", "", loop.StoreF32AVX2),
	boundOf(kernels.AVX2, "nontemporal", "", loop.StoreNonTemporalF32AVX2),
	boundOf(kernels.AVX2, "twostreams", "", loop.StoreHalvesNonTemporalF32AVX2),
	boundOf(kernels.AVX512, "scale", "", loop.ScaleF32AVX512),
	boundOf(kernels.AVX512, "scale", "-prefetch", loop.ScalePrefetchF32AVX512),
	boundOf(kernels.AVX512, "add", "", loop.AddF32AVX512),
	boundOf(kernels.AVX512, "add", "-prefetch", loop.AddPrefetchF32AVX512),
	boundOf(kernels.AVX512, "store", "", loop.StoreF32AVX512),
	boundOf(kernels.AVX512, "nontemporal", "", loop.StoreNonTemporalF32AVX512),
	boundOf(kernels.AVX512, "twostreams", "", loop.StoreHalvesNonTemporalF32AVX512),
}

var loadStores = []func(x, y *float32, n, bytes int){loop.LoadStoreNonTemporalF32AVX2, loop.LoadStoreNonTemporalPrefetchF32AVX2}
