package modelconfig

import "github.com/go-posenc/posenc/frequency"

// arrangement returns the frequencies and the axes of a head whose pairs have two axes: 0 for
// the row, 1 for the column.
type arrangement func(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error)

func rowsThenColumns(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error) {
	return frequency.Axial(base, rounding, headDim/2, headDim/2)
}

func columnsThenRows(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error) {
	ladder, err := rowsThenColumns(headDim, base, rounding)
	for j := range ladder.Axes {
		ladder.Axes[j] = 1 - ladder.Axes[j]
	}
	return ladder, err
}

// columnsAndRows alternates between pairs of columns and pairs of rows.
func columnsAndRows(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error) {
	ladder, err := frequency.AxialInterleaved(headDim, base, rounding)
	for j := range ladder.Axes {
		ladder.Axes[j] = 1 - ladder.Axes[j]
	}
	return ladder, err
}

func axialRule(p *ropeParameters) rule {
	p.failIf(p.ropeType != "default",
		ErrUnknown, "rope_type", quoted(p.ropeType), "\"axial\" or \"default\" in a vision tower (use posenc.RotaryConfig with InvFreq and Axes)")
	if factor, ok := p.number("factor"); ok && factor != 1 {
		p.fail(ErrContradiction, "factor", factor, "1 or absent: vision towers do not scale")
	}
	p.model.failIf(p.headDim%4 != 0, ErrValue, p.headDimKey, kindOf(p.model.lookup(p.headDimKey)), "a multiple of 4 elements in a head, not %d", p.headDim)
	dim, base, arrange := p.headDim, p.base, p.family.arrangement
	return rule{
		ladder: func(_ int, rounding frequency.Rounding) (frequency.Ladder, error) {
			return arrange(dim, base, rounding)
		},
		described: frequencyRule{Name: "axial", Base: base},
	}
}

var (
	towerNames = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers"}, nil}
	qwenTower  = &spellings{[]string{"hidden_size"}, []string{"num_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"depth", "num_hidden_layers"}, nil}
	embedTower = &spellings{[]string{"embed_dim"}, []string{"num_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"depth", "num_hidden_layers"}, nil}
	moonTower  = &spellings{[]string{"hidden_size", "vt_hidden_size"}, []string{"num_attention_heads", "vt_num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers", "vt_num_hidden_layers"}, nil}
)

// alternateConvolutions: the first two layers are convolutions. After them, every second layer
// has attention.
func alternateConvolutions(_ *reader, n int) []string {
	return full(n, "conv", func(i int) bool { return i >= 2 && i%2 == 0 })
}
