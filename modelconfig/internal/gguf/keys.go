package gguf

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// ggufReader takes values from the metadata. After the first error it does nothing.
type ggufReader struct {
	keys   map[string]any
	prefix string // the architecture
	err    error
}

// name is the whole key: general keys and names of tensors have no architecture before them.
func (r *ggufReader) name(key string) string {
	if strings.HasPrefix(key, "general.") || strings.HasSuffix(key, ".weight") {
		return key
	}
	return r.prefix + key
}

func (r *ggufReader) fail(sentinel error, key string, value any, expected string, args ...any) {
	if r.err == nil {
		r.err = document.ValueError(sentinel, "GGUF", r.name(key), value, expected, args...)
	}
}

func (r *ggufReader) failIf(wrong bool, sentinel error, key string, value any, expected string, args ...any) {
	if wrong {
		r.fail(sentinel, key, value, expected, args...)
	}
}

func (r *ggufReader) wrongType(key, expected string) {
	r.fail(document.ErrSyntax, key, fmt.Sprintf("of type %T", r.keys[r.name(key)]), "%s", expected)
}

func (r *ggufReader) has(key string) bool { return r.keys[r.name(key)] != nil }

// readValue returns what convert makes of the value of a key, or missing if the key is absent.
func readValue[T any](r *ggufReader, key string, missing T, convert func(key string, v reflect.Value) T) T {
	v, present := r.keys[r.name(key)]
	if r.err != nil || !present {
		return missing
	}
	if v == nil {
		r.wrongType(key, "a value")
		return missing
	}
	return convert(key, reflect.ValueOf(v))
}

func (r *ggufReader) text(key, missing string) string {
	return readValue(r, key, missing, func(key string, v reflect.Value) string {
		if v.Kind() != reflect.String {
			r.wrongType(key, "a string")
		}
		return v.String()
	})
}

func (r *ggufReader) flag(key string, missing bool) bool {
	return readValue(r, key, missing, func(key string, v reflect.Value) bool {
		if v.Kind() != reflect.Bool {
			r.wrongType(key, "a bool")
			return false
		}
		return v.Bool()
	})
}

func (r *ggufReader) number(key string, missing float64) float64 {
	x := readValue(r, key, missing, func(key string, v reflect.Value) float64 {
		switch {
		case v.CanFloat():
			return v.Float()
		case v.CanInt():
			return float64(v.Int())
		case v.CanUint():
			return float64(v.Uint())
		}
		r.wrongType(key, "a number")
		return 0
	})
	r.failIf(!(math.Abs(x) <= math.MaxFloat64), document.ErrValue, key, x, "a finite number")
	return x
}

func (r *ggufReader) integer(key string, missing int) int {
	return readValue(r, key, missing, r.count)
}

func (r *ggufReader) count(key string, v reflect.Value) int {
	switch {
	case v.CanInt() && v.Int() >= 0 && v.Int() <= math.MaxInt32:
		return int(v.Int())
	case v.CanUint() && v.Uint() <= math.MaxInt32:
		return int(v.Uint())
	case v.CanInt() || v.CanUint():
		r.fail(document.ErrValue, key, v, "an integer from 0 to %d", math.MaxInt32)
	default:
		r.wrongType(key, "an integer")
	}
	return 0
}

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }

func (r *ggufReader) isList(key string) bool {
	return readValue(r, key, false, func(_ string, v reflect.Value) bool { return isList(v) })
}

// element returns one value of a list. In []any it is the value in the interface.
func element(list reflect.Value, i int) reflect.Value {
	v := list.Index(i)
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func (r *ggufReader) integers(key string, most int) []int {
	return readValue(r, key, nil, func(key string, v reflect.Value) []int {
		switch {
		case !isList(v):
			r.wrongType(key, "a list of integers")
			return nil
		case v.Len() == 0 || v.Len() > most: // readers that skip a list may leave it empty
			r.fail(document.ErrValue, key, document.ListText(v.Len()), "from 1 to %d integers", most)
			return nil
		}
		return r.perLayer(key, v.Len())
	})
}

// perLayer returns an integer for each layer, from a list or from one for all; nil if it is absent. The list
// may continue with the layers that predict further tokens.
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
	return readValue(r, key, nil, func(key string, v reflect.Value) []T {
		list := make([]T, count)
		if isList(v) && v.Len() < count {
			r.fail(document.ErrValue, key, document.ListText(v.Len()), "a list of at least %d values, one for each layer", count)
			return list
		}
		for i := range list {
			e := v
			if isList(v) {
				e = element(v, i)
			}
			list[i] = convert(key, e)
		}
		return list
	})
}

func (r *ggufReader) tensor(name string) []float64 {
	return readValue(r, name, nil, func(name string, v reflect.Value) []float64 {
		switch {
		case !isList(v):
			r.wrongType(name, "a []float32 or []float64")
			return nil
		case v.Len() == 0 || v.Len() > description.MaxRotaryDim/2:
			r.fail(document.ErrValue, name, document.ListText(v.Len()), "one factor for each pair, at most %d", description.MaxRotaryDim/2)
			return nil
		}
		factors := make([]float64, v.Len())
		for i := range factors {
			e := element(v, i)
			if !e.CanFloat() {
				r.wrongType(name, "a []float32 or []float64")
				return nil
			}
			factors[i] = e.Float()
			r.failIf(!(factors[i] > 0 && factors[i] <= math.MaxFloat64), document.ErrValue, name, factors[i], "finite numbers above 0")
		}
		return factors
	})
}
