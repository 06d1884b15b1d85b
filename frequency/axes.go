package frequency

import (
	"bytes"

	"github.com/go-posenc/posenc/internal/argument"
)

// Sections returns the axis from which each pair takes its position, for models that
// number tokens by time, height and width. Each axis has a run of pairs: the first
// sections[0] pairs are of axis 0, the next sections[1] pairs are of axis 1, and so on.
// Used by Qwen2-VL and Qwen2.5-VL (mrope_section [16, 24, 24]: time, height, width),
// GLM-4V, HunYuan (xdrope_section, four axes) and ggml's MROPE (rope.dimension_sections).
//
// There are 1 to 256 sections. Each is a count of pairs and not negative. Together they
// have at least 1 and at most MaxRotaryDim/2 pairs. The result has one entry for each pair
// and is for posenc.RotaryConfig.Axes.
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

// ImageSections are counts of pairs of each axis, for models that number tokens by time,
// height and width. None is negative. Together they have at least 1 and at most
// MaxRotaryDim/2 pairs. Axis 0 is time, axis 1 is height and axis 2 is width.
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
