package frequency_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
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
	for name, tt := range map[string]struct {
		axes []uint8
		want string
	}{
		"Qwen2-VL":       {testkit.Must(Sections(16, 24, 24)), "0000000000000000 111111111111111111111111 222222222222222222222222"},
		"Qwen3-VL":       {testkit.Must(InterleavedSections(ImageSections{Time: 24, Height: 20, Width: 20})), "012012012012012012012012012012012012012012012012012012012012 0000"},
		"ERNIE 4.5 VL":   {testkit.Must(AlternatingSections(ImageSections{Time: 20, Height: 22, Width: 22})), "12121212121212121212121212121212121212121212 00000000000000000000"},
		"HunYuan VL":     {testkit.Must(Sections(16, 16, 16, 16)), "0000000000000000 1111111111111111 2222222222222222 3333333333333333"},
		"Qwen3.5":        {testkit.Must(InterleavedSections(ImageSections{Time: 11, Height: 11, Width: 10})), "012012012012012012012012012012 01"},
		"no time":        {testkit.Must(InterleavedSections(ImageSections{Height: 4})), "0100"}, // every third pair, from the second on, of a row of time
		"more width":     {testkit.Must(InterleavedSections(ImageSections{Time: 2, Height: 1, Width: 5})), "01200200"},
		"empty sections": {testkit.Must(Sections(3, 0, 4)), "000 2222"},
	} {
		if want := digits(tt.want); !slices.Equal(tt.axes, want) {
			t.Errorf("%s: got %v, want %v", name, tt.axes, want)
		}
	}
	const largest = MaxRotaryDim / 2
	if axes := testkit.Must(Sections(slices.Repeat([]int{128}, 256)...)); len(axes) != largest || axes[largest-1] != 255 {
		t.Errorf("256 sections of 128: %d pairs", len(axes))
	}
}
