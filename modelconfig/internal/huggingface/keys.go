package huggingface

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// unreadKeys fails for a key whose name is about positions and that nothing has read. It looks
// beside the rope parameters, and in objects that are about attention, whose keys have a path. It also fails for keys
// that position code reads for other models (keysOfPositions), and for misspellings of these.
func unreadKeys(r *document.Reader, f *models.ModelType, keys document.Object, path string) {
	for _, name := range document.SortedKeys(keys) {
		v, key := keys[name], path+name
		if v == nil || r.Seen[key] {
			continue
		}
		harmless := IsHarmless(name) || slices.Contains(f.Unread, key)
		switch subject := document.SubjectOf(name); {
		case harmless:
		case subject == document.AboutRotation:
			r.Fail(document.ErrUnknown, document.KeyName(key), document.KindOf(v), "no such key: models of this type do not have it (use posenc.RotaryConfig if it matters)")
		case (subject == document.AboutOthers || GoesByPositions(name)) && v != false:
			r.Fail(document.ErrUnknown, document.KeyName(key), document.KindOf(v), "false or no such key: models of this type do not have it (leave it out if the model's own code does not read it)")
		case subject == document.AboutKind && v == false && switchesPositions(name) && !f.IsTower():
			r.Fail(document.ErrUnknown, document.KeyName(key), false, "true or no such key: models of this type do not have it (leave it out if the model's own code does not read it)")
		case subject == document.AboutKind && !isNumber(v) && v != false && !f.IsTower():
			r.Fail(document.ErrUnknown, document.KeyName(key), document.KindOf(v), "\"rope\" or no such key for this model type (leave it out if the model's own code does not read it)")
		case !isOff(v):
			switch known := positionKeyNear(name); {
			case known == "", f.IsTower() && document.SubjectOf(known) == document.AboutKind: // of learned ones
			case known == name:
				r.Fail(document.ErrUnknown, document.KeyName(key), document.KindOf(v), "no such key: models of this type do not have it (leave it out if the model's own code does not read it)")
			default:
				r.Fail(document.ErrUnknown, document.KeyName(key), document.KindOf(v), "%s, or no such key: this is near it (leave it out if it is another)", known)
			}
		}
		if isAttention(name) {
			inner, _ := v.(document.Object) // of at most document.MaxDepth levels
			unreadKeys(r, f, inner, key+".")
		}
	}
}

// switchesPositions reports whether a key switches all positions of a model on and off.
func switchesPositions(name string) bool {
	words := document.WordsOf(name)
	others := []string{"abs", "absolute", "learned", "learnable", "trainable", "relative", "rel", "sinusoidal", "sine", "mid", "token", "type"}
	return slices.Contains([]string{"use", "uses", "apply", "enable", "enabled", "has", "add", "with"}, words[0]) &&
		!slices.ContainsFunc(words, func(w string) bool { return slices.Contains(others, w) })
}

// GoesByPositions reports whether a key names what else in attention goes by positions: a scale of queries (attn_temperature_tuning,
// floor_scale), or the base of frequencies by another name (max_period).
func GoesByPositions(name string) bool {
	words := append(document.WordsOf(name), "", "")
	next := func(first, second []string) bool {
		for i := range len(words) - 1 {
			if slices.Contains(first, words[i]) && slices.Contains(second, words[i+1]) {
				return true
			}
		}
		return false
	}
	ends := slices.Contains([]string{"max", "min"}, words[0]) && slices.Contains([]string{"period", "timescale"}, words[1])
	return ends || slices.Contains(words, "wavelength") || next([]string{"attn", "attention"}, []string{"temperature"}) ||
		next([]string{"floor"}, []string{"scale"}) || next([]string{"position", "positions"}, []string{"mode"})
}

