package models

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
)

var Vendors = [...]*Vendor{
	&audioModels, &bailingModels, &cohereModels, &deepseekModels, &dotsModels, &encodersModels, &ernieModels, &exaoneModels,
	&falconModels, &gemmaModels, &glmModels, &gptModels, &graniteModels, &hunyuanModels, &inklingModels, &internlmModels,
	&kimiModels, &lfmModels, &linearModels, &llamaModels, &minicpmModels, &minimaxModels, &mistralModels, &museModels,
	&nemotronModels, &olmoModels, &othersModels, &panguModels, &phiModels, &qwenModels, &sarvamModels, &stepModels, &teleModels, &visionModels,
	&xaiModels,
}

// find returns a copy of the value of a name, with this name first.
func find[T any](name string, list func(v *Vendor) []T, names func(t *T) (first *string, also []string)) *T {
	for _, v := range Vendors {
		values := list(v)
		for i := range values {
			if first, also := names(&values[i]); *first == name || slices.Contains(also, name) {
				value := values[i]
				first, _ = names(&value)
				*first = name
				return &value
			}
		}
	}
	return nil
}

func typesNames(t *ModelType) (*string, []string) { return &t.Name, t.Also }

func TextType(name string) *ModelType {
	return find(name, func(v *Vendor) []ModelType { return v.Types }, typesNames)
}

// Reads reports whether a type of text models, of towers or of models that hold them has a name.
func Reads(name string) bool {
	return TextType(name) != nil || TowerType(name) != nil || HolderOf(name) != nil
}

// TypeOfUntyped returns the type of the files of an architecture that have no model_type, or "".
func TypeOfUntyped(architecture string) string {
	for _, v := range Vendors {
		for _, t := range v.Types {
			if slices.Contains(t.Untyped, architecture) {
				return t.Name
			}
		}
	}
	return ""
}

func TowerType(name string) *ModelType {
	return find(name, func(v *Vendor) []ModelType { return v.Towers }, typesNames)
}

func HolderOf(name string) *Holder {
	h := find(name, func(v *Vendor) []Holder { return v.Holders }, func(h *Holder) (*string, []string) { return &h.Name, h.Also })
	if h != nil {
		stem := strings.NewReplacer("-", "_", ".", "_").Replace(name)
		h.Text.Type, h.Tower.Type = strings.Replace(h.Text.Type, "*", stem, 1), strings.Replace(h.Tower.Type, "*", stem, 1)
	}
	return h
}

func ArchitectureNamed(name string) *GGUFArchitecture {
	return find(name, func(v *Vendor) []GGUFArchitecture { return v.Architectures }, func(a *GGUFArchitecture) (*string, []string) { return &a.Name, a.Also })
}

// ServedArchitectures lists the types that are names of architectures, one in a line: the programs that serve them give no type.
//
//go:embed served.txt
var ServedArchitectures string

// positionsOf returns "" for names that are not in the list.
func positionsOf(name string, list func(v *Vendor) []PositionsOf) string {
	for _, v := range Vendors {
		for _, p := range list(v) {
			if slices.Contains(p.Names, name) {
				return p.Positions
			}
		}
	}
	return ""
}

func PositionsOfType(name string) string {
	return positionsOf(name, func(v *Vendor) []PositionsOf { return v.OtherPositions })
}

func PositionsOfTower(name string) string {
	return positionsOf(name, func(v *Vendor) []PositionsOf { return v.OtherTowers })
}

func PositionsOfArchitecture(name string) string {
	return positionsOf(name, func(v *Vendor) []PositionsOf { return v.OtherArchitectures })
}

func RefusalOfArchitecture(name string) string {
	for _, v := range Vendors {
		for _, a := range v.RefusedArchitectures {
			if a.Name == name {
				return a.Want
			}
		}
	}
	return ""
}

func NamesOf(names func(v *Vendor, add func(names ...string))) []string {
	return slices.Sorted(slices.Values(namesOf(names)))
}

func namesOf(names func(v *Vendor, add func(names ...string))) (all []string) {
	for _, v := range Vendors {
		names(v, func(names ...string) { all = append(all, names...) })
	}
	return all
}

func AddTypes(list []ModelType, add func(names ...string)) {
	for i := range list {
		add(list[i].Name)
		add(list[i].Also...)
	}
}

func (v *Vendor) AddHolders(add func(names ...string)) {
	for i := range v.Holders {
		add(v.Holders[i].Name)
		add(v.Holders[i].Also...)
	}
}

func (v *Vendor) AddArchitectures(add func(names ...string)) {
	for i := range v.Architectures {
		add(v.Architectures[i].Name)
		add(v.Architectures[i].Also...)
	}
}

// LayoutDiffers reports whether a type, or an architecture, has the elements of a head in another
// order in the other format's files. The architecture of a type is GGUF, or the one of the same
// letters and digits.
func LayoutDiffers(name string, ofGGUF bool) bool {
	types, architectures := []string{name}, []string{name}
	if ofGGUF {
		types = namesOf(func(v *Vendor, add func(names ...string)) { AddTypes(v.Types, add) })
	} else {
		architectures = namesOf((*Vendor).AddArchitectures)
	}
	letters := strings.NewReplacer("_", "", "-", "")
	for _, of := range types {
		t := TextType(of)
		if t == nil {
			continue
		}
		stem := letters.Replace(cmp.Or(t.GGUF, strings.TrimSuffix(of, "_text")))
		i := slices.IndexFunc(architectures, func(a string) bool { return letters.Replace(a) == stem })
		if i >= 0 && (t.Family().Layout == posenc.HalfSplit) != (ArchitectureNamed(architectures[i]).Layout == posenc.HalfSplit) {
			return true
		}
	}
	return false
}
