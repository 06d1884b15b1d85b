package modelconfig

import (
	"fmt"
	"slices"

	"github.com/go-posenc/posenc"
)

// indexer says how the indexer of sparse attention rotates. It takes the frequencies of the
// attention; the rest is its own.
type indexer struct {
	headDimKey string
	headDim    int // its default; 0: the key has to be there
	layout     posenc.Layout
	layoutKey  string // a key that is false where the layout is half-split, true where it is not
	trailing   bool   // the rotated elements are the last of a head
	attention  string // the kind of layers whose frequencies it takes; "": there is one
	hadamard   bool   // a Hadamard transform follows in the model's own code; scores are the same without it
}

var (
	deepSeekIndexer   = &indexer{headDimKey: "index_head_dim", headDim: 128, layout: posenc.HalfSplit, layoutKey: "indexer_rope_interleave", hadamard: true}
	axk2Indexer       = &indexer{headDimKey: "index_head_dim", headDim: 128, layout: posenc.HalfSplit, hadamard: true}
	deepSeekV4Indexer = &indexer{headDimKey: "index_head_dim", headDim: 128, layout: posenc.Interleaved, trailing: true, attention: "compress", hadamard: true}
	glmIndexer        = &indexer{headDimKey: "index_head_dim", headDim: 128, layout: posenc.InterleavedToHalfSplit, layoutKey: "indexer_rope_interleave"}
	mistralIndexer    = &indexer{headDimKey: "index_head_dim", headDim: 128, layout: posenc.InterleavedToHalfSplit}
	dotsIndexer       = &indexer{headDimKey: "index_head_dim", headDim: 128, layout: posenc.InterleavedToHalfSplit, attention: "indexed_attention"}
	miniMaxIndexer    = &indexer{headDimKey: "index_head_dim", headDim: 128, layout: posenc.HalfSplit}
	qwenIndexer       = &indexer{headDimKey: "indexer_head_dim", layout: posenc.HalfSplit}
)

// everyIndexer gives each layer of a plan an indexer.
func everyIndexer(p plan) plan {
	return func(r *reader, n int) []layer {
		layers := p(r, n)
		for i := range layers {
			layers[i].indexer = true
		}
		return layers
	}
}

// typedIndexer gives the layers of a kind an indexer.
func typedIndexer(layerType string, p plan) plan {
	return func(r *reader, n int) []layer {
		layers := p(r, n)
		for i := range layers {
			if layers[i].kind == layerType {
				layers[i].indexer = true
			}
		}
		return layers
	}
}

// sharedIndexers gives layers an indexer by indexer_types: "full", or "shared" for a layer that
// takes the tokens chosen by the layer before it. Without that list index_topk_pattern decides, or
// absent. Only layers that rotate have an indexer that rotates.
func sharedIndexers(absent func(r *reader, i int) bool, p plan) plan {
	return func(r *reader, n int) []layer {
		layers := p(r, n)
		types := indexerTypes(r, n)
		for i := range layers {
			has := false
			if types != nil {
				has = types[i]
			} else {
				has = absent(r, i)
			}
			if has && layers[i].rotates {
				layers[i].indexer = true
			}
		}
		return layers
	}
}

// indexerTypes says which layers have an indexer of their own. It is nil if no key says so.
func indexerTypes(r *reader, n int) []bool {
	key, names := "indexer_types", []string(nil)
	if list, ok := r.texts(key); ok {
		names = list
	} else {
		key = "index_topk_pattern"
		if letters, isText := r.lookup(key).(string); isText {
			for i := range letters {
				names = append(names, letters[i:i+1])
			}
		} else if names, ok = r.texts(key); !ok {
			return nil
		}
	}
	has := make([]bool, n)
	if len(names) != n {
		r.fail(ErrContradiction, key, listText(len(names)), "one entry for each of %d layers", n)
		return has
	}
	for i, name := range names {
		r.failIf(!slices.Contains([]string{"full", "shared", "F", "S"}, name), ErrUnknown, fmt.Sprintf("%s[%d]", key, i), quoted(name), "full or shared")
		has[i] = name == "full" || name == "F"
	}
	return has
}

// topKFrequency is the schedule of GLM: every index_topk_freq-th layer from
// index_skip_topk_offset on.
func topKFrequency(r *reader, i int) bool {
	every := max(r.integerOr([]string{"index_topk_freq"}, 1), 1)
	return max(i-r.integerOr([]string{"index_skip_topk_offset"}, 2)+1, 0)%every == 0
}
