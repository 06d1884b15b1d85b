package modelconfig

import "github.com/go-posenc/posenc/frequency"

// HuggingFaceVision reads the vision tower of a multimodal model from its config.json: the
// file of the whole model, which has the tower under vision_config, or the object of the
// tower alone. It treats keys, layouts, limits and errors as HuggingFace does. A tower with
// learned positions (CLIP, SigLIP) is ErrNotRotary.
//
// Each patch of an image has two positions, and positions are [2][patches]: axis 0 is the row
// of the patch, counted from the top, and axis 1 its column. RotaryConfig.Axes says which
// pair takes which axis; the order of axes is the same for all towers, whatever the model's
// own code does. Rows and columns start at 0 in each image. Each frame of a video has the
// positions of an image. If patches come row by row and n of them make a row, patch i is at
// i/n, i%n. Two groups of models differ:
//
//   - Llama 4 counts rows and columns from 1. Its class token is at 0, 0.
//   - Models that merge patches (Qwen2-VL and most others) put the patches that they merge
//     next to each other. The positions move with the patches; multimodal.PatchPositions
//     writes them in this order.
//
// Heads of d elements have these frequencies, for k < d/4:
//
//	base^(-4k/d)      for rows
//	base^(-4k/d)      for columns; Pixtral: base^(-(4k+2)/d)
//
// docs/models.md lists the towers and the order of their pairs. In no tower do frequencies
// depend on the length of the sequence.
func HuggingFaceVision(config []byte, options ...Options) (*Model, error) {
	return huggingFace("HuggingFaceVision", config, options, visionModel)
}

// visionModel returns the configuration of the vision tower, from that of several models.
func visionModel(r *reader) *reader {
	for range 3 {
		modelType, _ := r.text("model_type")
		h := holderOf(modelType)
		if r.err != nil || h == nil || h.tower.key == "" {
			break
		}
		inner, given := r.object(h.tower.key)
		if r.err != nil {
			break
		}
		if !given {
			inner = parsed(h.absentTower)
		}
		tower := r.within(h.tower.key, inner)
		innerType, given := tower.text("model_type")
		if !given {
			tower.keys = withType(inner, h.tower.innerType)
		} else if same := holderOf(innerType); same != nil && same.tower.key == h.tower.key {
			// transformers 4 wrote the type of the whole model.
			tower.keys = withType(inner, same.tower.innerType)
		}
		r = tower
	}
	modelType, given := r.text("model_type")
	if given && towerType(modelType) == nil && positionsOfType(modelType) == "" {
		unknownType(r, modelType, "a vision tower in docs/models.md or a model that holds one", false)
	}
	return r
}

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

// checkAxialHead fails for a head_dim that is not hidden size by heads.
func (f *family) checkAxialHead(r *reader) {
	dim, ok := r.integer("head_dim")
	if hidden, _ := hiddenByHeads(r, f); ok && r.err == nil && dim != hidden {
		r.fail(ErrContradiction, "head_dim", dim, "%s/%s, which is %d", f.names.hidden[0], f.names.heads[0], hidden)
	}
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
