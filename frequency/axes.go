package frequency

import "fmt"

// Sections returns the axis of positions from which each pair takes its position,
// for models that number tokens by time, height and width: a run of pairs for each
// axis, one after another. The first sections[0] pairs are of axis 0, the next
// sections[1] of axis 1, and so on. Qwen2-VL and Qwen2.5-VL (mrope_section [16, 24,
// 24]: time, height, width), GLM-4V, HunYuan (xdrope_section, four axes), ggml's
// MROPE (rope.dimension_sections).
//
// Sections are counts of pairs, from 1 to 256 of them, none negative, at least 1 and
// at most MaxRotaryDim/2 pairs in all. The result is for posenc.RotaryConfig.Axes:
// one entry for each pair. Errors wrap ErrParameter.
func Sections(sections ...int) ([]uint8, error) {
	c := checker{function: "Sections"}
	c.require(len(sections) >= 1 && len(sections) <= 256, "len(sections)", len(sections), "from 1 to 256")
	var named []section
	for i, n := range sections {
		named = append(named, section{fmt.Sprintf("sections[%d]", i), n})
	}
	pairs := c.sections(named...)
	if c.err != nil {
		return nil, c.err
	}
	axes := make([]uint8, 0, pairs)
	for axis, n := range sections {
		for range n {
			axes = append(axes, uint8(axis))
		}
	}
	return axes, nil
}

// InterleavedSections returns the axis of each pair where pairs of time, height and
// width follow one another, as in Qwen3-VL (mrope_section [24, 20, 20],
// mrope_interleaved). Of time + height + width pairs, pair j is of
//
//	axis 1 where j%3 = 1 and j < 3*height,
//	axis 2 where j%3 = 2 and j < 3*width,
//	axis 0 otherwise.
//
// Height and width get no more than every third pair each, whatever their counts, as
// in transformers: the other pairs are time's.
//
// The arguments are counts of pairs, none negative, at least 1 and at most
// MaxRotaryDim/2 in all. Errors wrap ErrParameter.
func InterleavedSections(time, height, width int) ([]uint8, error) {
	c := checker{function: "InterleavedSections"}
	pairs := c.sections(section{"time", time}, section{"height", height}, section{"width", width})
	if c.err != nil {
		return nil, c.err
	}
	axes := make([]uint8, pairs)
	for j := range axes {
		if j%3 == 1 && j < 3*height {
			axes[j] = 1
		} else if j%3 == 2 && j < 3*width {
			axes[j] = 2
		}
	}
	return axes, nil
}

// AlternatingSections returns the axis of each pair where the first pairs alternate
// between height and width and the others are time's, as ERNIE 4.5 VL does (mrope_section [22,
// 22, 20]: height, width, time). The axes are 0 for time, 1 for height and 2 for
// width.
//
// The arguments are counts of pairs, none negative, height equal to width, at least 1
// and at most MaxRotaryDim/2 in all. Errors wrap ErrParameter.
func AlternatingSections(height, width, time int) ([]uint8, error) {
	c := checker{function: "AlternatingSections"}
	pairs := c.sections(section{"height", height}, section{"width", width}, section{"time", time})
	c.require(height == width, "width", width, "height, which is %d", height)
	if c.err != nil {
		return nil, c.err
	}
	axes := make([]uint8, pairs)
	for j := range 2 * height {
		axes[j] = uint8(1 + j%2)
	}
	return axes, nil
}

// section is a count of pairs and its name.
type section struct {
	name  string
	pairs int
}

// sections returns the pairs of all sections.
func (c *checker) sections(sections ...section) (pairs int) {
	for _, s := range sections {
		c.require(s.pairs >= 0 && s.pairs <= MaxRotaryDim/2-pairs, s.name, s.pairs, "at least 0, and at most %d pairs in all", MaxRotaryDim/2)
		if c.err != nil {
			return 0
		}
		pairs += s.pairs
	}
	c.require(pairs > 0, "the sum of sections", pairs, "at least 1 pair")
	return pairs
}
