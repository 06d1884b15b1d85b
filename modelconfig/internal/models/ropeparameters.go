package models

import (
	"strings"

	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// RopeParameters are the numbers that a rule takes.
type RopeParameters struct {
	*document.Reader                  // of their keys
	Model            *document.Reader // of the keys beside it
	Family           *Family
	Kind             *KindDefaults

	RopeType           string
	HeadDim, RotaryDim int
	HeadDimKey         string // of the keys beside the rope parameters
	Base, Partial      float64
	Positions          int // max_position_embeddings
}

// OriginalPositions returns the trained length, in the rope parameters or beside them (Phi-3); in neither it
// is max_position_embeddings.
func (p *RopeParameters) OriginalPositions(least int) int {
	const key = "original_max_position_embeddings"
	inside, given := p.Integer(key)
	beside, also := p.Model.Integer(key)
	switch {
	case given && also && inside != beside:
		p.Fail(document.ErrContradiction, key, inside, "the value beside %s, which is %d", strings.TrimSuffix(p.Path, "."), beside)
	case given && inside < least:
		p.Fail(document.ErrValue, key, inside, "at least %d", least)
	case also && beside < least:
		p.Model.Fail(document.ErrValue, key, beside, "at least %d", least)
	case given:
		return inside
	case also:
		return beside
	case p.Family.OriginalPositions != 0:
		return p.Family.OriginalPositions
	}
	return p.Positions
}

// AttentionFactor returns the key that replaces the derived factor, 0 if it is absent.
func (p *RopeParameters) AttentionFactor() float64 {
	if p.Family.YarnGrowth != 0 && (p.Lookup("rope_type") == p.Family.YarnName || p.Lookup("type") == p.Family.YarnName) {
		return yarnGrowth(p)
	}
	if factor, ok := p.Positive("attention_factor"); ok {
		return factor
	}
	return p.Kind.AttentionFactor
}
