//go:build !purego

package main

import (
	"github.com/go-posenc/posenc"
	loop "github.com/go-posenc/posenc/asm/bound"
)

func bounds() []bound {
	if posenc.Implementation() != "neon" {
		return plainBounds()
	}
	return []bound{
		assembly("scale", "neon", loop.ScaleF32NEON),
		assembly("scale", "neon-prefetch", loop.ScalePrefetchF32NEON),
		assembly("store", "neon", loop.StoreF32NEON),
		assembly("nontemporal", "neon", loop.StoreNonTemporalF32NEON),
	}
}
