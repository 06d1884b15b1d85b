package posenc

import (
	"cmp"
	"math"
	"math/big"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/rope"
	"github.com/go-posenc/posenc/kernels"
)

// FourierCoefficients are the learned coefficients of Fourier position embedding (FoPE, Hua et al.
// 2024, arXiv:2412.17739): a square matrix for each head of K, with a row for each of n frequencies
// and a column for each of n pairs. The elements are [Heads][n][n].
type FourierCoefficients struct {
	Cos, Sin []float32
}

// CosSinFourier writes rows of Fourier position embedding (FoPE), in which each pair turns by a sum
// over all n = RotaryDim/2 frequencies. For token t, head h of K and pair j < n,
//
//	cos[(t*heads+h)*HeadDim/2+j] = RN32(Σ_i c[i] * coefficients.Cos[(h*n+i)*n+j])
//	sin[(t*heads+h)*HeadDim/2+j] = RN32(Σ_i s[i] * coefficients.Sin[(h*n+i)*n+j])
//
// where c and s are the row of t that [Rotary.CosSin] writes, and heads is len(coefficients.Cos)/(n*n).
// The sum of the real products is rounded once. The pairs from n to HeadDim/2 have
// RN32(AttentionFactor), which is 1 in all known models, as their cosine and as their sine too:
// frequency 0 at the phase of 45 degrees, as the authors of FoPE and of Intern-S1-Pro have it.
// docs/traps.md in the repository says who pads sines with 0.
//
// Each row is the row of one head of K and of the heads of Q that share it. To rotate, pass the
// tables to [NewRows], without Heads, and Q and K as views of tokens*heads tokens: K has 1 head in each, Q
// its number of heads divided by heads. With one matrix for all heads, they are views as usual.
//
// cos and sin hold exactly tokens*heads*HeadDim/2 elements. They must not overlap each other, positions
// or the coefficients. There is one position for each token, the same on every axis. The sums are plain Go, with the
// same bits on every machine, and take 2*heads*n*n multiplications for each token. A sum that float64 cannot
// round with certainty allocates: one in a million with coefficients around 1, and more at
// position 0, where all cosines are 1. An infinite or NaN coefficient
// gives infinite or NaN entries. Errors wrap ErrConfig (r; an odd HeadDim, an Offset or XPos), ErrLength, ErrOverlap or
// ErrPosition.
func (r *Rotary) CosSinFourier(cos, sin []float32, positions []int32, coefficients FourierCoefficients) error {
	const function = "posenc.Rotary.CosSinFourier"
	core := (*rope.Rotary)(r)
	if err := core.CheckExists(function); err != nil {
		return err
	}
	tokens, err := core.Check(function, "positions", positions, 1)
	if err != nil {
		return err
	}
	head, scaling := core.Head(), core.Scaling()
	n, pairs := head.RotaryDim/2, head.HeadDim/2
	if head.HeadDim%2 != 0 || head.Offset != 0 {
		return argument.Error(ErrConfig, function, "r", "of another part of the head", "an even HeadDim and Offset 0")
	}
	if core.Frequencies().Decays() {
		return argument.Error(ErrConfig, function, "r", "a Rotary with XPos", "a Rotary without XPos")
	}
	heads := len(coefficients.Cos) / (n * n)
	switch {
	case heads == 0 || len(coefficients.Cos)%(n*n) != 0:
		return argument.Error(ErrLength, function, "coefficients.Cos", argument.Elements(len(coefficients.Cos)), "a multiple of the %d of a matrix for %d frequencies", n*n, n)
	case len(coefficients.Sin) != len(coefficients.Cos):
		return argument.Error(ErrLength, function, "coefficients.Sin", argument.Elements(len(coefficients.Sin)), "%d as in coefficients.Cos", len(coefficients.Cos))
	}
	width, ok := argument.Multiply(heads, pairs)
	if !ok {
		return argument.Error(ErrLength, function, "coefficients.Cos", argument.Elements(len(coefficients.Cos)), "fewer: an int cannot count the entries of a row")
	}
	if err := rope.CheckTables(function, cos, sin, tokens, width, "positions", positions); err != nil {
		return err
	}
	if err := cmp.Or(rope.CheckApart(function, cos, sin, "coefficients.Cos", coefficients.Cos), rope.CheckApart(function, cos, sin, "coefficients.Sin", coefficients.Sin)); err != nil {
		return err
	}
	var c, s [kernels.ChunkPairs]float32
	for t := range tokens {
		core.Frequencies().Write(&cossin.Table{Cos: c[:n], Sin: s[:n], Stride: n}, &cossin.Positions{Call: positions, Axes: 1, Tokens: tokens, First: t, N: 1}, scaling, scaling)
		for h := range heads {
			at := (t*heads + h) * pairs
			sumFourier(cos[at:][:pairs], c[:n], coefficients.Cos[h*n*n:], scaling)
			sumFourier(sin[at:][:pairs], s[:n], coefficients.Sin[h*n*n:], scaling)
		}
	}
	return nil
}

// sumFourier writes a row of cosines or sines: sums of x times each column of m, then padding.
func sumFourier(row, x, m []float32, padding float32) {
	var sums, magnitudes [kernels.ChunkPairs]float64
	n := len(x)
	for i, xi := range x {
		for j, k := range m[i*n:][:n] {
			product := float64(xi) * float64(k) // exact
			sums[j] += product
			magnitudes[j] += math.Abs(product)
		}
	}
	for j := range row {
		if j >= n {
			row[j] = padding
			continue
		}
		// Each of n sums is off by at most 2^-53 of the magnitudes, and these by little more.
		bound := magnitudes[j] * float64(n) * 0x1p-52
		row[j] = float32(sums[j])
		if row[j] != float32(sums[j]-bound) || row[j] != float32(sums[j]+bound) {
			row[j] = exactSum(x, m, j, row[j])
		}
	}
}

// exactSum returns the sum of x times column j of m, or what it was if that is not finite.
func exactSum(x, m []float32, j int, was float32) float32 {
	sum := new(big.Float).SetPrec(640) // of products from 2^-298 to below 2^256, 1024 of them
	for i, xi := range x {
		product := float64(xi) * float64(m[i*len(x)+j])
		if math.IsNaN(product) || math.IsInf(product, 0) {
			return was
		}
		sum.Add(sum, new(big.Float).SetFloat64(product))
	}
	rounded, _ := sum.Float32()
	return rounded
}
