package modelconfig

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-posenc/posenc"
)

// unreadKeys fails for a key whose name is about positions and that nothing has read. It looks
// beside the rope parameters, and in objects that are about attention. It also fails for keys
// that position code reads for other models (keysOfPositions), and for misspellings of these.
func unreadKeys(r *reader, f *family) { unreadKeysOf(r, f, r.keys, "", 0) }

func unreadKeysOf(r *reader, f *family, keys object, path string, depth int) {
	for _, name := range sortedKeys(keys) {
		if r.err != nil {
			return
		}
		v, key := keys[name], path+name
		if v == nil || r.seen[key] {
			continue
		}
		harmless := isHarmless(name) || slices.Contains(f.unread, key) ||
			f.originalPositions != 0 && key == "original_max_position_embeddings" // some rules alone read it
		switch subject := subjectOf(name); {
		case harmless:
		case subject == aboutRotation:
			r.fail(ErrUnknown, keyName(key), kindOf(v), "no such key: models of this type do not have it (use posenc.RotaryConfig if it matters)")
		case subject == aboutOthers && v != false:
			r.fail(ErrUnknown, keyName(key), kindOf(v), "false or no such key: models of this type do not have it (leave it out if the model's own code does not read it)")
		case subject == aboutKind && !isNumber(v) && v != false && !f.isTower():
			r.fail(ErrUnknown, keyName(key), kindOf(v), "\"rope\" or no such key for this model type (leave it out if the model's own code does not read it)")
		case !isOff(v):
			switch known := positionKeyNear(name); {
			case known == "", f.isTower() && subjectOf(known) == aboutKind: // of learned ones
			case known == name:
				r.fail(ErrUnknown, keyName(key), kindOf(v), "no such key: models of this type do not have it (leave it out if the model's own code does not read it)")
			default:
				r.fail(ErrUnknown, keyName(key), kindOf(v), "%s, or no such key: this is near it (leave it out if it is another)", known)
			}
		}
		if inner, ok := v.(object); ok && depth < maxDepth && isAttention(name) {
			unreadKeysOf(r, f, inner, key+".", depth+1)
		}
	}
}

// unreadKeysBeside fails for a key beside a text model that position code reads for other
// models, or that misspells one, unless the text model has it too. Objects are other parts.
func unreadKeysBeside(r *reader, part string, inner object) {
	for _, key := range sortedKeys(r.keys) {
		v := r.keys[key]
		_, object := v.(object)
		if v == nil || object || isOff(v) || isNumber(v) && subjectOf(key) == aboutKind || isHarmless(key) || namesRotation(key) || sameValue(v, inner[key]) {
			continue
		}
		if known := positionKeyNear(key); known != "" || subjectOf(key) == aboutOthers {
			r.fail(ErrUnknown, keyName(key), kindOf(v), "no such key beside %s, the text model, where nothing reads it", part)
		}
	}
}

// harmlessKeys have names that are about positions, and change nothing in the rotation. The
// value is the reason.
var harmlessKeys = [...]struct{ key, reason string }{
	{"dropout_positions", "a dropout"},
	{"max_position_embeddings", "a length, which is read where a rule depends on it"},
	{"max_trained_positions", "such a length, of Nomic"},
	{"n_positions", "such a length, of GPT; files of other types have it too (nomic-embed-text-v1.5)"},
	{"position_id_per_seconds", "how positions of sound are counted"},
	{"qk_nope_head_dim", "the part of a head without positions, which latent attention reads where it counts"},
}

func isHarmless(name string) bool {
	for _, k := range harmlessKeys {
		if k.key == name {
			return true
		}
	}
	return false
}

