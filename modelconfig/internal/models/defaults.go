package models

import (
	"cmp"
	"slices"

	"github.com/go-posenc/posenc"
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
	p := everyLayer
	switch rule := t.LayerTypes; {
	case t.Plan != nil:
		p = t.Plan
	case t.NoRopeInterval != 0:
		p = ropeFlags(t.NoRopeInterval)
	case rule != nil:
		p = typed(rule.absent(), t.Rotating...)
	}
	switch t.Indexers {
	case "":
		return p
	case byIndexerTypes:
		return sharedIndexers(p)
	}
	return typedIndexer(t.Indexers, p)
}

func (t *LayerTypesRule) absent() func(r *document.Reader, n int) []string {
	switch {
	case t.Custom != nil:
		return t.Custom
	case t.Last != 0:
		return lastOf(t.Key, t.Last, t.Others)
	case t.First != 0:
		return firstOf(t.Key, t.First)
	case t.List != "":
		return indexed(t.List, t.Others, t.All)
	}
	return all(t.All)
}
