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
	pairs, err := pairsOf("Sections", sections)
	if err != nil {
		return nil, err
	}
	axes := make([]uint8, 0, pairs)
	for axis, n := range sections {
		for range n {
			axes = append(axes, uint8(axis))
		}
	}
	return axes, nil
}

// InterleavedSections returns the axis of each pair where pairs are dealt to time,
// height and width in turns, as Qwen3-VL does (mrope_section [24, 20, 20]). Of time +
// height + width pairs, pair j is of
//
//	axis 1 where j%3 = 1 and j < 3*height,
//	axis 2 where j%3 = 2 and j < 3*width,
//	axis 0 otherwise.
//
// Height and width get no more than every third pair each, whatever their counts, as
// in transformers: the rest is time's.
//
// The arguments are counts of pairs, none negative, at least 1 and at most
// MaxRotaryDim/2 in all. Errors wrap ErrParameter.
func InterleavedSections(time, height, width int) ([]uint8, error) {
	pairs, err := pairsOf("InterleavedSections", []int{time, height, width})
	if err != nil {
		return nil, err
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

// AlternatingSections returns the axis of each pair where height and width have the
// first pairs in turns and time the rest, as ERNIE 4.5 VL does (mrope_section [22,
// 22, 20]: height, width, time). The axes are 0 for time, 1 for height and 2 for
// width.
//
// The arguments are counts of pairs, none negative, height equal to width, at least 1
// and at most MaxRotaryDim/2 in all. Errors wrap ErrParameter.
func AlternatingSections(height, width, time int) ([]uint8, error) {
	pairs, err := pairsOf("AlternatingSections", []int{height, width, time})
	if err != nil {
		return nil, err
	}
	if height != width {
		return nil, fmt.Errorf("frequency.AlternatingSections: width is %d, want height, %d: %w", width, height, ErrParameter)
	}
	axes := make([]uint8, pairs)
	for j := range 2 * height {
		axes[j] = uint8(1 + j%2)
	}
	return axes, nil
}

// pairsOf returns the pairs of all sections.
func pairsOf(function string, sections []int) (int, error) {
	if len(sections) < 1 || len(sections) > 256 {
		return 0, fmt.Errorf("frequency.%s: sections are %d, want from 1 to 256: %w", function, len(sections), ErrParameter)
	}
	pairs := 0
	for i, n := range sections {
		if n < 0 || n > MaxRotaryDim/2-pairs {
			return 0, fmt.Errorf("frequency.%s: section %d is %d, want at least 0 and at most %d pairs in all: %w", function, i, n, MaxRotaryDim/2, ErrParameter)
		}
		pairs += n
	}
	if pairs == 0 {
		return 0, fmt.Errorf("frequency.%s: the sections are empty, want at least 1 pair: %w", function, ErrParameter)
	}
	return pairs, nil
}
