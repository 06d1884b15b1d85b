package models

import (
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

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

func axialRule(p *RopeParameters) description.Rule {
	p.FailIf(p.RopeType != "default",
		document.ErrUnknown, "rope_type", document.Quoted(p.RopeType), "\"axial\" or \"default\" in a vision tower (use posenc.RotaryConfig with InvFreq and Axes)")
	if factor, ok := p.Number("factor"); ok && factor != 1 {
		p.Fail(document.ErrContradiction, "factor", factor, "1 or absent: vision towers do not scale")
	}
	p.Model.FailIf(p.HeadDim%4 != 0, document.ErrValue, p.HeadDimKey, document.KindOf(p.Model.Lookup(p.HeadDimKey)), "a multiple of 4 elements in a head, not %d", p.HeadDim)
	dim, base, arrange := p.HeadDim, p.Base, p.Family.Arrangement
	return description.Rule{
		Ladder: func(_ int, rounding frequency.Rounding) (frequency.Ladder, error) {
			return arrange(dim, base, rounding)
		},
		Described: description.FrequencyRule{Name: "axial", Base: base},
	}
}

var (
	towerNames  = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers"}, nil}
	qwenTower   = &Spellings{[]string{"hidden_size"}, []string{"num_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"depth", "num_hidden_layers"}, nil}
	embedTower  = &Spellings{[]string{"embed_dim"}, []string{"num_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"depth", "num_hidden_layers"}, nil}
	stepTower   = &Spellings{[]string{"width"}, []string{"heads"}, []string{"head_dim"}, []string{"layers"}, nil}
	kimiK3Tower = &Spellings{[]string{"qkv_hidden_size"}, []string{"num_attention_heads", "vt_num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers", "vt_num_hidden_layers"}, nil}
	moonTower   = &Spellings{[]string{"hidden_size", "vt_hidden_size"}, []string{"num_attention_heads", "vt_num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers", "vt_num_hidden_layers"}, nil}
)

// alternateConvolutions: from the third on, every second layer has attention.
func alternateConvolutions(_ *document.Reader, n int) []string {
	return full(n, "conv", func(i int) bool { return i >= 2 && i%2 == 0 })
}
