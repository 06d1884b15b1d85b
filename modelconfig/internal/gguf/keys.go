package gguf

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// ggufReader takes values from the metadata. After the first error it does nothing.
type ggufReader struct {
	keys    map[string]any
	tensors map[string][]float32 // nil for those that have no frequency factors
	prefix  string               // the architecture
	err     error
}

// name is the whole key: general keys and names of tensors have no architecture before them.
func (r *ggufReader) name(key string) string {
	if strings.HasPrefix(key, "general.") || strings.HasSuffix(key, ".weight") || key == "tensors" || key == splitKey {
		return key
	}
	return r.prefix + r.written(key)
}

func (r *ggufReader) failIf(wrong bool, sentinel error, key string, value any, expected string, args ...any) {
	if wrong && r.err == nil {
		args = slices.Clone(args)
		for i := range args {
			args[i] = short(args[i])
		}
		r.err = document.ValueError(sentinel, "GGUF", r.name(key), short(value), expected, args...)
	}
}

// float32Text is a number of a GGUF file, whose numbers are float32.
type float32Text float64

// Format writes the shortest number that is the same float32, or by the verb where that has digits (%.7g).
func (x float32Text) Format(f fmt.State, verb rune) {
	if _, digits := f.Precision(); digits || float64(float32(x)) != float64(x) {
		fmt.Fprintf(f, fmt.FormatString(f, verb), float64(x))
		return
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), float32(x))
}

func short(value any) any {
	if x, ok := value.(float64); ok {
		return float32Text(x)
	}
	return value
}

func (r *ggufReader) has(key string) bool { return r.keys[r.name(key)] != nil }

// read returns what convert makes of the value of a key, or missing if the key is absent.
func read[T any](r *ggufReader, key string, missing T, expected string, convert func(v reflect.Value) (T, bool)) T {
	v, present := r.keys[r.name(key)]
	if r.err != nil || !present {
		return missing
	}
	x, ok := missing, false
	if v == nil {
		expected = "a value"
	} else {
		x, ok = convert(reflect.ValueOf(v))
	}
	r.failIf(!ok, document.ErrSyntax, key, fmt.Sprintf("of type %T", v), "%s", expected)
	return x
}

func (r *ggufReader) text(key, missing string) string {
	return read(r, key, missing, "a string", func(v reflect.Value) (string, bool) { return v.String(), v.Kind() == reflect.String })
}

func (r *ggufReader) flag(key string, missing bool) bool {
	return read(r, key, missing, "a bool", func(v reflect.Value) (set, ok bool) {
		ok = v.Kind() == reflect.Bool
		return ok && v.Bool(), ok
	})
}

func (r *ggufReader) number(key string, missing float64) float64 {
	x := read(r, key, missing, "a number", func(v reflect.Value) (float64, bool) {
		switch {
		case v.CanFloat():
			return v.Float(), true
		case v.CanInt():
			return float64(v.Int()), true
		case v.CanUint():
			return float64(v.Uint()), true
		}
		return 0, false
	})
	r.failIf(!(math.Abs(x) <= math.MaxFloat64), document.ErrValue, key, x, "a finite number")
	return x
}

func (r *ggufReader) integer(key string, missing int) int {
	return read(r, key, missing, "an integer", r.counts(key))
}

func (r *ggufReader) counts(key string) func(v reflect.Value) (int, bool) {
	return func(v reflect.Value) (int, bool) {
		n, ok := int64(-1), v.CanInt() || v.CanUint()
		switch {
		case v.CanInt():
			n = v.Int()
		case ok && v.Uint() <= math.MaxInt32:
			n = int64(v.Uint())
		}
		r.failIf(ok && (n < 0 || n > math.MaxInt32), document.ErrValue, key, v, "an integer from 0 to %d", math.MaxInt32)
		return int(min(max(n, 0), math.MaxInt32)), ok
	}
}

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }

func (r *ggufReader) isList(key string) bool {
	return read(r, key, false, "", func(v reflect.Value) (bool, bool) { return isList(v), true })
}

// integers returns a list of up to most; readers that skip a list may leave it empty.
func (r *ggufReader) integers(key string, most int) []int {
	n := read(r, key, -1, "a list of integers", func(v reflect.Value) (int, bool) {
		if !isList(v) {
			return -1, false
		}
		return v.Len(), true
	})
	r.failIf(n == 0 || n > most, document.ErrValue, key, document.ListText(n), "from 1 to %d integers", most)
	return r.perLayer(key, max(n, 0))
}

// listOf returns the values of a list. In []any each is the value in an interface.
func listOf[T any](v reflect.Value, n int, convert func(v reflect.Value) (T, bool)) ([]T, bool) {
	list, ok := make([]T, n), true
	for i := 0; ok && i < n; i++ {
		e := v.Index(i)
		if e.Kind() == reflect.Interface {
			e = e.Elem()
		}
		list[i], ok = convert(e)
	}
	return list, ok
}

// perLayer returns an integer for each layer, from a list or from one for all; nil if it is absent. The list
// may continue with the layers that predict further tokens.
func (r *ggufReader) perLayer(key string, count int) []int {
	return layerValues(r, key, count, "an integer", r.counts(key))
}

// flagPerLayer is perLayer for flags: bools, or integers other than 0.
func (r *ggufReader) flagPerLayer(key string, count int) []bool {
	return layerValues(r, key, count, "an integer", func(v reflect.Value) (bool, bool) {
		if v.Kind() == reflect.Bool {
			return v.Bool(), true
		}
		n, ok := r.counts(key)(v)
		return n != 0, ok
	})
}

func layerValues[T any](r *ggufReader, key string, count int, expected string, convert func(v reflect.Value) (T, bool)) []T {
	return read(r, key, nil, expected, func(v reflect.Value) ([]T, bool) {
		if !isList(v) {
			x, ok := convert(v)
			return slices.Repeat([]T{x}, count), ok
		}
		r.failIf(v.Len() < count, document.ErrValue, key, document.ListText(v.Len()), "a list of at least %d values, one for each layer", count)
		list, ok := listOf(v, min(count, v.Len()), convert)
		return append(list, make([]T, count-len(list))...), ok
	})
}

// tensor returns the factors of a tensor; nil if the file does not have it.
func (r *ggufReader) tensor(name string) []float64 {
	values, present := r.tensors[name]
	if !present || r.err != nil {
		return nil
	}
	most := description.MaxRotaryDim / 2
	r.failIf(len(values) == 0 || len(values) > most, document.ErrValue, name, document.ListText(len(values)), "its values: one factor for each pair, at most %d", most)
	factors := make([]float64, min(len(values), most))
	for i := range factors {
		factors[i] = float64(values[i])
		r.failIf(!(factors[i] > 0) || math.IsInf(factors[i], 0), document.ErrValue, name, values[i], "finite numbers above 0")
	}
	return factors
}
