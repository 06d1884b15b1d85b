package modelconfig

import "strings"

// ropeParameters are the numbers that a rule takes.
type ropeParameters struct {
	*reader         // of their keys
	model   *reader // of the keys beside it
	family  *family
	kind    *kindDefaults

	ropeType           string
	headDim, rotaryDim int
	headDimKey         string // of the keys beside the rope parameters
	base, partial      float64
	positions          int // max_position_embeddings
}

// originalPositions returns the trained length before scaling. It is in the rope parameters or
// beside them (Phi-3); if it is in neither, it is max_position_embeddings.
func (p *ropeParameters) originalPositions(least int) int {
	const key = "original_max_position_embeddings"
	inside, given := p.integer(key)
	beside, also := p.model.integer(key)
	switch {
	case given && also && inside != beside:
		p.fail(ErrContradiction, key, inside, "the value beside %s, which is %d", strings.TrimSuffix(p.path, "."), beside)
	case given && inside < least:
		p.fail(ErrValue, key, inside, "at least %d", least)
	case also && beside < least:
		p.model.fail(ErrValue, key, beside, "at least %d", least)
	case given:
		return inside
	case also:
		return beside
	case p.family.originalPositions != 0:
		return p.family.originalPositions
	}
	return p.positions
}

// attentionFactor returns the key that replaces the derived factor, 0 if it is absent.
func (p *ropeParameters) attentionFactor() float64 {
	if factor, ok := p.positive("attention_factor"); ok {
		return factor
	}
	return p.kind.attentionFactor
}
