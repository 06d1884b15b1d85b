package frequency

import (
	"bytes"
	"fmt"

	"github.com/go-posenc/posenc/internal/argument"
)

// Axial returns the frequencies for tokens in a grid. Each axis of positions has its own
// slice of the head, one axis after another, with the frequencies of [Default] for that
// slice. Axis a has dims[a]/2 pairs, and its pair k has
//
//	InvFreq = base^(-2k/dims[a])
//
// Each of dims is even, and together they add up to the rotary dimension. docs/vision.md in the repository has the base, the slices and the order of the axes of models of
// images and video. Source: rope type "axial" of transformers.
func Axial(base float64, rounding Rounding, dims ...int) (Ladder, error) {
	return axial("Axial", base, rounding, dims, 1)
}

// axial returns the frequencies of each axis, some times over.
func axial(function string, base float64, rounding Rounding, dims []int, times int) (Ladder, error) {
	c := checkerOf(function, rounding)
	c.Require(len(dims) >= 1 && len(dims) <= 256, "len(dims)", len(dims), "from 1 to 256 axes")
	all := unscaled(0)
	total, most := 0, MaxRotaryDim/times
	for axis, dim := range dims {
		c.common(fmt.Sprintf("dims[%d]", axis), dim, 2, base)
		if c.Err == nil {
			total += dim
			c.Require(total <= most, "the sum of dims", total, "at most %d", most)
		}
		if c.Err != nil {
			return Ladder{}, c.Err
		}
		ladder, err := Default(dim, base, rounding)
		if err != nil {
			return Ladder{}, err
		}
		for range times {
			all.InvFreq = append(all.InvFreq, ladder.InvFreq...)
		}
		all.Axes = append(all.Axes, bytes.Repeat([]uint8{uint8(axis)}, times*dim/2)...)
	}
	return c.ladder(all)
}

