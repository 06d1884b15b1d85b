package posenc

import (
	"math"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
)

// RMSNorm is root-mean-square normalization of vectors (Zhang and Sennrich 2019,
// arXiv:1910.07467), with a weight for each element. It does not change after NewRMSNorm,
// and many goroutines may use it at once.
//
// A vector x of n elements becomes
//
//	squares[l] = RN32(...RN32(RN32(x[l]^2) + RN32(x[l+16]^2)) + ...)    l < 16
//	squares[l] = RN32(squares[l] + squares[l+d])                        l < d; d = 8, 4, 2, 1
//	mean       = RN32(squares[0] / RN32(n))
//	inverse    = RN32(1 / RN32(sqrt(RN32(mean + epsilon))))
//	x[i]       = RN(RN32(RN32(x[i]*inverse) * weight[i]))
//
// RN rounds to the type of the elements once more, if it has 16 bits. Where a vector has no
// element l+16k, that element counts as 0. Every implementation sums in this order, so the
// result is defined to the last bit. Squares may overflow: inverse is then 0, as the formula
// says.
//
// transformers sums in another order. Its Qwen3 (not its Gemma 3 or OLMo 2) also rounds to
// a type of 16 bits before it multiplies by the weight.
type RMSNorm struct{ norm heads.Norm }

// maxNormElements bounds the vectors of a norm: one call of a kernel takes a whole vector.
const maxNormElements = 1 << 20

// RMSNormConfig describes an [RMSNorm], together with its weight.
//
// Epsilon is the rms_norm_eps of a model. It has no default: where a configuration leaves the key out, the
// class of the model decides (1e-6 in Llama and Qwen3, 1e-5 in OLMo 2 and Phi-3). So 0, which is what a missing key
// reads as, is an error. For an epsilon that is 0, give
// math.SmallestNonzeroFloat32: the result has the same bits if mean is at least 2^-124, and a vector of
// zeros stays zeros, not NaNs.
type RMSNormConfig struct {
	Epsilon    float32 // positive and finite
	UnitOffset bool    // the weight of element i is RN32(1 + weight[i]), as in Gemma
}

// NewRMSNorm returns the norm of vectors of len(weight) elements, from 1 to 1048576. It keeps no
// reference to weight. Errors wrap ErrConfig.
func NewRMSNorm(weight []float32, cfg RMSNormConfig) (*RMSNorm, error) {
	const function = "posenc.NewRMSNorm"
	if len(weight) < 1 || len(weight) > maxNormElements {
		return nil, argument.Error(ErrConfig, function, "weight", argument.Elements(len(weight)), "from 1 to %d elements", maxNormElements)
	}
	if !(cfg.Epsilon > 0 && cfg.Epsilon <= math.MaxFloat32) {
		return nil, argument.Error(ErrConfig, function, "cfg.Epsilon", cfg.Epsilon, "a positive finite number: the model's rms_norm_eps, or the default of its class")
	}
	n := &RMSNorm{heads.Norm{Weight: append([]float32(nil), weight...), Epsilon: cfg.Epsilon}}
	if cfg.UnitOffset {
		for i := range n.norm.Weight {
			n.norm.Weight[i]++
		}
	}
	return n, nil
}

// Normalize normalizes vectors in place by the formula of [RMSNorm]. Every view has the
// given number of tokens, and its heads have as many elements as the norm has weights. For
// a norm of each head that is HeadDim (Qwen3, Gemma 3). For a norm of all heads of a token
// (OLMo 2), pass a view with one head of Heads*HeadDim elements.
//
// Views must not share elements. Errors wrap ErrConfig (norm), ErrShape, ErrLength or
// ErrOverlap.
func Normalize[T Element](norm *RMSNorm, tokens int, xs ...View[T]) error {
	const function = "posenc.Normalize"
	if !norm.valid() {
		return argument.Error(ErrConfig, function, "norm", "nil or zero", "an RMSNorm from NewRMSNorm")
	}
	if tokens < 0 {
		return argument.Error(ErrShape, function, "tokens", tokens, "at least 0")
	}
	dim := len(norm.norm.Weight)
	if err := view.Check(function, checked(xs), tokens, dim); err != nil {
		return err
	}
	for i := range xs {
		x := operandOf(&xs[i], dim)
		for t := 0; t < tokens; {
			n := x.Together(t, tokens-t)
			norm.norm.Apply(&x, x.Heads, x.Token(t), n)
			t += n
		}
	}
	return nil
}

// ScaleQueries multiplies the heads of token t by factors[t], in place:
//
//	x = RN(RN32(x*factors[t]))
//
// RN rounds to T. There are as many tokens as factors, and a head has headDim elements. factors
// must share no memory with the views, and views must not share elements. [QueryScales] computes
// the factors of some models. Errors wrap ErrShape, ErrLength or ErrOverlap.
func ScaleQueries[T Element](factors []float32, headDim int, xs ...View[T]) error {
	const function = "posenc.ScaleQueries"
	if headDim < 1 {
		return argument.Error(ErrShape, function, "headDim", headDim, "at least 1")
	}
	if err := view.Check(function, checked(xs), len(factors), headDim); err != nil {
		return err
	}
	for i := range xs {
		if argument.Overlap(xs[i].Data, factors) {
			return argument.Error(ErrOverlap, function, argument.Indexed("xs", i), "sharing memory with factors", "a view of other memory")
		}
	}
	for i := range xs {
		x := operandOf(&xs[i], headDim)
		for t, factor := range factors {
			heads.ScaleToken(&x, x.Token(t), headDim, factor)
		}
	}
	return nil
}

func (n *RMSNorm) valid() bool { return n != nil && len(n.norm.Weight) > 0 }

// check checks the norm that the argument of that name is. It may be nil, a norm of a
// head, or a norm of all heads of a token.
func (n *RMSNorm) check(function string, name argument.Name, heads, headDim int) error {
	switch {
	case n == nil:
	case !n.valid():
		return argument.Error(ErrConfig, function, name.String(), "zero", "nil or an RMSNorm from NewRMSNorm")
	case len(n.norm.Weight) != headDim && len(n.norm.Weight) != heads*headDim:
		return argument.Error(ErrShape, function, name.String(), argument.Elements(len(n.norm.Weight)), "HeadDim = %d or Heads*HeadDim = %d", headDim, heads*headDim)
	}
	return nil
}

// of returns the norm as kernels take it, nil for nil.
func (n *RMSNorm) of() *heads.Norm {
	if n == nil {
		return nil
	}
	return &n.norm
}
