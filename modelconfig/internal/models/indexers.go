package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

var (
	deepSeekIndexer    = &indexer{HeadDimKey: "index_head_dim", HeadDim: 128, Layout: posenc.HalfSplit, LayoutKey: "indexer_rope_interleave", Hadamard: true}
	axk2Indexer        = &indexer{HeadDimKey: "index_head_dim", HeadDim: 128, Layout: posenc.HalfSplit, Hadamard: true}
	deepSeekV4Indexer  = &indexer{HeadDimKey: "index_head_dim", HeadDim: 128, Layout: posenc.Interleaved, Trailing: true, Attention: "compress", Hadamard: true}
	deepSeekV41Indexer = &indexer{HeadDimKey: "index_head_dim", HeadDim: 128, Layout: posenc.Interleaved, Trailing: true, Attention: "compress"}
	hyIndexer          = &indexer{HeadDimKey: "index_head_dim", HeadDim: 128, Layout: posenc.Interleaved, Trailing: true}
	glmIndexer         = &indexer{HeadDimKey: "index_head_dim", HeadDim: 128, Layout: posenc.InterleavedToHalfSplit, LayoutKey: "indexer_rope_interleave"}
	mistralIndexer     = &indexer{HeadDimKey: "index_head_dim", HeadDim: 128, Layout: posenc.InterleavedToHalfSplit}
	dotsIndexer        = &indexer{HeadDimKey: "index_head_dim", HeadDim: 128, Layout: posenc.InterleavedToHalfSplit, Attention: "indexed_attention"}
	miniMaxIndexer     = &indexer{HeadDimKey: "index_head_dim", HeadDim: 128, Layout: posenc.HalfSplit}
	qwenIndexer        = &indexer{HeadDimKey: "indexer_head_dim", Layout: posenc.HalfSplit}
)

func typedIndexer(layerType string, p plan) plan {
	return func(r *document.Reader, n int) []description.Layer {
		layers := p(r, n)
		for i := range layers {
			layers[i].Indexer = layerType == inEveryLayer || layers[i].Kind == layerType
		}
		return layers
	}
}

// sharedIndexers gives layers an indexer by indexer_types: "full", or "shared" for a layer that
// takes the tokens chosen by the layer before it. Without that list index_topk_pattern decides, or the
// schedule of GLM: every index_topk_freq-th layer from index_skip_topk_offset on. Only layers that
// rotate have an indexer that rotates.
func sharedIndexers(p plan) plan {
	return func(r *document.Reader, n int) []description.Layer {
		layers, types := p(r, n), indexerTypes(r, n)
		every, first := 1, 0
		if types == nil {
			every, first = max(r.IntegerOr([]string{"index_topk_freq"}, 1), 1), r.IntegerOr([]string{"index_skip_topk_offset"}, 2)
		}
		for i := range layers {
			has := types == nil && max(i-first+1, 0)%every == 0 || types != nil && types[i]
			layers[i].Indexer = has && layers[i].Rotates
		}
		return layers
	}
}

// hyV4Layers: absent, indexer_types has full for layer 0 and every fourth from 1 on.
func hyV4Layers(r *document.Reader, n int) []description.Layer {
	layers, has := everyLayer(r, n), []bool(nil)
	if r.Has("indexer_types") {
		has = indexerTypes(r, n)
	}
	for i := range layers {
		layers[i].Indexer = has == nil && (i == 0 || i%4 == 1) || has != nil && has[i]
	}
	types, _ := r.Texts("layer_types")
	for i, name := range types {
		sparse := []string{"deepseek_sparse_attention", "sparse_attention", "sparse", "indexed_attention"}
		r.FailIf(!slices.Contains(sparse, name), document.ErrUnknown, fmt.Sprintf("layer_types[%d]", i), document.Quoted(name), "one of %q: vLLM gives others no indexer, transformers does", sparse)
	}
	return layers
}

// indexerTypes says which layers have an indexer of their own. It is nil if no key says so.
func indexerTypes(r *document.Reader, n int) []bool {
	key, names := "indexer_types", []string(nil)
	if list, ok := r.Texts(key); ok {
		names = list
	} else {
		key = "index_topk_pattern"
		if letters, isText := r.Lookup(key).(string); isText {
			names = strings.Split(letters, "")
		} else if names, ok = r.Texts(key); !ok {
			return nil
		}
	}
	has := make([]bool, n)
	if len(names) != n {
		r.Fail(document.ErrContradiction, key, document.ListText(len(names)), "one entry for each of %d layers", n)
		return has
	}
	for i, name := range names {
		r.FailIf(!slices.Contains([]string{"full", "shared", "F", "S"}, name), document.ErrUnknown, fmt.Sprintf("%s[%d]", key, i), document.Quoted(name), "full or shared")
		has[i] = name == "full" || name == "F"
	}
	return has
}
