package models

import (
	"cmp"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// Family returns the type with its usual values in place of zero ones.
func (t *ModelType) Family() Family {
	f := Family{ModelType: *t, WholeHead: t.Part == 0 && t.RotaryDim == 0, Axes: t.Axes, Absent: Parsed(t.Absent)}
	f.Part, f.Plan = cmp.Or(t.Part, 1), t.layersPlan()
	if f.BaseKeys == nil && !t.NoBaseKey {
		f.BaseKeys = []string{"rope_theta"}
	}
	f.Keys = cmp.Or(f.Keys, usual)
	switch {
	case t.Arrangement != nil:
		f.Keys = cmp.Or(t.Keys, towerNames)
		f.Positions = 1 // not a key of towers, and nothing depends on it
		f.Base = cmp.Or(f.Base, 1e4)
		f.Rule = axialRule
	case t.Latent:
		f.Keys, f.Layout = cmp.Or(t.Keys, latent), cmp.Or(f.Layout, posenc.InterleavedToHalfSplit)
	}
	f.Layout = cmp.Or(f.Layout, posenc.HalfSplit)
	if t.PositionType != "" {
		f.Check = positionType(t.PositionType, cmp.Or(t.AbsentPositionType, t.PositionType))
	}
	if t.ScalingObject {
		f.QueryScale, f.ScalesRotating = scaledByObject, true
	}
	if t.Axes != nil {
		f.ExtraKeys = slices.Concat(f.ExtraKeys, t.Axes.keys)
	}
	return f
}

func (t *ModelType) layersPlan() plan {
	p, rule := plan(everyLayer), t.LayerTypes
	switch {
	case t.Plan != nil:
		p = t.Plan
	case t.NoRopeInterval != 0:
		p = ropeFlags(t.NoRopeInterval)
	case rule != nil && rule.Alone:
		p = func(r *document.Reader, n int) []description.Layer { return named(rule.types(r, n), t.Rotating...) }
	case rule != nil:
		p = func(r *document.Reader, n int) []description.Layer {
			return named(typesOf(r, n, rule.types), t.Rotating...)
		}
	}
	switch t.Indexers {
	case "":
		return p
	case byIndexerTypes:
		return sharedIndexers(p)
	}
	return typedIndexer(t.Indexers, p)
}

func (t *LayerTypesRule) types(r *document.Reader, n int) []string {
	switch {
	case t.Custom != nil:
		return t.Custom(r, n)
	case t.Flags != "":
		if flags := flagged(r, t.Flags, n); flags != nil {
			return either(n, letters[t.Letters[1]], letters[t.Letters[0]], func(i int) bool { return flags[i] == 1 })
		}
		return patterned(t.Pattern, n)
	case t.Pattern != "":
		return patterned(t.Pattern, n)
	case t.List != "":
		return indexed(r, n, t.List, t.Others, t.All)
	case t.All != "":
		return slices.Repeat([]string{t.All}, n)
	}
	every := interval(r, t.Key, cmp.Or(t.Last, t.First))
	return either(n, cmp.Or(t.Full, "full_attention"), t.Others, func(i int) bool {
		return t.Last != 0 && (i+1)%every == 0 || t.Last == 0 && i%every == 0
	})
}
