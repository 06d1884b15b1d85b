package frequency_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
)

// digits returns axes that are written as digits.
func digits(s string) []uint8 {
	var axes []uint8
	for _, c := range strings.ReplaceAll(s, " ", "") {
		axes = append(axes, uint8(c-'0'))
	}
	return axes
}

// The axes of models. Those of Qwen2-VL, Qwen3-VL, Qwen3.5 and ERNIE 4.5 VL are what the
// rotary embeddings of transformers 5.23.0 do with a position on one axis at a
// time. Those of HunYuan are the model's own code and vLLM's; transformers
// 5.23.0 gives the two elements of a pair different axes, which no rotation is.
func TestAxesOfModels(t *testing.T) {
	for _, tt := range []struct {
		name string
		axes func() ([]uint8, error)
		want string
	}{
		{"Qwen2-VL", func() ([]uint8, error) { return Sections(16, 24, 24) },
			"0000000000000000 111111111111111111111111 222222222222222222222222"},
		{"Qwen3-VL", func() ([]uint8, error) { return InterleavedSections(ImageSections{Time: 24, Height: 20, Width: 20}) },
			"012012012012012012012012012012012012012012012012012012012012 0000"},
		{"ERNIE 4.5 VL", func() ([]uint8, error) { return AlternatingSections(ImageSections{Time: 20, Height: 22, Width: 22}) },
			"12121212121212121212121212121212121212121212 00000000000000000000"},
		{"HunYuan VL", func() ([]uint8, error) { return Sections(16, 16, 16, 16) },
			"0000000000000000 1111111111111111 2222222222222222 3333333333333333"},
		{"Qwen3.5", func() ([]uint8, error) { return InterleavedSections(ImageSections{Time: 11, Height: 11, Width: 10}) },
			"012012012012012012012012012012 01"},
		{"empty sections", func() ([]uint8, error) { return Sections(3, 0, 4) }, "000 2222"},
	} {
		axes, err := tt.axes()
		if want := digits(tt.want); err != nil || !slices.Equal(axes, want) {
			t.Errorf("%s: got %v, want %v, error %v", tt.name, axes, want, err)
		}
	}
}

// InterleavedSections overwrites a row of time by every third pair of height,
// from the second on, and of width, from the third on.
func TestInterleavedSectionsOverwrite(t *testing.T) {
	for time := range 12 {
		for height := range 12 {
			for width := range 12 {
				if time+height+width == 0 {
					continue
				}
				want := make([]uint8, time+height+width)
				for axis, n := range map[int]int{1: height, 2: width} {
					for j := axis; j < min(3*n, len(want)); j += 3 {
						want[j] = uint8(axis)
					}
				}
				axes, err := InterleavedSections(ImageSections{Time: time, Height: height, Width: width})
				if err != nil || !slices.Equal(axes, want) {
					t.Fatalf("%d, %d, %d: got %v, want %v, error %v", time, height, width, axes, want, err)
				}
			}
		}
	}
}

func TestAxesErrors(t *testing.T) {
	const largest = MaxRotaryDim / 2
	axes, err := Sections(slices.Repeat([]int{128}, 256)...)
	if err != nil || len(axes) != largest || axes[largest-1] != 255 {
		t.Errorf("256 sections of 128: %d pairs, error %v", len(axes), err)
	}
	for _, tt := range []struct {
		call func() ([]uint8, error)
		says string
	}{
		{func() ([]uint8, error) { return Sections() }, "frequency.Sections: len(sections) is 0, want from 1 to 256"},
		{func() ([]uint8, error) { return Sections(make([]int, 257)...) }, "frequency.Sections: len(sections) is 257, want from 1 to 256"},
		{func() ([]uint8, error) { return Sections(16, -1, 24) }, "frequency.Sections: sections[1] is -1, want at least 0"},
		{func() ([]uint8, error) { return Sections(0, 0) }, "frequency.Sections: the sum of sections is 0"},
		{func() ([]uint8, error) { return Sections(largest, 1) }, fmt.Sprintf("frequency.Sections: sections[1] is 1, want at least 0, and at most %d pairs in all", largest)},
		{func() ([]uint8, error) { return Sections(1, math.MaxInt, math.MaxInt) }, fmt.Sprint("frequency.Sections: sections[1] is ", math.MaxInt)},
		{func() ([]uint8, error) { return InterleavedSections(ImageSections{Time: 0, Height: 0, Width: 0}) }, "frequency.InterleavedSections: the sum of sections is 0"},
		{func() ([]uint8, error) { return InterleavedSections(ImageSections{Time: 24, Height: 20, Width: -20}) }, "frequency.InterleavedSections: sections.Width is -20"},
		{func() ([]uint8, error) { return InterleavedSections(ImageSections{Time: largest, Height: 0, Width: 1}) }, "frequency.InterleavedSections: sections.Width is 1"},
		{func() ([]uint8, error) { return AlternatingSections(ImageSections{Time: 22, Height: 22, Width: 20}) }, "frequency.AlternatingSections: sections.Width is 20, want sections.Height = 22"},
		{func() ([]uint8, error) { return AlternatingSections(ImageSections{Time: 0, Height: 0, Width: 0}) }, "frequency.AlternatingSections: the sum of sections is 0"},
		{func() ([]uint8, error) { return AlternatingSections(ImageSections{Time: 20, Height: -1, Width: -1}) }, "frequency.AlternatingSections: sections.Height is -1"},
		{func() ([]uint8, error) {
			return AlternatingSections(ImageSections{Time: 0, Height: largest, Width: largest})
		}, "frequency.AlternatingSections: sections.Width is 32768, want at least 0"},
	} {
		axes, err := tt.call()
		if axes != nil || !errors.Is(err, argument.ErrConfig) || !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("got %v and %v, want %q", axes, err, tt.says)
		}
	}
}
