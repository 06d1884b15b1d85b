package huggingface

import (
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// classDecides fails where architectures name a class of another type than the file, and its code rotates otherwise:
// vLLM and SGLang go by the class, transformers by model_type. m is the file by its model_type.
func classDecides(r *document.Reader, function string, config []byte, m *description.Description) {
	for _, c := range classesOf(r) {
		other := models.TypeOfClass(c.name)
		if c.key != "architectures" || other == "" || models.Types.Named(other) == models.Types.Named(m.ModelType) {
			continue
		}
		byClass, err := Read(function, config, other, false)
		r.FailIf(err == nil && !rotateAlike(m, byClass), document.ErrContradiction, "architectures", document.Quoted(c.name),
			"a class of type %q: the code of type %q, which this class names, rotates otherwise. Set Options.Type to the type whose code it is",
			m.ModelType, other)
	}
}

// rotateAlike reports whether two descriptions have the same layers without rotation, pairs of the same layout, and
// the same part of a head that rotates. Sizes and bases may differ: what a file leaves out has another default in each type.
func rotateAlike(a, b *description.Description) bool {
	for i := range min(len(a.Layers), len(b.Layers)) {
		x, y := a.Layers[i], b.Layers[i]
		if x.Rotates != y.Rotates {
			return false
		}
		p, q := a.Kinds[x.Kind].Rotary, b.Kinds[y.Kind].Rotary
		if x.Rotates && (p.Layout != q.Layout || p.RotaryDim*q.HeadDim != q.RotaryDim*p.HeadDim) {
			return false
		}
	}
	return true
}
