package modelconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a document. Published files have less than 1 MB, 50,000 values and 10 levels.
const (
	maxBytes  = 4 << 20
	maxDepth  = 64
	maxValues = 1 << 17 // of which each takes up to 400 bytes
)

// object is a JSON object. Numbers are json.Number, nulls nil.
type object map[string]any

// parseObject reads a document that is one object. A name that an object has twice is an
// error; encoding/json would take the last.
func parseObject(data []byte) (object, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%d bytes, more than %d", len(data), maxBytes)
	}
	d := json.NewDecoder(bytes.NewReader(withoutNonFinite(bytes.TrimPrefix(data, byteOrderMark))))
	d.UseNumber()
	values := maxValues
	value, err := parseValue(d, 0, &values)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more text after the object")
	}
	o, ok := value.(object)
	if !ok {
		return nil, fmt.Errorf("%s, not an object", kindOf(value))
	}
	return o, nil
}

var byteOrderMark = []byte("\uFEFF")

// parseValue reads a value at a depth. left is how many more values there may be.
func parseValue(d *json.Decoder, depth int, left *int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if *left--; *left < 0 {
		return nil, fmt.Errorf("more than %d values", maxValues)
	}
	delimiter, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("more than %d levels", maxDepth)
	}
	if delimiter == '[' {
		list := []any{}
		for d.More() {
			value, err := parseValue(d, depth+1, left)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := d.Token()
		return list, err
	}
	o := object{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string) // Decoder lets nothing else stand for a name
		if _, twice := o[name]; twice {
			return nil, fmt.Errorf("%s appears twice in one object", quoted(name))
		}
		if o[name], err = parseValue(d, depth+1, left); err != nil {
			return nil, err
		}
	}
	_, err = d.Token()
	return o, err
}

// nonFinite are literals that Python writes and JSON does not have (time_step_limit of Mamba
// models), and the numbers that replace them. These are beyond float64: they do no harm where
// nothing reads them, and are out of range where something does. Nobody writes such
// numbers, so kindOf can show the literals again.
var nonFinite = []struct{ literal, number string }{
	{"NaN", "0.1e+000999"}, {"Infinity", "0.2e+000999"}, {"-Infinity", "-0.2e+000999"},
}

// withoutNonFinite replaces the literals by the numbers, between blanks, so that no digit
// next to them becomes a part of them.
func withoutNonFinite(data []byte) []byte {
	var out []byte
	copied, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == 'N' || c == 'I' || c == '-'):
			for _, n := range nonFinite {
				if bytes.HasPrefix(data[i:], []byte(n.literal)) {
					out = fmt.Appendf(append(out, data[copied:i]...), " %s ", n.number)
					i += len(n.literal) - 1
					copied = i + 1
					break
				}
			}
		}
	}
	if out == nil {
		return data
	}
	return append(out, data[copied:]...)
}

func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(value)
	case string:
		return quoted(value)
	case json.Number:
		for _, n := range nonFinite {
			if value.String() == n.number {
				return n.literal
			}
		}
		return "the number " + shortened(value.String())
	case []any:
		return listText(len(value))
	}
	return "an object"
}

