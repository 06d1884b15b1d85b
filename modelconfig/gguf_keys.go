package modelconfig

import (
	"fmt"
	"math"
	"reflect"
)

// ggufReader takes values from the metadata of a GGUF file. Its methods put
// prefix, the architecture, before the key. After the first error they do
// nothing.
type ggufReader struct {
	keys   map[string]any
	prefix string
	err    error
}

func (r *ggufReader) fail(sentinel error, name string, value any, expected string, args ...any) {
	if r.err == nil {
		r.err = valueError(sentinel, "GGUF", name, value, expected, args...)
	}
}

func (r *ggufReader) wrongType(key, expected string) {
	r.fail(ErrSyntax, key, fmt.Sprintf("of type %T", r.keys[key]), "%s", expected)
}

// value returns the value of a whole key; absent: not valid.
func (r *ggufReader) value(key string) reflect.Value {
	if r.err != nil {
		return reflect.Value{}
	}
	v, present := r.keys[key]
	if present && v == nil {
		r.wrongType(key, "a value")
	}
	return reflect.ValueOf(v)
}

// text takes a whole key.
func (r *ggufReader) text(key, missing string) string {
	v := r.value(key)
	if !v.IsValid() {
		return missing
	}
	if v.Kind() != reflect.String {
		r.wrongType(key, "a string")
	}
	return v.String()
}

func (r *ggufReader) flag(key string, missing bool) bool {
	v := r.value(r.prefix + key)
	if !v.IsValid() {
		return missing
	}
	if v.Kind() != reflect.Bool {
		r.wrongType(r.prefix+key, "a bool")
		return missing
	}
	return v.Bool()
}

func (r *ggufReader) number(key string, missing float64) float64 {
	v := r.value(r.prefix + key)
	if !v.IsValid() {
		return missing
	}
	var x float64
	switch {
	case v.CanFloat():
		x = v.Float()
	case v.CanInt():
		x = float64(v.Int())
	case v.CanUint():
		x = float64(v.Uint())
	default:
		r.wrongType(r.prefix+key, "a number")
		return missing
	}
	if !(math.Abs(x) <= math.MaxFloat64) {
		r.fail(ErrValue, r.prefix+key, x, "a finite number")
	}
	return x
}

// integer returns a number from 0 to the largest int32.
func (r *ggufReader) integer(key string, missing int) int {
	v := r.value(r.prefix + key)
	if !v.IsValid() {
		return missing
	}
	return r.count(r.prefix+key, v)
}

func (r *ggufReader) count(key string, v reflect.Value) int {
	switch {
	case v.CanInt() && v.Int() >= 0 && v.Int() <= math.MaxInt32:
		return int(v.Int())
	case v.CanUint() && v.Uint() <= math.MaxInt32:
		return int(v.Uint())
	case v.CanInt() || v.CanUint():
		r.fail(ErrValue, key, v, "an integer from 0 to %d", math.MaxInt32)
	default:
		r.wrongType(key, "an integer")
	}
	return 0
}

func isList(v reflect.Value) bool {
	return v.IsValid() && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array)
}

func (r *ggufReader) isList(key string) bool {
	return isList(r.value(r.prefix + key))
}

// element is one value of a list, that of the interface in []any.
func element(list reflect.Value, i int) reflect.Value {
	v := list.Index(i)
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// integers returns the integers of a short list; nil where it is absent.
func (r *ggufReader) integers(key string, most int) []int {
	v := r.value(r.prefix + key)
	if !v.IsValid() {
		return nil
	}
	if !isList(v) {
		r.wrongType(r.prefix+key, "a list of integers")
		return nil
	}
	if v.Len() == 0 || v.Len() > most { // readers that skip a list may leave it empty
		r.fail(ErrValue, r.prefix+key, listText(v.Len()), "from 1 to %d integers", most)
		return nil
	}
	list := make([]int, v.Len())
	for i := range list {
		list[i] = r.count(r.prefix+key, element(v, i))
	}
	return list
}

// perLayer returns an integer for each layer, from a list or one for all; nil
// where it is absent. The list may go on with the layers that predict further
// tokens.
func (r *ggufReader) perLayer(key string, count int) []int {
	return layerValues(r, key, count, r.count)
}

// flagPerLayer is perLayer for flags: bools, or integers other than 0.
func (r *ggufReader) flagPerLayer(key string, count int) []bool {
	return layerValues(r, key, count, func(key string, v reflect.Value) bool {
		if v.Kind() == reflect.Bool {
			return v.Bool()
		}
		return r.count(key, v) != 0
	})
}

func layerValues[T any](r *ggufReader, key string, count int, convert func(key string, v reflect.Value) T) []T {
	v := r.value(r.prefix + key)
	if !v.IsValid() {
		return nil
	}
	list := make([]T, count)
	if isList(v) && v.Len() < count {
		r.fail(ErrValue, r.prefix+key, listText(v.Len()), "a list of at least %d values, one for each layer", count)
		return list
	}
	for i := range list {
		e := v
		if isList(v) {
			e = element(v, i)
		}
		list[i] = convert(r.prefix+key, e)
	}
	return list
}

// tensor returns frequency factors; nil where they are absent.
func (r *ggufReader) tensor(name string) []float64 {
	v := r.value(name)
	if !v.IsValid() {
		return nil
	}
	if !isList(v) {
		r.wrongType(name, "a []float32 or []float64")
		return nil
	}
	if v.Len() == 0 || v.Len() > maxRotaryDim/2 {
		r.fail(ErrValue, name, listText(v.Len()), "one factor for each pair, at most %d", maxRotaryDim/2)
		return nil
	}
	factors := make([]float64, v.Len())
	for i := range factors {
		e := element(v, i)
		if !e.CanFloat() {
			r.wrongType(name, "a []float32 or []float64")
			return nil
		}
		if factors[i] = e.Float(); !(factors[i] > 0 && factors[i] <= math.MaxFloat64) {
			r.fail(ErrValue, name, factors[i], "finite numbers above 0")
			return nil
		}
	}
	return factors
}
