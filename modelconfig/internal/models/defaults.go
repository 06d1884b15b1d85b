package models

import (
	"cmp"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// Family returns the type with its usual values in place of zero ones.
func (t *ModelType) Family() Family {
	f := Family{
		ModelType: t, Keys: t.Keys, Positions: t.Positions, Base: t.Base, BaseKeys: t.BaseKeys,
		Part: cmp.Or(t.Part, 1), WholeHead: t.Part == 0 && t.RotaryDim == 0, Layout: t.Layout, Plan: t.layersPlan(),
		InterleavedSections: t.Axes == interleavedSections, ExtraKeys: t.ExtraKeys, Absent: Parsed(t.Absent), Check: t.Check, Rule: t.Rule,
	}
	if f.BaseKeys == nil && !t.NoBaseKey {
		f.BaseKeys = []string{"rope_theta"}
	}
	if f.Layout == 0 {
		f.Layout = posenc.HalfSplit
		if t.Latent {
			f.Layout = posenc.InterleavedToHalfSplit
		}
	}
	switch {
	case f.Keys != nil:
	case t.Latent:
		f.Keys = latent
	case t.Arrangement != nil:
		f.Keys = towerNames
	default:
		f.Keys = usual
	}
	if t.PositionType != "" {
		f.Check = positionType(t.PositionType, cmp.Or(t.AbsentPositionType, t.PositionType))
	}
	if t.Arrangement != nil {
		f.Positions = 1 // not a key of towers, and nothing depends on it
		f.Base = cmp.Or(f.Base, 1e4)
		f.Rule = axialRule
	}
	var axesKeys []string
	switch t.Axes {
	case sectionsInOrder:
		f.Axes, f.AxisCount, axesKeys = func(s []int) ([]uint8, error) { return frequency.Sections(s...) }, 3, []string{"mrope_section"}
	case anySections:
		f.Axes, axesKeys = func(s []int) ([]uint8, error) { return frequency.Sections(s...) }, []string{"mrope_section", "xdrope_section"}
	case interleavedSections:
		f.Axes, f.AxisCount, axesKeys = func(s []int) ([]uint8, error) {
			return frequency.InterleavedSections(frequency.ImageSections{Time: s[0], Height: s[1], Width: s[2]})
		}, 3, []string{"mrope_section", "mrope_interleaved", "interleaved"}
	case alternatingSections:
		f.Axes, f.AxisCount, axesKeys = func(s []int) ([]uint8, error) {
			return frequency.AlternatingSections(frequency.ImageSections{Time: s[2], Height: s[0], Width: s[1]})
		}, 3, []string{"mrope_section"}
	}
	f.ExtraKeys = slices.Concat(f.ExtraKeys, axesKeys)
	return f
}

// layersPlan returns which layers there are.
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
	switch {
	case t.Indexers == inEveryLayer:
		return typedIndexer("", p)
	case t.Indexers == byIndexerTypes:
		return sharedIndexers(topKFrequency, p)
	case t.IndexerType != "":
		return typedIndexer(t.IndexerType, p)
	}
	return p
}

// absent returns the layer types of a file without a list of them.
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
