// Package document reads what configurations of models are made of: JSON objects within bounds,
// keys under several names, their types, and errors that name them.
package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

func KindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(value)
	case string:
		return Quoted(value)
	case json.Number:
		if !isFinite(value) {
			return value.String()
		}
		return "the number " + Shortened(value.String())
	case []any:
		return ListText(len(value))
	}
	return "an object"
}

// Shortened returns a name or a number as an error shows it.
func Shortened(s string) string {
	const most = 96
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// Reader reads keys of a configuration. It keeps the first error. After it, every key is
// absent.
type Reader struct {
	Function string // for errors
	Keys     Object
	Path     string          // of keys: "", "text_config."
	Seen     map[string]bool // keys that were looked up
	OfKind   bool            // an object that the file has for one kind of layers
	Err      error
}

// NewReader reads a document for a function.
func NewReader(function string, config []byte) *Reader {
	r := &Reader{Function: function}
	var err error
	r.Keys, err = ParseObject(config)
	r.FailIf(err != nil, ErrSyntax, "config", err, "a JSON object")
	return r
}

func (r *Reader) Fail(sentinel error, key string, value any, expected string, args ...any) {
	if r.Err == nil {
		r.Err = ValueError(sentinel, r.Function, Shortened(r.Path+key), value, expected, args...)
	}
}

func (r *Reader) FailIf(wrong bool, sentinel error, key string, value any, expected string, args ...any) {
	if wrong {
		r.Fail(sentinel, key, value, expected, args...)
	}
}

// Within returns a reader of the object under key, with the same error so far.
func (r *Reader) Within(key string, keys Object) *Reader {
	return &Reader{Function: r.Function, Keys: keys, Path: r.Path + key + ".", Err: r.Err}
}

// Lookup returns the value of a key. A dot in it separates the key of an object from a key
// within. A null is absent, as in transformers.
func (r *Reader) Lookup(key string) any {
	if r.Err != nil {
		return nil
	}
	keys := r.Keys
	if r.Seen == nil {
		r.Seen = map[string]bool{}
	}
	r.Seen[key] = true
	for {
		first, rest, nested := strings.Cut(key, ".")
		if !nested {
			return keys[key]
		}
		keys, _ = keys[first].(Object) // nil if it is none
		key = rest
	}
}

// IsNull reports whether a key is there and null.
func (r *Reader) IsNull(key string) bool {
	keys := r.Keys
	for {
		first, rest, nested := strings.Cut(key, ".")
		if !nested {
			v, there := keys[key]
			return there && v == nil
		}
		keys, _ = keys[first].(Object)
		key = rest
	}
}

func (r *Reader) Has(key string) bool { return r.Lookup(key) != nil }

func read[T any](r *Reader, key, expected string, convert func(any) (T, bool)) (value T, present bool) {
	found := r.Lookup(key)
	if found == nil {
		return value, false
	}
	value, ok := convert(found)
	r.FailIf(!ok, ErrSyntax, key, KindOf(found), "%s", expected)
	return value, ok
}

func (r *Reader) Text(key string) (string, bool) {
	return read(r, key, "a string", func(v any) (string, bool) { s, ok := v.(string); return s, ok })
}

func (r *Reader) Boolean(key string) (bool, bool) {
	return read(r, key, "true or false", func(v any) (bool, bool) { b, ok := v.(bool); return b, ok })
}

// Flag returns a flag, or absent if the key is.
func (r *Reader) Flag(key string, absent bool) bool {
	if set, ok := r.Boolean(key); ok {
		return set
	}
	return absent
}

// MustLack fails for the first of the keys that is there.
func (r *Reader) MustLack(expected string, keys ...string) {
	for _, key := range keys {
		r.FailIf(r.Has(key), ErrUnknown, key, KindOf(r.Lookup(key)), "%s", expected)
	}
}

// OneEach reports whether the list under key has an entry for each layer, and fails if it has not.
func (r *Reader) OneEach(key string, entries, layers int) bool {
	r.FailIf(entries != layers, ErrContradiction, key, ListText(entries), "one entry for each of %d layers", layers)
	return entries == layers
}

// Set puts a value in the place of a key, not in the document itself.
func (r *Reader) Set(key string, value any) {
	keys := Object{}
	maps.Copy(keys, r.Keys)
	keys[key] = value
	r.Keys = keys
}

// MustBe fails if one of the flags is there and has another value.
func (r *Reader) MustBe(is bool, sentinel error, expected string, keys ...string) {
	for _, key := range keys {
		if set, ok := r.Boolean(key); ok && set != is {
			r.Fail(sentinel, key, set, "%s", expected)
		}
	}
}

func (r *Reader) Number(key string) (float64, bool) {
	return read(r, key, "a number that float64 has", ToNumber)
}

// Positive is number for values that have to be above 0.
func (r *Reader) Positive(key string) (float64, bool) {
	n, ok := r.Number(key)
	r.FailIf(ok && n <= 0, ErrValue, key, n, "a number above 0")
	return n, ok
}

// Optional is number for values whose default is 0.
func (r *Reader) Optional(key string) float64 {
	n, _ := r.Number(key)
	r.FailIf(n < 0, ErrValue, key, n, "0 or a number above 0")
	return n
}

func (r *Reader) Integer(key string) (int, bool) {
	return read(r, key, "a whole number below 2^31", toInteger)
}

func (r *Reader) Object(key string) (Object, bool) {
	return read(r, key, "an object", func(v any) (Object, bool) { o, ok := v.(Object); return o, ok })
}

func (r *Reader) Numbers(key string) ([]float64, bool) {
	return read(r, key, "a list of numbers that float64 has", listOf(ToNumber))
}

func (r *Reader) Integers(key string) ([]int, bool) {
	return read(r, key, "a list of whole numbers below 2^31", listOf(toInteger))
}

func (r *Reader) Texts(key string) ([]string, bool) {
	return read(r, key, "a list of strings", listOf(func(v any) (string, bool) { s, ok := v.(string); return s, ok }))
}

func ToNumber(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	x, err := strconv.ParseFloat(n.String(), 64)
	return x, err == nil && isFinite(n)
}

// isFinite reports whether a number is one of JSON's, not NaN or an infinity of Python.
func isFinite(n json.Number) bool {
	return !strings.HasSuffix(string(n), "NaN") && !strings.HasSuffix(string(n), "Infinity")
}

func toInteger(v any) (int, bool) {
	x, ok := ToNumber(v)
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

func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Value is a number that a configuration gives in one or several places.
type Value struct {
	Reader *Reader // of the first place
	Key    string
	Number float64
	Given  bool
}

// Agree adds another place of the same value, which must have the same number.
func (v *Value) Agree(r *Reader, key string) {
	number, ok := r.Number(key)
	if !ok {
		return
	}
	if !v.Given {
		*v = Value{r, key, number, true}
	}
	r.FailIf(v.Number != number, ErrContradiction, key, number, "the value of %s, which is %v", v.Name(), v.Number)
}

// Or returns the number, or absent if no key gives it.
func (v *Value) Or(absent float64) float64 {
	if v.Given {
		return v.Number
	}
	return absent
}

// Name returns the first place, with its path.
func (v *Value) Name() string { return Shortened(v.Reader.Path + v.Key) }

func (v *Value) Fail(sentinel error, expected string, args ...any) {
	v.Reader.Fail(sentinel, v.Key, v.Number, expected, args...)
}

// IntegerOr returns the number under one of the spellings of a key. If there are two, they
// must agree.
func (r *Reader) IntegerOr(spellings []string, absent int) int {
	result, first := absent, ""
	for _, key := range spellings {
		n, ok := r.Integer(key)
		if !ok {
			continue
		}
		r.FailIf(first != "" && n != result, ErrContradiction, key, n, "the value of %s, which is %d", first, result)
		result, first = n, key
	}
	return result
}

// Spelling returns the first spelling of a key that the configuration has, or the usual one
// if it has none.
func (r *Reader) Spelling(spellings []string) string {
	for _, key := range spellings {
		if r.Has(key) {
			return key
		}
	}
	return spellings[0]
}

// NumberOr returns the number under a key.
func (r *Reader) NumberOr(key string, absent float64) float64 {
	if n, ok := r.Number(key); ok {
		return n
	}
	return absent
}

// SameValue compares JSON values. Numbers are equal if their values are.
func SameValue(a, b any) bool {
	switch a := a.(type) {
	case Object:
		b, ok := b.(Object)
		return ok && maps.EqualFunc(a, b, SameValue)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, SameValue)
	}
	if x, ok := ToNumber(a); ok {
		y, ok := ToNumber(b)
		return ok && x == y
	}
	return a == b // of different types, if b is an object or a list
}

// Sentinel is what errors wrap.
type Sentinel string

func (s Sentinel) Error() string { return string(s) }

// Package modelconfig exports these.
const (
	ErrSyntax        Sentinel = "malformed configuration"
	ErrUnknown       Sentinel = "unknown"
	ErrNotRotary     Sentinel = "positions not rotary"
	ErrAbsent        Sentinel = "no such model"
	ErrValue         Sentinel = "invalid value"
	ErrContradiction Sentinel = "contradiction"
)

// ValueError describes a key of a configuration or an argument.
func ValueError(sentinel error, function, name string, value any, expected string, args ...any) error {
	return fmt.Errorf("modelconfig.%s: %s is %v, want %s: %w", function, name, value, fmt.Sprintf(expected, args...), sentinel)
}

const mostQuoted = 64 // characters

// Quoted returns a string as an error shows it: in quotes, and cut if it is long.
func Quoted(s string) string {
	if len(s) > mostQuoted {
		return fmt.Sprintf("%.*q...", mostQuoted, s)
	}
	return fmt.Sprintf("%q", s)
}

// KeyName returns the name of an unknown key as an error shows it: in quotes if it is long or
// has characters other than letters, digits, _ and -.
func KeyName(key string) string {
	plain := func(c rune) bool {
		return c == '_' || c == '-' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
	}
	if key == "" || len(key) > mostQuoted || strings.ContainsFunc(key, func(c rune) bool { return !plain(c) }) {
		return Quoted(key)
	}
	return key
}

// ListText returns a list as an error shows it: by its length.
func ListText(n int) string { return fmt.Sprintf("a list of %d", n) }
