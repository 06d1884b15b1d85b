package main

import (
	"time"

	"github.com/go-posenc/posenc"
)

// setting is how much is measured.
type setting struct {
	name         string
	runs, rounds int           // how many processes each implementation is run in, and rounds of samples in each
	each         time.Duration // that a case may take in a run, in which long ones have fewer samples
	tokens       []int         // of rotations: decode and prefill
	shared       []int         // tokens that several goroutines rotate
	rows         []int         // of tables
	workingSets  []int         // bytes, for the costs by size
	peerRows     []int         // of tables compared with peers
	prefill      int           // tokens compared with peers
	caches       []int         // tokens that caches store and give back, the most last
	octaves      int           // accuracy is taken below position 2^octaves
	positions    int           // of each octave
}

// What is compared is the median of at most runs*rounds samples.
var full = setting{
	name: "full", runs: 2, rounds: 40, each: 130 * time.Millisecond,
	tokens:      []int{1, 512, 4096},
	shared:      []int{16, 64, 256, 1024, 4096, 16384},
	rows:        []int{4096, 131072, 1 << 20},
	workingSets: []int{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30},
	peerRows:    []int{4096, 131072, 1 << 20},
	prefill:     512,
	octaves:     31, positions: 24,
}

var shortened = setting{
	name: "short", runs: 1, rounds: 1,
	tokens:      []int{1, 16},
	shared:      []int{16},
	rows:        []int{256},
	workingSets: []int{16 << 10, 64 << 10},
	peerRows:    []int{256},
	prefill:     16,
	octaves:     31, positions: 4,
}

// Each value of a threshold is measured in several processes: memory lies elsewhere
// in each.
var tuned = setting{
	name: "tuned", runs: 6, rounds: 3, each: 20 * time.Millisecond,
	workingSets: []int{256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20},
}

var tunedShort = setting{name: "tuned-short", runs: 1, rounds: 1, workingSets: []int{64 << 10}}

var cached = setting{name: "caches", runs: 1, rounds: 12, each: time.Hour, caches: []int{1, 512, 16384}}

var cachedShort = setting{name: "caches-short", runs: 1, rounds: 1, each: time.Second, caches: []int{1, 64}}

var settings = func() map[string]setting {
	byName := map[string]setting{}
	for _, s := range []setting{full, shortened, tuned, tunedShort, cached, cachedShort} {
		byName[s.name] = s
	}
	return byName
}()

// must is what constants of this program make.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// The shape of Llama 3 8B.
const (
	queryHeads = 32
	keyHeads   = 8
	headDim    = 128
	pairs      = headDim / 2
	base       = 500000
)

var layouts = []posenc.Layout{posenc.HalfSplit, posenc.Interleaved}

func layoutName(layout posenc.Layout) string {
	if layout == posenc.Interleaved {
		return "interleaved"
	}
	return "half"
}
