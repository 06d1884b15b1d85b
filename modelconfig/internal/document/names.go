package document

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"
)

// Nearest returns the shortest known name that begins with the given one
// (csm_depth_decoder_model for csm_depth_decoder). If there is none, it returns the known name
// with the fewest letters changed, added or left out, or "" if these are more than a third
// of the letters.
func Nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if k != name && strings.EqualFold(k, name) {
			return k
		}
	}
	for _, k := range known {
		if longer := strings.HasPrefix(k, name+"_"); longer && name != "" && (best == "" || len(k) < len(best)) {
			best = k
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if d := Distance(name, k, least); d < least {
			best, least = k, d
		}
	}
	return best
}

// NearestNote is what an error says about the nearest of the known names, "" if there is none.
// Types with similar names may rotate differently (qwen2_vl and qwen3_vl), so that it recommends none.
func NearestNote(name string, known []string) string {
	if near := Nearest(name, known); near != "" && near != name {
		return fmt.Sprintf(" (the nearest name is %q, which may rotate differently)", near)
	}
	return ""
}

// Distance counts the letters changed, added or left out (Levenshtein), up to most.
func Distance(a, b string, most int) int {
	if len(a) > mostQuoted || len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	// A letter that changes adds one to the set of letters, and takes one from it.
	of, other := lettersOf(a), lettersOf(b)
	if bits.OnesCount64(of&^other) >= most || bits.OnesCount64(other&^of) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return min(row[len(b)], most)
}

// lettersOf returns the set of the bytes of a name modulo 64.
func lettersOf(name string) (letters uint64) {
	for i := range len(name) {
		letters |= 1 << (name[i] & 63)
	}
	return letters
}

// subject is what a key is about, by its name.
type subject uint8

const (
	AboutOther    subject = iota // not positions
	AboutRotation                // rotary positions: rope, rotary, theta, a base of frequencies
	AboutOthers                  // something beside or in place of them: ALiBi, xPos, NoPE, relative positions, a scaling rule
	AboutKind                    // which kind of positions
)

func SubjectOf(key string) subject {
	words := WordsOf(key)
	has := func(names ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(names, w) })
	}
	next := func(first, second []string) bool {
		for i := range len(words) - 1 {
			if slices.Contains(first, words[i]) && slices.Contains(second, words[i+1]) {
				return true
			}
		}
		return false
	}
	freq, base := []string{"freq", "frequency", "freqs"}, []string{"base"}
	switch {
	case namesRope(key, words), has("rot", "theta", "neox"), next(freq, base), next(base, freq):
		return AboutRotation
	case has("alibi", "xpos", "nope", "ntk", "yarn", "fope", "logn", "sinusoidal"), next([]string{"relative"}, []string{"position"}),
		next([]string{"position", "pos"}, []string{"bias", "interp", "interpolation"}), next([]string{"pe"}, []string{"type"}),
		next([]string{"linear", "context"}, []string{"scale", "scaling"}), next([]string{"log"}, []string{"n", "scaling"}):
		return AboutOthers
	case next([]string{"position", "positions", "positional", "pos"},
		[]string{"embedding", "embeddings", "emb", "embed", "embeds", "embds", "encoding", "encodings", "encode", "enc"}):
		return AboutKind
	}
	return AboutOther
}

// NamesRotation reports whether the name of a key is about rotary positions.
func NamesRotation(key string) bool { return SubjectOf(key) == AboutRotation }

// RotationKey returns the first key that says that a model rotates, with its path, in keys and in objects of them,
// but for objects about images, audio and quantization; "" if there is none. A value that turns something off says
// nothing.
func RotationKey(keys Object, unread func(key string) bool) string {
	return rotationKey(keys, "", unread)
}

func rotationKey(keys Object, path string, unread func(key string) bool) string {
	for _, name := range SortedKeys(keys) {
		v, key := keys[name], path+name
		inner, isObject := v.(Object)
		words := WordsOf(name)
		has := func(names ...string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(names, w) })
		}
		rotates := false
		switch text, _ := v.(string); SubjectOf(name) {
		case AboutRotation:
			rotates = !turnsOff(v)
		case AboutOthers:
			rotates = has("xpos", "ntk", "yarn", "fope") && !turnsOff(v) || has("nope") && v == false
		case AboutKind:
			rotates = NamesRotation(text)
		}
		if rotates && !unread(key) {
			return key
		}
		if isObject && !unread(key) && !has("vision", "visual", "vit", "image", "video", "audio", "speech", "tower", "projector", "quantization") {
			if found := rotationKey(inner, key+".", unread); found != "" {
				return found
			}
		}
	}
	return ""
}

// NamesALiBi reports whether a key and its value say that a model has ALiBi.
func NamesALiBi(key string, v any) bool {
	if kind, ok := v.(string); ok && SubjectOf(key) == AboutKind {
		return strings.EqualFold(kind, "alibi")
	}
	return slices.Contains(WordsOf(key), "alibi") && !turnsOff(v)
}

// turnsOff reports whether a value of a key about positions means: no positions.
func turnsOff(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return slices.Contains([]string{"", "none", "null", "false"}, strings.ToLower(v))
	case []any:
		return len(v) == 0
	case Object:
		return len(v) == 0
	}
	n, ok := ToNumber(v)
	return ok && n == 0
}

// namesRope reports whether a key has rope or rotary in it, as a word or within one (xdrope),
// except in words as property, propeller and europe. Capitals need not begin words (useRoPE).
// Where they do, property does not hide skipRope.
func namesRope(key string, words []string) bool {
	if strings.Contains(strings.ToLower(key), "rotary") {
		return true
	}
	for _, parts := range [...][]string{words, strings.FieldsFunc(strings.ToLower(key), isSeparator)} {
		if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(part, "rope") }) {
			return slices.ContainsFunc(parts, func(part string) bool { return !ordinaryRope(part) })
		}
	}
	return false
}

// ordinaryRope reports whether a word has no rope in it, or is an English word.
func ordinaryRope(word string) bool {
	if slices.Contains([]string{"proper", "properly", "europe", "european", "europeans"}, word) {
		return true
	}
	for _, stem := range []string{"propert", "propell", "propens"} {
		word = strings.ReplaceAll(word, stem, "")
	}
	return !strings.Contains(word, "rope")
}

func isSeparator(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }

// WordsOf splits a key into its words, in lower case, at separators and at capitals:
// EURopeTheta is eu, rope, theta.
func WordsOf(key string) (words []string) {
	for _, part := range strings.FieldsFunc(key, isSeparator) {
		letters, start := []rune(part), 0
		for i := 1; i < len(letters); i++ {
			hump := unicode.IsUpper(letters[i]) &&
				(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
			if hump {
				words = append(words, strings.ToLower(string(letters[start:i])))
				start = i
			}
		}
		words = append(words, strings.ToLower(string(letters[start:])))
	}
	return words
}
