package models

import (
	_ "embed"
	"slices"
	"strings"
)

// Reuse is about files with code that transformers does not have for their model_type: their architectures, or the
// classes of their auto_map, say whose code it is. Source: the packages of testdata/reused, or the files of the models.
type Reuse struct {
	Type    string   // the model_type of the files
	Classes []string // in architectures or auto_map; "file." stands for all classes of a file in auto_map
	As      string   // the type whose code it is, or
	// Positions is what the code has in place of a rotation.
	Positions string
}

// UnreadKeys are keys of rotation that files of types have whose code rotates nothing, and that no code reads.
type UnreadKeys struct{ Types, Keys []string }

// UnreadRotation returns the keys of a type.
func UnreadRotation(modelType string) []string {
	for _, v := range Vendors {
		for _, u := range v.UnreadRotation {
			if slices.Contains(u.Types, modelType) {
				return u.Keys
			}
		}
	}
	return nil
}

// unrotated lists the model types of transformers whose code rotates nothing and which hold no type that
// does. A line is a type, how the names of its classes begin (-: in no common way), and how they end.
// testdata/transformers/survey.py writes the types, testdata/reused/reused.py the classes.
//
//go:embed unrotated.txt
var unrotated string

// Unrotated returns the names of the types of transformers whose code rotates nothing.
func Unrotated() (names []string) {
	for line := range strings.Lines(unrotated) {
		names = append(names, strings.Fields(line)[0])
	}
	return names
}

// ClassesOf returns the classes of a type whose code rotates nothing. ok is false for other types.
func ClassesOf(modelType string) (classes []string, ok bool) {
	line := unrotatedLine(modelType)
	for _, end := range line[min(2, len(line)):] {
		classes = append(classes, strings.TrimPrefix(line[1], "-")+end)
	}
	return classes, line != nil
}

func unrotatedLine(modelType string) []string {
	for line := range strings.Lines(unrotated) {
		if strings.HasPrefix(line, modelType) {
			if fields := strings.Fields(line); fields[0] == modelType {
				return fields
			}
		}
	}
	return nil
}

// IsClassOf reports whether transformers has a class for a type whose code rotates nothing, today or as
// TensorFlow's or Flax's.
func IsClassOf(modelType, class string) bool {
	classes, _ := ClassesOf(modelType)
	older := strings.TrimPrefix(strings.TrimPrefix(class, "TF"), "Flax")
	return slices.Contains(classes, older) || slices.Contains(classes, class)
}

// UnrotatedTypeOf returns a type whose code rotates nothing and that has a class in transformers, "" if there is none.
func UnrotatedTypeOf(class string) string {
	for _, name := range Unrotated() {
		if IsClassOf(name, class) {
			return name
		}
	}
	return ""
}

// TypeOfClass returns the text model whose name a class has, as LlamaForCausalLM has that of llama, or "".
func TypeOfClass(class string) string {
	name, _, found := strings.Cut(class, "For")
	for _, end := range []string{"LMHeadModel", "Model"} {
		if !found {
			name, found = strings.CutSuffix(class, end)
		}
	}
	if !found {
		return ""
	}
	plain := func(name string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	}
	names := Types.Names()
	if i := slices.IndexFunc(names, func(other string) bool { return plain(other) == plain(name) }); i >= 0 {
		return names[i]
	}
	return ""
}

// ReuseOf returns the entry for a type and one of the classes, or nil. Of a class in auto_map file is the file
// that has it.
func ReuseOf(modelType, file, class string) *Reuse {
	for _, v := range Vendors {
		for i := range v.Reuses {
			r := &v.Reuses[i]
			if r.Type == modelType && (slices.Contains(r.Classes, class) || file != "" && slices.Contains(r.Classes, file+".")) {
				return r
			}
		}
	}
	return nil
}
