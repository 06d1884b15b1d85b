package models

import (
	"slices"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

func rowsThenColumns(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error) {
	return frequency.Axial(base, rounding, headDim/2, headDim/2)
}

func columnsThenRows(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error) {
	return swapped(rowsThenColumns(headDim, base, rounding))
}

// columnsAndRows alternates between pairs of columns and pairs of rows.
func columnsAndRows(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error) {
	return swapped(frequency.AxialInterleaved(headDim, base, rounding))
}

func swapped(ladder frequency.Ladder, err error) (frequency.Ladder, error) {
	for j := range ladder.Axes {
		ladder.Axes[j] = 1 - ladder.Axes[j]
	}
	return ladder, err
}

func axialRule(p *RopeParameters) description.Rule {
	p.FailIf(p.RopeType != "default",
		document.ErrUnknown, "rope_type", document.Quoted(p.RopeType), "\"axial\" or \"default\" in a vision tower (use posenc.RotaryConfig with InvFreq and Axes)")
	if factor, ok := p.Number("factor"); ok && factor != 1 {
		p.Fail(document.ErrContradiction, "factor", factor, "1 or absent: vision towers do not scale")
	}
	p.Model.FailIf(p.HeadDim%4 != 0, document.ErrValue, p.HeadDimKey, document.KindOf(p.Model.Lookup(p.HeadDimKey)), "a multiple of 4 elements in a head, not %d", p.HeadDim)
	rule := description.Plain("axial", p.Type.Arrangement, p.HeadDim, p.Base)
	if p.Kind.LayerType == globalLayer {
		scale := windowShare(p.Model)
		rule = rule.With(func(ladder *frequency.Ladder) {
			for i := range ladder.InvFreq {
				ladder.InvFreq[i] *= scale
			}
		})
	}
	return rule
}

// globalLayer is the kind of the layers of SAM 3 without windows.
const globalLayer = "global"

// globalLayers: in the listed layers positions are those in the image, scaled to the size of a window, in
// the others those in a window.
func globalLayers(r *document.Reader, key string, f *ModelType, layers []description.Layer) []KindDefaults {
	global, ok := r.Integers(key)
	if !ok {
		global = []int{7, 15, 23, 31}
	}
	return split(f, layers, "windowed", globalLayer, func(i int) bool { return !slices.Contains(global, i) })
}

// windowShare returns the size of a window by the size of the image, in patches.
func windowShare(r *document.Reader) float64 {
	size := func(key string, absent int) int {
		if _, list := r.Lookup(key).([]any); list {
			sides, _ := r.Integers(key)
			if len(slices.Compact(sides)) == 1 {
				return sides[0]
			}
			r.Fail(document.ErrUnknown, key, document.ListText(len(sides)), "equal sides (use posenc.RotaryConfig)")
			return absent
		}
		return r.IntegerOr([]string{key}, absent)
	}
	window, image, patch := size("window_size", 24), size("image_size", 1008), size("patch_size", 14)
	r.FailIf(window < 1, document.ErrValue, "window_size", window, "at least 1")
	r.FailIf(patch < 1, document.ErrValue, "patch_size", patch, "at least 1")
	r.FailIf(image < patch, document.ErrValue, "image_size", image, "at least patch_size, which is %d", patch)
	if r.Err != nil {
		return 1
	}
	return float64(window) / float64(image/patch)
}