// AxialAlternating returns the frequencies of Pixtral's images. It deals the frequencies
// of [Default] for the whole head out to the two axes: rows take the even ones and columns
// the odd ones. For k < headDim/4
//
//	InvFreq[k]           = base^(-4k/headDim)        axis 0, the row of a patch
//	InvFreq[headDim/4+k] = base^(-(4k+2)/headDim)    axis 1, its column
//
// headDim is a multiple of 4.
func AxialAlternating(headDim int, base float64, rounding Rounding) (Ladder, error) {
	ladder, err := quarters("AxialAlternating", headDim, headDim, base, rounding)
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

// AxialInterleaved returns the frequencies for a grid whose axes alternate from pair to
// pair. For k < headDim/4
//
//	InvFreq[2k] = InvFreq[2k+1] = base^(-4k/headDim)    axis 0, and axis 1
//
// EfficientLoFTR has rows and columns, counted from 1. Its headDim is 256, all heads
// together: pass a View with one head. Kimi's MoonViT has columns and rows. Both have
// interleaved pairs. headDim is a multiple of 4.
func AxialInterleaved(headDim int, base float64, rounding Rounding) (Ladder, error) {
	ladder, err := quarters("AxialInterleaved", headDim, headDim/2, base, rounding)
	if err != nil {
		return Ladder{}, err
	}
	all := unscaled(0)
	for _, w := range ladder.InvFreq {
		all.InvFreq, all.Axes = append(all.InvFreq, w, w), append(all.Axes, 0, 1)
	}
	return all, nil
}

func quarters(function string, headDim, dim int, base float64, rounding Rounding) (Ladder, error) {
	c := begin(function, "headDim", headDim, 4, base, rounding)
	c.Require(headDim%4 == 0, "headDim", headDim, "a multiple of 4")
	if c.Err != nil {
		return Ladder{}, c.Err
	}
	return Default(dim, base, rounding)
}

// AxialTiled returns a frequency for each element, not for each pair, as V-JEPA 2 needs it. That
// model repeats the frequencies of an axis but rotates neighbouring elements, so the two elements
// of a pair have different angles. Axis a has dims[a] elements, and its element j has
//
//	InvFreq = base^(-2(j mod dims[a]/2)/dims[a])
//
// V-JEPA 2 has base 10000. Its dims for frame, row and column are each 2*(headDim/6),
// rounded down, and the rest of a head is not rotated. A posenc.Rotary whose HeadDim is
// twice the number of elements writes the rows:
//
//	ladder, err := frequency.AxialTiled(10000, frequency.Exact, 20, 20, 20)
//	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 2 * 60, InvFreq: ladder.InvFreq, Axes: ladder.Axes})
//	err = rope.CosSinAxes(cos, sin, positions) // [tokens][60]
//	rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: 64, RotaryDim: 60, Layout: posenc.Interleaved},
//		posenc.Table[float32]{Cos: cos, Sin: sin, FullWidth: true})
//
// Each of dims is even, and they add up to at most MaxRotaryDim/2.
func AxialTiled(base float64, rounding Rounding, dims ...int) (Ladder, error) {
	return axial("AxialTiled", base, rounding, dims, 2)
}

// ESMFold2Parameters are the parameters of [ESMFold2], keys of the configuration of its
// atom encoder.
type ESMFold2Parameters struct {
	SpatialPairs int     // num_spatial_rope_pairs_per_axis: 2; at least 1
	UIDPairs     int     // num_uid_rope_pairs: 10; at least 1
	SpatialBase  float64 // spatial_rope_base_frequency: 20
	UIDBase      float64 // uid_rope_base_frequency: 10000
}

// ESMFold2 returns the frequencies for atoms. An atom has four positions: x, y and z in
// ångströms, and the id of its space (ref_pos, ref_space_uid). Pass all of them as
// fractional positions to posenc.Rotary.CosSinFractionalAxes. There are headDim/2 pairs, with
// half-split layout. x, y and z each have SpatialPairs of them, and the id has UIDPairs:
//
//	InvFreq = SpatialBase^(-k/SpatialPairs)    axes 0, 1 and 2, one after another
//	InvFreq = UIDBase^(-k/UIDPairs)            axis 3
//
// The remaining pairs have frequency 0: they do not rotate. Source:
// EsmFold2RotaryEmbedding of transformers.
func ESMFold2(headDim int, p ESMFold2Parameters, rounding Rounding) (Ladder, error) {
	c := begin("ESMFold2", "headDim", headDim, 2, p.SpatialBase, rounding)
	c.Require(p.SpatialPairs >= 1 && p.SpatialPairs <= headDim/6, "p.SpatialPairs", p.SpatialPairs, "at least 1, and at most a third of the %d pairs", headDim/2)
	c.Require(p.UIDPairs >= 1 && p.UIDPairs <= headDim/2-3*p.SpatialPairs, "p.UIDPairs", p.UIDPairs, "at least 1, and at most the %d pairs that x, y and z leave of %d", max(0, headDim/2-3*p.SpatialPairs), headDim/2)
	c.common("headDim", headDim, 2, p.UIDBase)
	if c.Err != nil {
		return Ladder{}, c.Err
	}
	spatial := 2 * p.SpatialPairs
	all, err := Axial(p.SpatialBase, rounding, spatial, spatial, spatial)
	if err != nil {
		return Ladder{}, err
	}
	uid, err := Default(2*p.UIDPairs, p.UIDBase, rounding)
	if err != nil {
		return Ladder{}, err
	}
	all.InvFreq = append(all.InvFreq, uid.InvFreq...)
	all.InvFreq = append(all.InvFreq, make([]float64, headDim/2-len(all.InvFreq))...)
	for len(all.Axes) < headDim/2 {
		all.Axes = append(all.Axes, 3)
	}
	return all, nil
}

// Sections returns the axis from which each pair takes its position, for models that
// number tokens by time, height and width. Each axis has a run of pairs: the first
// sections[0] pairs are of axis 0, the next sections[1] pairs are of axis 1, and so on.
// Used by Qwen2-VL and Qwen2.5-VL (mrope_section [16, 24, 24]: time, height, width),
// GLM-4V, HunYuan (xdrope_section, four axes) and ggml's MROPE (rope.dimension_sections).
//
// There are 1 to 256 sections. None is negative. Together they have at least 1 and at most
// MaxRotaryDim/2 pairs. The result has one entry for each pair and is for
// posenc.RotaryConfig.Axes.
func Sections(sections ...int) ([]uint8, error) {
	c := checkerOf("Sections", Exact)
	c.Require(len(sections) >= 1 && len(sections) <= 256, "len(sections)", len(sections), "from 1 to 256")
	pairs := c.sections(sections, func(i int) string { return argument.Indexed("sections", i) })
	if c.Err != nil {
		return nil, c.Err
	}
	axes := make([]uint8, 0, pairs)
	for axis, n := range sections {
		axes = append(axes, bytes.Repeat([]uint8{uint8(axis)}, n)...)
	}
	return axes, nil
}

// ImageSections are counts of pairs of each axis, within the limits of [Sections]. Axis 0 is time,
// axis 1 is height and axis 2 is width.
type ImageSections struct {
	Time, Height, Width int
}

// InterleavedSections returns the axis of each pair for models in which pairs of time, height and
// width take turns, as in Qwen3-VL (mrope_section [24, 20, 20], mrope_interleaved: time, height,
// width). There are Time + Height + Width pairs. Pair j is of
//
//	axis 1 where j%3 = 1 and j < 3*Height,
//	axis 2 where j%3 = 2 and j < 3*Width,
//	axis 0 otherwise.
//
// Height and width each get at most every third pair, however large their counts are, as
// in transformers. The other pairs belong to time.
func InterleavedSections(sections ImageSections) ([]uint8, error) {
	c := checkerOf("InterleavedSections", Exact)
	pairs := c.imageSections(sections)
	if c.Err != nil {
		return nil, c.Err
	}
	axes := make([]uint8, pairs)
	for j := range axes {
		if j%3 == 1 && j < 3*sections.Height {
			axes[j] = 1
		} else if j%3 == 2 && j < 3*sections.Width {
			axes[j] = 2
		}
	}
	return axes, nil
}

// AlternatingSections returns the axis of each pair for models in which the first pairs
// alternate between height and width and the others belong to time, as in ERNIE 4.5 VL
// (mrope_section [22, 22, 20]: height, width, time). Height and Width must be equal.
func AlternatingSections(sections ImageSections) ([]uint8, error) {
	c := checkerOf("AlternatingSections", Exact)
	pairs := c.imageSections(sections)
	c.Require(sections.Height == sections.Width, "sections.Width", sections.Width, "sections.Height = %d", sections.Height)
	if c.Err != nil {
		return nil, c.Err
	}
	axes := make([]uint8, pairs)
	for j := range 2 * sections.Height {
		axes[j] = uint8(1 + j%2)
	}
	return axes, nil
}

func (c *checker) imageSections(s ImageSections) (pairs int) {
	names := [...]string{"sections.Time", "sections.Height", "sections.Width"}
	return c.sections([]int{s.Time, s.Height, s.Width}, func(i int) string { return names[i] })
}

func (c *checker) sections(sections []int, name func(i int) string) (pairs int) {
	for i, n := range sections {
		c.Require(n >= 0 && n <= MaxRotaryDim/2-pairs, name(i), n, "at least 0, and at most %d pairs in all", MaxRotaryDim/2)
		if c.Err != nil {
			return 0
		}
		pairs += n
	}
	c.Require(pairs > 0, "the sum of sections", pairs, "at least 1 pair")
	return pairs
}
