package document

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// Texts and texts with a fault are read where encoding/json reads them, and as the same values.
func TestParseObject(t *testing.T) {
	const text = `{"model_type": "llama", "a": [1, -2.5e-3, 0, {"b": null, "\u00e9\n\"": [true, false, []]}], "c": {}, "d": "\ud83d\ude00x", "e": 1E+9}`
	letters := []string{"", "{", "}", "[", "]", ",", ":", `"`, "\\", "0", "1", "-", "+", ".", "e", "n", "null", "true", "\n", " ", "\x00", "\xff", "\u00e9", "//", "'"}
	random, read := rand.New(rand.NewPCG(1, 2)), 0
	for i := range 20000 {
		s := text
		for range i % 3 {
			at := random.IntN(len(s))
			s = s[:at] + letters[random.IntN(len(letters))] + s[min(len(s), at+random.IntN(3)):]
		}
		var want map[string]any
		valid := json.Valid([]byte(s))
		if d := json.NewDecoder(strings.NewReader(s)); valid {
			d.UseNumber()
			valid = d.Decode(&want) == nil
		}
		got, err := ParseObject([]byte(s))
		if err != nil && (strings.Contains(err.Error(), "appears twice") || strings.Contains(err.Error(), "UTF-16")) {
			continue // which encoding/json does not mind
		}
		if (err == nil) != valid || err == nil && !reflect.DeepEqual(plain(got), want) {
			t.Fatalf("%q: %v, %v; encoding/json has %v, %t", s, got, err, want, valid)
		}
		if err == nil {
			read++
		}
	}
	if read < 5000 {
		t.Errorf("%d texts are read", read)
	}
}

func plain(v any) any {
	switch v := v.(type) {
	case Object:
		m := map[string]any{}
		for key, value := range v {
			m[key] = plain(value)
		}
		return m
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}