// unreadKeysBeside fails for such a key beside a text model, unless the text model has it too.
func unreadKeysBeside(r *document.Reader, part string, inner document.Object) {
	for _, key := range document.SortedKeys(r.Keys) {
		v := r.Keys[key]
		_, object := v.(document.Object)
		if v == nil || object || isOff(v) || isNumber(v) && document.SubjectOf(key) == document.AboutKind || IsHarmless(key) || document.NamesRotation(key) || document.SameValue(v, inner[key]) {
			continue
		}
		if known := positionKeyNear(key); known != "" || document.SubjectOf(key) == document.AboutOthers || GoesByPositions(key) {
			r.Fail(document.ErrUnknown, document.KeyName(key), document.KindOf(v), "no such key beside %s, the text model, where nothing reads it", part)
		}
	}
}

// harmlessKeys have names that are about positions, and change nothing in the rotation.
var harmlessKeys = []string{
	"dropout_positions",       // a dropout
	"max_position_embeddings", // a length, which is read where a rule depends on it
	"max_trained_positions",   // such a length, of Nomic
	"n_positions",             // such a length, of GPT; files of other types have it too (nomic-embed-text-v1.5)
	"position_id_per_seconds", // how positions of sound are counted
	"qk_nope_head_dim",        // the part of a head without positions, which latent attention reads where it counts
}

func IsHarmless(name string) bool { return slices.Contains(harmlessKeys, name) }

func isOff(v any) bool {
	switch v := v.(type) {
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case document.Object:
		return len(v) == 0
	}
	return false
}

// keysByLetters has keysOfPositions and ordinaryKeys, split when a key is first looked for.
var keysByLetters struct {
	once     sync.Once
	known    []string
	ordinary map[string]bool
}

// positionKeyNear returns the key of keysOfPositions that has a name, or else the nearest one that
// differs from it by one letter or two, or else "". Of 5 or 6 letters one may differ, of fewer
// none: most words are near a short one. Names that these projects have for
// something else are near none.
func positionKeyNear(name string) string {
	const most = 2
	k := &keysByLetters
	k.once.Do(func() {
		k.known = strings.Fields(KeysOfPositions)
		k.ordinary = map[string]bool{}
		for key := range strings.SplitSeq(OrdinaryKeys, " ") {
			k.ordinary[key] = true
		}
	})
	if k.ordinary[name] || strings.Contains(strings.ToLower(name), "rope") && document.SubjectOf(name) == document.AboutOther { // use_Europe
		return ""
	}
	best, least := "", most+1
	for _, known := range k.known {
		if d := document.Distance(name, known, least); d < least && d <= MostChanged(known) {
			best, least = known, d
		}
	}
	return best
}

func MostChanged(key string) int {
	switch n := len(key); {
	case n < 5:
		return 0
	case n < 7:
		return 1
	}
	return 2
}

// isNumber: under a name of position embeddings a number is a length or a size.
func isNumber(v any) bool { _, ok := document.ToNumber(v); return ok }

// positionKind fails for a kind of positions that is not rotary, unless the type has read the key.
func positionKind(r *document.Reader, f *models.ModelType) {
	if f.IsTower() {
		return
	}
	for _, key := range document.SortedKeys(r.Keys) {
		kind, ok := r.Keys[key].(string)
		if !ok || r.Seen[key] || document.SubjectOf(key) != document.AboutKind || slices.Contains(f.Unread, key) {
			continue
		}
		switch strings.ToLower(kind) {
		case "rope", "rotary":
		case "rope_gptj": // Cohere
			r.FailIf(f.Layout != posenc.Interleaved, document.ErrContradiction, key, document.Quoted(kind), "the layout of this model type, which is %v (set Layout in posenc.RotaryConfig)", f.Layout)
		default:
			r.Fail(document.ErrNotRotary, key, document.Quoted(kind), "\"rope\", or no such key if the model's own code does not read it")
		}
		r.Text(key)
	}
}

func isAttention(key string) bool {
	return slices.ContainsFunc(document.WordsOf(key), func(w string) bool { return w == "attn" || w == "attention" })
}
