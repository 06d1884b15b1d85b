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

// List is one of the lists that each vendor has.
type List[T any] struct {
	of    func(v *Vendor) []T
	names func(t *T) (first string, also []string)
}

var (
	Types                = List[ModelType]{func(v *Vendor) []ModelType { return v.Types }, (*ModelType).names}
	Towers               = List[ModelType]{func(v *Vendor) []ModelType { return v.Towers }, (*ModelType).names}
	Holders              = List[Holder]{func(v *Vendor) []Holder { return v.Holders }, (*Holder).names}
	Architectures        = List[GGUFArchitecture]{func(v *Vendor) []GGUFArchitecture { return v.Architectures }, (*GGUFArchitecture).names}
	OtherTypes           = List[PositionsOf]{func(v *Vendor) []PositionsOf { return v.OtherPositions }, (*PositionsOf).names}
	OtherTowers          = List[PositionsOf]{func(v *Vendor) []PositionsOf { return v.OtherTowers }, (*PositionsOf).names}
	OtherArchitectures   = List[PositionsOf]{func(v *Vendor) []PositionsOf { return v.OtherArchitectures }, (*PositionsOf).names}
	RefusedArchitectures = List[PositionsOf]{func(v *Vendor) []PositionsOf { return v.RefusedArchitectures }, (*PositionsOf).names}
)

func (t *ModelType) names() (string, []string)        { return t.Name, t.Also }
func (h *Holder) names() (string, []string)           { return h.Name, h.Also }
func (a *GGUFArchitecture) names() (string, []string) { return a.Name, a.Also }
func (p *PositionsOf) names() (string, []string)      { return p.Names[0], p.Names[1:] }

// Named returns a copy of the value that has a name, or nil.
func (l List[T]) Named(name string) *T {
	for _, v := range Vendors {
		values := l.of(v)
		for i := range values {
			if first, also := l.names(&values[i]); first == name || slices.Contains(also, name) {
				value := values[i]
				return &value
			}
		}
	}
	return nil
}

// Names returns the names of all values, sorted.
func (l List[T]) Names() (names []string) {
	for _, v := range Vendors {
		values := l.of(v)
		for i := range values {
			first, also := l.names(&values[i])
			names = append(append(names, first), also...)
		}
	}
	slices.Sort(names)
	return names
}

// PositionsIn returns "" for names that are not in the list.
func PositionsIn(l List[PositionsOf], name string) string {
	if p := l.Named(name); p != nil {
		return p.Positions
	}
	return ""
}

// Reads reports whether a type of text models, of towers or of models that hold them has a name.
func Reads(name string) bool {
	return Types.Named(name) != nil || Towers.Named(name) != nil || HolderOf(name) != nil
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

// TowerKeys returns the keys under which files have vision towers.
func TowerKeys() []string {
	var keys []string
	for _, v := range Vendors {
		for _, h := range v.Holders {
			keys = append(keys, h.Tower.Key)
		}
	}
	slices.Sort(keys)
	return slices.DeleteFunc(slices.Compact(keys), func(key string) bool { return key == "" })
}

func HolderOf(name string) *Holder {
	h := Holders.Named(name)
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

// LayoutDiffers reports whether a type, or an architecture, has the elements of a head in another
// order in the other format's files. The architecture of a type is GGUF, or the one of the same
// letters and digits.
func LayoutDiffers(name string, ofGGUF bool) bool {
	types, architectures := []string{name}, []string{name}
	if ofGGUF {
		types = Types.Names()
	} else {
		architectures = Architectures.Names()
	}
	letters := strings.NewReplacer("_", "", "-", "")
	for _, of := range types {
		t := Types.Named(of)
		if t == nil {
			continue
		}
		stem := letters.Replace(cmp.Or(t.GGUF, strings.TrimSuffix(of, "_text")))
		i := slices.IndexFunc(architectures, func(a string) bool { return letters.Replace(a) == stem })
		if i >= 0 && (t.WithDefaults().Layout == posenc.HalfSplit) != (Architectures.Named(architectures[i]).Layout == posenc.HalfSplit) {
			return true
		}
	}
	return false
}
