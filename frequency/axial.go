package frequency

// Axial returns the ladder of tokens in a grid: each axis of positions has a
// slice of the head, one after another, with a default ladder of its own. Axis a
// has dims[a]/2 pairs, and pair k of them
//
//	InvFreq = base^(-2k/dims[a])
//
// The dims add up to the rotary dimension; each is even. Axes says which pairs
// belong to which axis.
//
//	Qwen2-VL, Qwen3-VL, GLM-4V vision   dims headDim/2, headDim/2: height, width; half-split
//	Llama 4 vision                      the same: x+1, y+1 (0, 0 for the class token); interleaved
//	FLUX, HunyuanVideo                  dims 16, 56, 56: time, height, width; interleaved
//	Wan                                 dims t, h, w with h = w = 2*(headDim/6); interleaved
//
// Source: rope type "axial" of transformers, get_1d_rotary_pos_embed of
// diffusers. Errors wrap ErrParameter.
func Axial(base float64, rounding Rounding, dims ...int) (Ladder, error) {
	c := checker{function: "Axial", rounding: rounding}
	c.require(len(dims) >= 1 && len(dims) <= 256, "dims", len(dims), "from 1 to 256 axes")
	total := 0
	for _, dim := range dims {
		c.common("dims", dim, 2, base)
		if c.err != nil {
			return Ladder{}, c.err
		}
		total += dim
		c.require(total <= MaxRotaryDim, "the sum of dims", total, "at most %d", MaxRotaryDim)
	}
	if c.err != nil {
		return Ladder{}, c.err
	}
	all := Ladder{Scaling: 1, SoftmaxScale: 1}
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
// over the head, of which the height takes the even entries and the width the
// odd ones. For k < headDim/4
//
//	InvFreq[k]           = base^(-4k/headDim)        axis 0, height
//	InvFreq[headDim/4+k] = base^(-(4k+2)/headDim)    axis 1, width
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
	dealt := Ladder{InvFreq: make([]float64, 2*half), Axes: make([]uint8, 2*half), Scaling: 1, SoftmaxScale: 1}
	for k := range half {
		dealt.InvFreq[k], dealt.InvFreq[half+k] = ladder.InvFreq[2*k], ladder.InvFreq[2*k+1]
		dealt.Axes[half+k] = 1
	}
	return dealt, nil
}
