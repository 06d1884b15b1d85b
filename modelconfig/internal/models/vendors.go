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

// find returns a copy of the value that has a name.
func find[T any](name string, list func(v *Vendor) []T, names func(t *T) (first string, also []string)) *T {
	for _, v := range Vendors {
		values := list(v)
		for i := range values {
			if first, also := names(&values[i]); first == name || slices.Contains(also, name) {
				value := values[i]
				return &value
			}
		}
	}
	return nil
}

func (t *ModelType) names() (string, []string)        { return t.Name, t.Also }
func (h *Holder) names() (string, []string)           { return h.Name, h.Also }
func (a *GGUFArchitecture) names() (string, []string) { return a.Name, a.Also }
func (p *PositionsOf) names() (string, []string)      { return p.Names[0], p.Names[1:] }

func (v *Vendor) types() []ModelType                { return v.Types }
func (v *Vendor) towers() []ModelType               { return v.Towers }
func (v *Vendor) holders() []Holder                 { return v.Holders }
func (v *Vendor) architectures() []GGUFArchitecture { return v.Architectures }

func TextType(name string) *ModelType { return find(name, (*Vendor).types, (*ModelType).names) }

func TowerType(name string) *ModelType { return find(name, (*Vendor).towers, (*ModelType).names) }

func ArchitectureNamed(name string) *GGUFArchitecture {
	return find(name, (*Vendor).architectures, (*GGUFArchitecture).names)
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

func HolderOf(name string) *Holder {
	h := find(name, (*Vendor).holders, (*Holder).names)
	if h != nil {
		stem := strings.NewReplacer("-", "_", ".", "_").Replace(name)
		h.Text.Type, h.Tower.Type = strings.Replace(h.Text.Type, "*", stem, 1), strings.Replace(h.Tower.Type, "*", stem, 1)
	}
	return h
}

// ServedArchitectures lists the types that are names of architectures, one in a line: the programs that serve them give no type.
//
//go:embed served.txt
var ServedArchitectures string

// positionsOf returns "" for names that are not in the list.
func positionsOf(name string, list func(v *Vendor) []PositionsOf) string {
	if p := find(name, list, (*PositionsOf).names); p != nil {
		return p.Positions
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
	return positionsOf(name, func(v *Vendor) []PositionsOf { return v.RefusedArchitectures })
}

// NamesOf returns the sorted names of some lists of all vendors.
func NamesOf(lists ...func(v *Vendor) []string) (names []string) {
	for _, v := range Vendors {
		for _, list := range lists {
			names = append(names, list(v)...)
		}
	}
	slices.Sort(names)
	return names
}

func (v *Vendor) TypeNames() []string   { return namesOf(v.Types, (*ModelType).names) }
func (v *Vendor) TowerNames() []string  { return namesOf(v.Towers, (*ModelType).names) }
func (v *Vendor) HolderNames() []string { return namesOf(v.Holders, (*Holder).names) }
func (v *Vendor) ArchitectureNames() []string {
	return namesOf(v.Architectures, (*GGUFArchitecture).names)
}

func namesOf[T any](list []T, names func(t *T) (first string, also []string)) (all []string) {
	for i := range list {
		first, also := names(&list[i])
		all = append(append(all, first), also...)
	}
	return all
}

func (v *Vendor) OtherTypeNames() []string {
	return namesOf(v.OtherPositions, (*PositionsOf).names)
}
func (v *Vendor) OtherArchitectureNames() []string {
	return namesOf(v.OtherArchitectures, (*PositionsOf).names)
}

// LayoutDiffers reports whether a type, or an architecture, has the elements of a head in another
// order in the other format's files. The architecture of a type is GGUF, or the one of the same
// letters and digits.
func LayoutDiffers(name string, ofGGUF bool) bool {
	types, architectures := []string{name}, []string{name}
	if ofGGUF {
		types = NamesOf((*Vendor).TypeNames)
	} else {
		architectures = NamesOf((*Vendor).ArchitectureNames)
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
