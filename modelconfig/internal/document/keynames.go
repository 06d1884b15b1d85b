package document

import (
	"slices"
	"strings"
	"unicode"
)

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
	case has("alibi", "xpos", "nope", "ntk", "yarn", "fope", "sinusoidal"), next([]string{"relative"}, []string{"position"}),
		next([]string{"position", "pos"}, []string{"bias", "interp", "interpolation"}), next([]string{"pe"}, []string{"type"}),
		next([]string{"linear", "context"}, []string{"scale", "scaling"}):
		return AboutOthers
	case next([]string{"position", "positions", "positional", "pos"},
		[]string{"embedding", "embeddings", "emb", "embed", "embeds", "embds", "encoding", "encodings", "encode", "enc"}):
		return AboutKind
	}
	return AboutOther
}

// NamesRotation reports whether the name of a key is about rotary positions.
func NamesRotation(key string) bool { return SubjectOf(key) == AboutRotation }

// namesRope reports whether a key has rope or rotary in it, as a word or within one (xdrope),
// except in words as property, propeller and europe. Capitals need not begin words (useRoPE).
// Where they do, property does not hide skipRope.
func namesRope(key string, words []string) bool {
	if strings.Contains(strings.ToLower(key), "rotary") {
		return true
	}
	found := false
	for _, w := range words {
		if !strings.Contains(w, "rope") {
			continue
		}
		found = true
		if !ordinaryRope(w) {
			return true
		}
	}
	if found {
		return false
	}
	for _, part := range strings.FieldsFunc(strings.ToLower(key), isSeparator) {
		if strings.Contains(part, "rope") && !ordinaryRope(part) {
			return true
		}
	}
	return false
}

// ordinaryRope reports whether a word with rope in it is an English word.
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
