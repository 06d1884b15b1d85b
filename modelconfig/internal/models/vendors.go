package models

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
)

// Vendors are all models.
var Vendors = [...]*Vendor{
	&audioModels,
	&bailingModels,
	&cohereModels,
	&deepseekModels,
	&dotsModels,
	&encodersModels,
	&ernieModels,
	&exaoneModels,
	&falconModels,
	&gemmaModels,
	&glmModels,
	&gptModels,
	&graniteModels,
	&hunyuanModels,
	&inklingModels,
	&internlmModels,
	&kimiModels,
	&lfmModels,
	&linearModels,
	&llamaModels,
	&minicpmModels,
	&minimaxModels,
	&mistralModels,
	&museModels,
	&nemotronModels,
	&olmoModels,
	&othersModels,
	&phiModels,
	&qwenModels,
	&stepModels,
	&visionModels,
}

// find returns the entry of a name in one of the vendors' lists.
func find[T any](list func(v *Vendor) []T, is func(t *T) bool) *T {
	for _, v := range Vendors {
		entries := list(v)
		for i := range entries {
			if is(&entries[i]) {
				return &entries[i]
			}
		}
	}
	return nil
}

func TextType(name string) *ModelType {
	return find(func(v *Vendor) []ModelType { return v.Types }, func(t *ModelType) bool { return t.Name == name })
}

func TowerType(name string) *ModelType {
	return find(func(v *Vendor) []ModelType { return v.Towers }, func(t *ModelType) bool { return t.Name == name })
}

func HolderOf(name string) *Holder {
	return find(func(v *Vendor) []Holder { return v.Holders }, func(h *Holder) bool { return h.Name == name })
}

// PositionsOfType returns the kind of positions of a type that does not rotate, "" for others.
func PositionsOfType(name string) string {
	if p := find(func(v *Vendor) []PositionsOf { return v.OtherPositions }, func(p *PositionsOf) bool { return p.Name == name }); p != nil {
		return p.Positions
	}
	return ""
}

func ArchitectureNamed(name string) *GGUFArchitecture {
	return find(func(v *Vendor) []GGUFArchitecture { return v.Architectures }, func(a *GGUFArchitecture) bool { return a.Name == name })
}

func PositionsOfArchitecture(name string) string {
	if p := find(func(v *Vendor) []PositionsOf { return v.OtherArchitectures }, func(p *PositionsOf) bool { return p.Name == name }); p != nil {
		return p.Positions
	}
	return ""
}

func RefusalOfArchitecture(name string) string {
	if a := find(func(v *Vendor) []RefusedArchitecture { return v.RefusedArchitectures }, func(a *RefusedArchitecture) bool { return a.Name == name }); a != nil {
		return a.Want
	}
	return ""
}

// NamesOf returns the names of the vendors' lists, sorted.
func NamesOf(names func(v *Vendor, add func(name string))) []string {
	var all []string
	for _, v := range Vendors {
		names(v, func(name string) { all = append(all, name) })
	}
	slices.Sort(all)
	return all
}

// architectureOf returns the architecture of a type's GGUF files, nil if it is not known: GGUF, or
// the one of the same name.
func (t *ModelType) architectureOf() *GGUFArchitecture {
	letters := strings.NewReplacer("_", "", "-", "")
	name := letters.Replace(cmp.Or(t.GGUF, strings.TrimSuffix(t.Name, "_text")))
	return find(func(v *Vendor) []GGUFArchitecture { return v.Architectures }, func(a *GGUFArchitecture) bool { return letters.Replace(a.Name) == name })
}

// LayoutDiffers reports whether a type, or an architecture, has the elements of a head in another
// order in the other format's files.
func LayoutDiffers(name string, ofGGUF bool) bool {
	differs := func(t *ModelType) bool {
		a := t.architectureOf()
		return a != nil && (a.Name == name || !ofGGUF) && (t.Family().Layout == posenc.HalfSplit) != (a.Layout == posenc.HalfSplit)
	}
	if ofGGUF {
		return find(func(v *Vendor) []ModelType { return v.Types }, differs) != nil
	}
	t := TextType(name)
	return t != nil && differs(t)
}