// shortened returns a name or a number as an error shows it.
func shortened(s string) string {
	const most = 96
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// reader reads keys of a configuration. It keeps the first error. After it, every key is
// absent.
type reader struct {
	function string // for errors
	keys     object
	path     string          // of keys: "", "text_config."
	seen     map[string]bool // keys that were looked up
	ofKind   bool            // an object that the file has for one kind of layers
	err      error
}

func (r *reader) fail(sentinel error, key string, value any, expected string, args ...any) {
	if r.err == nil {
		r.err = valueError(sentinel, r.function, shortened(r.path+key), value, expected, args...)
	}
}

func (r *reader) failIf(wrong bool, sentinel error, key string, value any, expected string, args ...any) {
	if wrong {
		r.fail(sentinel, key, value, expected, args...)
	}
}

// within returns a reader of the object under key.
func (r *reader) within(key string, keys object) *reader {
	return &reader{function: r.function, keys: keys, path: r.path + key + "."}
}

// lookup returns the value of a key. A dot in it separates the key of an object from a key
// within. A null is absent, as in transformers.
func (r *reader) lookup(key string) any {
	if r.err != nil {
		return nil
	}
	keys := r.keys
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[key] = true
	for {
		first, rest, nested := strings.Cut(key, ".")
		if !nested {
			return keys[key]
		}
		inner, ok := keys[first].(object)
		if !ok {
			return nil
		}
		keys, key = inner, rest
	}
}

func (r *reader) has(key string) bool { return r.lookup(key) != nil }

func read[T any](r *reader, key, expected string, convert func(any) (T, bool)) (value T, present bool) {
	found := r.lookup(key)
	if found == nil {
		return value, false
	}
	value, ok := convert(found)
	r.failIf(!ok, ErrSyntax, key, kindOf(found), "%s", expected)
	return value, ok
}

func (r *reader) text(key string) (string, bool) {
	return read(r, key, "a string", func(v any) (string, bool) { s, ok := v.(string); return s, ok })
}

func (r *reader) boolean(key string) (bool, bool) {
	return read(r, key, "true or false", func(v any) (bool, bool) { b, ok := v.(bool); return b, ok })
}

// mustBe fails if one of the flags is there and has another value.
func (r *reader) mustBe(is bool, sentinel error, expected string, keys ...string) {
	for _, key := range keys {
		if set, ok := r.boolean(key); ok && set != is {
			r.fail(sentinel, key, set, "%s", expected)
		}
	}
}

func (r *reader) number(key string) (float64, bool) {
	return read(r, key, "a number that float64 has", toNumber)
}

// positive is number for values that have to be above 0.
func (r *reader) positive(key string) (float64, bool) {
	n, ok := r.number(key)
	r.failIf(ok && n <= 0, ErrValue, key, n, "a number above 0")
	return n, ok
}

// optional is number for values whose default is 0.
func (r *reader) optional(key string) float64 {
	n, _ := r.number(key)
	r.failIf(n < 0, ErrValue, key, n, "0 or a number above 0")
	return n
}

func (r *reader) integer(key string) (int, bool) {
	return read(r, key, "a whole number below 2^31", toInteger)
}

func (r *reader) object(key string) (object, bool) {
	return read(r, key, "an object", func(v any) (object, bool) { o, ok := v.(object); return o, ok })
}

func (r *reader) numbers(key string) ([]float64, bool) {
	return read(r, key, "a list of numbers that float64 has", listOf(toNumber))
}

func (r *reader) integers(key string) ([]int, bool) {
	return read(r, key, "a list of whole numbers below 2^31", listOf(toInteger))
}

func (r *reader) texts(key string) ([]string, bool) {
	return read(r, key, "a list of strings", listOf(func(v any) (string, bool) { s, ok := v.(string); return s, ok }))
}

func toNumber(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	x, err := strconv.ParseFloat(n.String(), 64)
	return x, err == nil
}

func toInteger(v any) (int, bool) {
	x, ok := toNumber(v)
	if !ok || x != math.Trunc(x) || math.Abs(x) > math.MaxInt32 {
		return 0, false
	}
	return int(x), true
}

func listOf[T any](convert func(any) (T, bool)) func(any) ([]T, bool) {
	return func(v any) ([]T, bool) {
		values, ok := v.([]any)
		if !ok {
			return nil, false
		}
		list := make([]T, len(values))
		for i, value := range values {
			if list[i], ok = convert(value); !ok {
				return nil, false
			}
		}
		return list, true
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// value is a number that a configuration gives in one or several places.
type value struct {
	reader *reader // of the first place
	key    string
	number float64
	given  bool
}

// agree adds another place of the same value, which must have the same number.
func (v *value) agree(r *reader, key string) {
	number, ok := r.number(key)
	if !ok {
		return
	}
	if !v.given {
		*v = value{r, key, number, true}
	}
	r.failIf(v.number != number, ErrContradiction, key, number, "the value of %s, which is %v", v.name(), v.number)
}

// or returns the number, or absent if no key gives it.
func (v *value) or(absent float64) float64 {
	if v.given {
		return v.number
	}
	return absent
}

// name returns the first place, with its path.
func (v *value) name() string { return shortened(v.reader.path + v.key) }

func (v *value) fail(sentinel error, expected string, args ...any) {
	v.reader.fail(sentinel, v.key, v.number, expected, args...)
}

// integerOr returns the number under one of the spellings of a key. If there are two, they
// must agree.
func (r *reader) integerOr(spellings []string, absent int) int {
	result, first := absent, ""
	for _, key := range spellings {
		n, ok := r.integer(key)
		if !ok {
			continue
		}
		r.failIf(first != "" && n != result, ErrContradiction, key, n, "the value of %s, which is %d", first, result)
		result, first = n, key
	}
	return result
}

// spelling returns the first spelling of a key that the configuration has, or the usual one
// if it has none.
func (r *reader) spelling(spellings []string) string {
	for _, key := range spellings {
		if r.has(key) {
			return key
		}
	}
	return spellings[0]
}

// numberOr returns the number under a key.
func (r *reader) numberOr(key string, absent float64) float64 {
	if n, ok := r.number(key); ok {
		return n
	}
	return absent
}