// isOff reports whether a value turns something off, whatever its key.
func isOff(v any) bool {
	switch v := v.(type) {
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return false
}

// keysByLetters has keysOfPositions and ordinaryKeys, split when a key is first looked for.
var keysByLetters struct {
	once     sync.Once
	known    []lettered
	ordinary map[string]bool
}

// lettered is a key and the set of its bytes modulo 64.
type lettered struct {
	key     string
	letters uint64
}

func lettersOf(key string) (letters uint64) {
	for i := range len(key) {
		letters |= 1 << (key[i] & 63)
	}
	return letters
}

// positionKeyNear returns the key of keysOfPositions that has a name, or else the nearest one that
// differs from it by one letter or two, or else "". Of 5 or 6 letters one may differ, of fewer
// none: most words are near a short one. Names that these projects have for
// something else are near none.
func positionKeyNear(name string) string {
	const most = 2
	k := &keysByLetters
	k.once.Do(func() {
		for key := range strings.SplitSeq(keysOfPositions, " ") {
			k.known = append(k.known, lettered{key, lettersOf(key)})
		}
		k.ordinary = map[string]bool{}
		for key := range strings.SplitSeq(ordinaryKeys, " ") {
			k.ordinary[key] = true
		}
	})
	if k.ordinary[name] || strings.Contains(strings.ToLower(name), "rope") && subjectOf(name) == aboutOther { // use_Europe
		return ""
	}
	best, least, letters := "", most+1, lettersOf(name)
	for _, known := range k.known {
		// A letter that changes adds one to a set, and takes one from it.
		if len(known.key)-len(name) > most || len(name)-len(known.key) > most ||
			bits.OnesCount64(letters&^known.letters) > most || bits.OnesCount64(known.letters&^letters) > most {
			continue
		}
		if d := distance(name, known.key, least); d < least && d <= mostChanged(known.key) {
			best, least = known.key, d
		}
	}
	return best
}

func mostChanged(key string) int {
	switch n := len(key); {
	case n < 5:
		return 0
	case n < 7:
		return 1
	}
	return 2
}

// isNumber reports whether v is a number. Under a name of position embeddings a number is a
// length or a size (max_position_embeddings, pos_emb_height).
func isNumber(v any) bool { _, ok := toNumber(v); return ok }

// positionKind fails for a kind of positions that is not rotary (position_embedding_type and
// its other names), unless the type has read the key.
func positionKind(r *reader, f *family) {
	if f.isTower() {
		return
	}
	for _, key := range sortedKeys(r.keys) {
		kind, ok := r.keys[key].(string)
		if !ok || r.seen[key] || subjectOf(key) != aboutKind || slices.Contains(f.unread, key) {
			continue
		}
		switch strings.ToLower(kind) {
		case "rope", "rotary":
		case "rope_gptj": // Cohere
			r.failIf(f.layout != posenc.Interleaved, ErrContradiction, key, quoted(kind), "the layout of this model type, which is %v (set Layout in posenc.RotaryConfig)", f.layout)
		default:
			r.fail(ErrNotRotary, key, quoted(kind), "\"rope\", or no such key if the model's own code does not read it")
		}
		r.text(key)
	}
}

// isAttention reports whether the object under a key is about attention (attn_config of DBRX).
func isAttention(key string) bool {
	return slices.ContainsFunc(wordsOf(key), func(w string) bool { return w == "attn" || w == "attention" })
}

// subject is what a key is about, by its name.
type subject uint8

const (
	aboutOther    subject = iota // not positions
	aboutRotation                // rotary positions: rope, rotary, theta, a base of frequencies
	aboutOthers                  // something beside or in place of them: ALiBi, xPos, NoPE, relative positions, a scaling rule
	aboutKind                    // which kind of positions
)

func subjectOf(key string) subject {
	words := wordsOf(key)
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
		return aboutRotation
	case has("alibi", "xpos", "nope", "ntk", "yarn", "fope", "sinusoidal"), next([]string{"relative"}, []string{"position"}),
		next([]string{"position", "pos"}, []string{"bias", "interp", "interpolation"}), next([]string{"pe"}, []string{"type"}),
		next([]string{"linear", "context"}, []string{"scale", "scaling"}):
		return aboutOthers
	case next([]string{"position", "positions", "positional", "pos"},
		[]string{"embedding", "embeddings", "emb", "embed", "embeds", "embds", "encoding", "encodings", "encode", "enc"}):
		return aboutKind
	}
	return aboutOther
}

// namesRotation reports whether the name of a key is about rotary positions.
func namesRotation(key string) bool { return subjectOf(key) == aboutRotation }

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

// wordsOf splits a key into its words, in lower case, at separators and at capitals:
// EURopeTheta is eu, rope, theta.
func wordsOf(key string) (words []string) {
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
