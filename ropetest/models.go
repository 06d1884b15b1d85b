package ropetest

import (
	_ "embed"
	"encoding/json"
	"iter"
	"maps"
	"slices"
)

//go:embed models.json
var models []byte

// Models returns the names of forty published models, in their order, and of each the keys of its
// config.json that speak of positions, heads and layers, for modelconfig.HuggingFace and for the
// engine's own reader. They have every rule, layout, and kind of layer that posenc's golden vectors of
// transformers have. modelconfig/testdata/transformers/README.md says where each is from.
//
// Frequencies of some depend on the length of the sequence, so that a test of them all sets
// modelconfig.RopeOptions.SequenceLength.
func Models() iter.Seq2[string, []byte] {
	return func(yield func(name string, config []byte) bool) {
		var configs map[string]json.RawMessage
		if json.Unmarshal(models, &configs) != nil {
			return // a test reads the file
		}
		for _, name := range slices.Sorted(maps.Keys(configs)) {
			if !yield(name, configs[name]) {
				return
			}
		}
	}
}
