//go:build !purego

package measure

import (
	loop "github.com/go-posenc/posenc/internal/test/bound"
	"github.com/go-posenc/posenc/kernels"
)

var assembly = []bound{
	boundOf(kernels.NEON, "scale", "", loop.ScaleF32NEON),
	boundOf(kernels.NEON, "scale", "-prefetch", loop.ScalePrefetchF32NEON),
	boundOf(kernels.NEON, "add", "", loop.AddF32NEON),
	boundOf(kernels.NEON, "add", "-prefetch", loop.AddPrefetchF32NEON),
	boundOf(kernels.NEON, "store", "", loop.StoreF32NEON),
	boundOf(kernels.NEON, "nontemporal", "", loop.StoreNonTemporalF32NEON),
	boundOf(kernels.NEON, "twostreams", "", loop.StoreHalvesNonTemporalF32NEON),
}

var loadStores []func(x, y *float32, n, bytes int)
