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

// ImageSections are counts of pairs of each axis, for models that number tokens by time,
// height and width: none negative, at least 1 and at most MaxRotaryDim/2 in all. The axes
// are 0 for time, 1 for height and 2 for width.
type ImageSections struct {
	Time, Height, Width int
}

// InterleavedSections returns the axis of each pair where pairs of time, height and
// width follow one another, as in Qwen3-VL (mrope_section [24, 20, 20],
// mrope_interleaved: time, height, width). Of Time + Height + Width pairs, pair j is of
//
//	axis 1 where j%3 = 1 and j < 3*Height,
//	axis 2 where j%3 = 2 and j < 3*Width,
//	axis 0 otherwise.
//
// Height and width get no more than every third pair each, whatever their counts, as
// in transformers: the other pairs are time's. Errors wrap ErrParameter.
func InterleavedSections(sections ImageSections) ([]uint8, error) {
	c := checker{function: "InterleavedSections"}
	pairs := c.imageSections(sections)
	if c.err != nil {
		return nil, c.err
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

// AlternatingSections returns the axis of each pair where the first pairs alternate
// between height and width and the others are time's, as ERNIE 4.5 VL does (mrope_section [22,
// 22, 20]: height, width, time). Height and Width are equal. Errors wrap ErrParameter.
func AlternatingSections(sections ImageSections) ([]uint8, error) {
	c := checker{function: "AlternatingSections"}
	pairs := c.imageSections(sections)
	c.require(sections.Height == sections.Width, "sections.Width", sections.Width, "sections.Height, which is %d", sections.Height)
	if c.err != nil {
		return nil, c.err
	}
	axes := make([]uint8, pairs)
	for j := range 2 * sections.Height {
		axes[j] = uint8(1 + j%2)
	}
	return axes, nil
}

// section is a count of pairs and its name.
type section struct {
	name  string
	pairs int
}

// imageSections returns the pairs of all axes.
func (c *checker) imageSections(s ImageSections) (pairs int) {
	return c.sections(section{"sections.Time", s.Time}, section{"sections.Height", s.Height}, section{"sections.Width", s.Width})
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
