package relative

import (
	"math/big"
)

// Bounds of the buckets of T5 and DeBERTa, and of distances that are clipped.
const (
	maxBuckets        = 1024
	maxBucketDistance = 1 << 16
)

func power(x, n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(int64(n)), nil)
}

func product(x, y *big.Int) *big.Int { return new(big.Int).Mul(x, y) }
