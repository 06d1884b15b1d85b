package frequency

import "fmt"

// Axial returns the ladder of tokens in a grid: each axis of positions has a
// slice of the head, one after another, with a default ladder of its own. Axis a
// has dims[a]/2 pairs, and pair k of them
//
//	InvFreq = base^(-2k/dims[a])
//
// The dims add up to the rotary dimension; each is even. Axes says which pairs
// belong to which axis.
//
//	                        base   dims                  axes                    pairs
//	Qwen2-VL, GLM-4V vision 10000  headDim/2 twice       row, column             half-split
//	Llama 4 vision          10000  headDim/2 twice       column, row, from 1     interleaved
//	FLUX.1                  10000  16, 56, 56            image, row, column      interleaved
//	FLUX.2                  2000   32, 32, 32, 32        four position ids       interleaved
//	HunyuanVideo            256    16, 56, 56            time, row, column       interleaved
//	Wan                     10000  t, h, h               time, row, column       interleaved
//
// where Wan's h is 2*(headDim/6), rounded down, and t = headDim-2h: 44, 42, 42 of
// 128. Text tokens of FLUX.1 are at 0 on all axes; those of HunyuanVideo are not
// rotated. FLUX and Wan compute angles in float64 (nearly Exact), HunyuanVideo in
// float32.
//
// Source: rope type "axial" of transformers; FluxPosEmbed, WanRotaryPosEmbed and
// HunyuanVideoRotaryPosEmbed of diffusers. Errors wrap ErrParameter.
func Axial(base float64, rounding Rounding, dims ...int) (Ladder, error) {
	c := checker{function: "Axial", rounding: rounding}
	c.require(len(dims) >= 1 && len(dims) <= 256, "len(dims)", len(dims), "from 1 to 256 axes")
	total := 0
	for axis, dim := range dims {
		c.common(fmt.Sprintf("dims[%d]", axis), dim, 2, base)
		if c.err != nil {
			return Ladder{}, c.err
		}
		total += dim
		c.require(total <= MaxRotaryDim, "the sum of dims", total, "at most %d", MaxRotaryDim)
	}
	if c.err != nil {
		return Ladder{}, c.err
	}
	all := Ladder{AttentionFactor: 1, SoftmaxScale: 1}
	for axis, dim := range dims {
		ladder, err := Default(dim, base, rounding)
		if err != nil {
			return Ladder{}, err
		}
		all.InvFreq = append(all.InvFreq, ladder.InvFreq...)
		for range ladder.InvFreq {
			all.Axes = append(all.Axes, uint8(axis))
		}
	}
	return all, nil
}

// AxialAlternating returns the ladder of Pixtral's images: one default ladder
// over the head, of which rows take the even entries and columns the odd ones.
// For k < headDim/4
//
//	InvFreq[k]           = base^(-4k/headDim)        axis 0, the row of a patch
//	InvFreq[headDim/4+k] = base^(-(4k+2)/headDim)    axis 1, its column
//
// headDim is a multiple of 4. Errors wrap ErrParameter.
func AxialAlternating(headDim int, base float64, rounding Rounding) (Ladder, error) {
	c := checker{function: "AxialAlternating", rounding: rounding}
	c.common("headDim", headDim, 4, base)
	c.require(headDim%4 == 0, "headDim", headDim, "a multiple of 4")
	if c.err != nil {
		return Ladder{}, c.err
	}
	ladder, err := Default(headDim, base, rounding)
	if err != nil {
		return Ladder{}, err
	}
	half := headDim / 4
	dealt := Ladder{InvFreq: make([]float64, 2*half), Axes: make([]uint8, 2*half), AttentionFactor: 1, SoftmaxScale: 1}
	for k := range half {
		dealt.InvFreq[k], dealt.InvFreq[half+k] = ladder.InvFreq[2*k], ladder.InvFreq[2*k+1]
		dealt.Axes[half+k] = 1
	}
	return dealt, nil
}
