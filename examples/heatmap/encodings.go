package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/relative"
)

// encoding is a position encoding to draw: one that gives each position a row,
// or one that adds to attention scores.
type encoding struct {
	name    string
	dim     int                                       // elements of a row
	rows    func(rows []float32, positions int) error // [positions][dim]; nil for one that adds to scores
	add     func(scores relative.Scores) error        // nil for one of rows
	heads   int                                       // of add
	value   string                                    // what its numbers are
	invFreq []float64                                 // nil: has none, or several sets of them
	grid    bool                                      // positions number the patches of a square
}

// presets has the encodings with a name, made for a dimension and positions.
var presets = map[string]func(dim, positions int) (encoding, error){
	"vaswani": ofPositions(absolute.Vaswani, 0),
	"marian":  ofPositions(absolute.Marian, 0),
	"tensor2tensor": ofPositions(func(dim int) (*absolute.Sinusoidal, error) {
		return absolute.Tensor2Tensor(dim, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: 1, MaxTimescale: 10000})
	}, 1),
	"fairseq": ofPositions(func(dim int) (*absolute.Sinusoidal, error) {
		return absolute.Fairseq(dim, -1) // no token is padding
	}, 1),
	"whisper":  ofPositions(absolute.Whisper, 1),
	"musicgen": ofPositions(absolute.MusicGen, 1),
	"mlx": ofPositions(func(dim int) (*absolute.Sinusoidal, error) {
		return absolute.MLX(dim, absolute.MLXConfig{MinFreq: 0.0001, MaxFreq: 1})
	}, 1),
	"timesteps": ofPositions(func(dim int) (*absolute.Sinusoidal, error) {
		return absolute.Timesteps(dim, absolute.TimestepsConfig{DownscaleFreqShift: 1})
	}, 1),
	"transformerxl": func(dim, _ int) (encoding, error) {
		s, err := absolute.Marian(dim)
		e, err := sinusoidal(s, err, dim, base10000(dim, 0))
		e.rows = func(rows []float32, positions int) error {
			descending := make([]int32, positions)
			if err := relative.TransformerXLPositions(descending, 0); err != nil {
				return err
			}
			return absolute.SinusoidalRows(rows, s, descending)
		}
		return e, err
	},
	"mae": func(dim, _ int) (encoding, error) {
		s, err := absolute.MAE(dim)
		e, err := sinusoidal(s, err, dim, nil)
		e.grid = true
		e.rows = func(rows []float32, patches int) error {
			side := int(math.Sqrt(float64(patches)))
			positions := make([]int32, 2*patches) // columns, then rows
			for t := range patches {
				positions[t], positions[patches+t] = int32(t%side), int32(t/side)
			}
			return absolute.SinusoidalRows(rows, s, positions)
		}
		return e, err
	},
	"detr": func(dim, _ int) (encoding, error) {
		s, err := absolute.DETR(dim/2, 10000)
		e, err := sinusoidal(s, err, dim, nil)
		e.grid = true
		e.rows = func(rows []float32, pixels int) error {
			side := int(math.Sqrt(float64(pixels)))
			positions := make([]float32, 2*pixels)
			if err := absolute.DETRPositions(positions, nil, absolute.DETRPositionsOptions{Height: side, Width: side, NormalizeTo: 2 * math.Pi}); err != nil {
				return err
			}
			return absolute.SinusoidalRows(rows, s, positions)
		}
		return e, err
	},
	"alibi": func(_, _ int) (encoding, error) {
		slopes := make([]float32, 8)
		if err := relative.ALiBiSlopes(slopes, 8); err != nil {
			return encoding{}, err
		}
		add := func(scores relative.Scores) error { return relative.AddALiBi(scores, slopes, relative.SymmetricALiBi) }
		return encoding{add: add, heads: len(slopes), value: "bias"}, nil
	},
	"t5":         func(_, _ int) (encoding, error) { return t5(true) },
	"t5-decoder": func(_, _ int) (encoding, error) { return t5(false) },
	"deberta": func(_, _ int) (encoding, error) {
		const span = 256
		buckets, err := relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: span, MaxPosition: 512})
		add := func(scores relative.Scores) error {
			return relative.AddDeBERTa(scores, buckets, relative.DeBERTaProducts{ContentToPosition: numbers(scores.Queries, 2*span, -span), Divisor: 1})
		}
		return encoding{add: add, heads: 1, value: "relative position"}, err
	},
	"shaw": func(_, _ int) (encoding, error) {
		const maxDistance = 16
		add := func(scores relative.Scores) error {
			return relative.AddShaw(scores, numbers(scores.Queries, 2*maxDistance+1, -maxDistance), maxDistance)
		}
		return encoding{add: add, heads: 1, value: "clipped distance"}, nil
	},
	"swin": func(_, positions int) (encoding, error) {
		side := int(math.Sqrt(float64(positions)))
		bias, err := relative.NewSwinBias(relative.SwinWindow{Height: side, Width: side}, numbers(1, (2*side-1)*(2*side-1), 0).Data)
		add := func(scores relative.Scores) error { return relative.AddSwin(scores, bias) }
		return encoding{add: add, heads: 1, value: "index of the bias", grid: true}, err
	},
}

// names returns the names of the presets, sorted.
func names() []string { return slices.Sorted(maps.Keys(presets)) }

// find returns the encodings of a name or of a config.json, which may have
// several kinds of layers.
func (p picture) find(name string) ([]encoding, error) {
	if strings.HasSuffix(name, ".json") {
		return p.rotary(name)
	}
	preset, found := presets[name]
	if !found {
		return nil, fmt.Errorf("expected one of %s, or a config.json", strings.Join(names(), ", "))
	}
	e, err := preset(p.dim, p.positions)
	if err != nil {
		return nil, err
	}
	e.name = name
	if side := int(math.Sqrt(float64(p.positions))); e.grid && side*side != p.positions {
		return nil, fmt.Errorf("-positions %d: expected a square, the patches of an image", p.positions)
	}
	return []encoding{e}, nil
}

// rotary returns the rotary embeddings of a model. A row is [cos | sin] of half
// width: its dot product with another is half of that of heads of ones, rotated
// to the two positions.
func (p picture) rotary(path string) ([]encoding, error) {
	config, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	model, err := modelconfig.HuggingFace(config)
	if err != nil {
		return nil, err
	}
	rope, err := model.Rope(modelconfig.RopeOptions{SequenceLength: p.positions})
	if err != nil {
		return nil, err
	}
	first := map[string]int{} // layer of each kind
	for i, layer := range model.Layers() {
		if _, seen := first[layer.Kind]; !seen && layer.Rotates && (p.layers == "" || p.layers == layer.Kind) {
			first[layer.Kind] = i
		}
	}
	if len(first) == 0 {
		return nil, fmt.Errorf("no layers of kind %q", p.layers)
	}
	var encodings []encoding
	for _, kind := range slices.Sorted(maps.Keys(first)) {
		r := rope.Rotary(first[kind])
		cfg := r.Config()
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if kind != "" {
			name += " " + kind
		}
		axes := 1
		if cfg.Axes != nil {
			axes += int(slices.Max(cfg.Axes))
		}
		encodings = append(encodings, encoding{
			name: name, dim: cfg.RotaryDim, value: "cos, then sin", invFreq: cfg.InvFreq,
			rows: func(rows []float32, positions int) error {
				pairs := cfg.RotaryDim / 2
				cos, sin := make([]float32, positions*pairs), make([]float32, positions*pairs)
				if err := r.CosSin(cos, sin, slices.Repeat(count(positions), axes)); err != nil {
					return err
				}
				for t := range positions {
					copy(rows[2*t*pairs:], cos[t*pairs:][:pairs])
					copy(rows[(2*t+1)*pairs:], sin[t*pairs:][:pairs])
				}
				return nil
			},
		})
	}
	return encodings, nil
}

// sinusoidal returns a sinusoidal encoding of positions from 0 on.
func sinusoidal(s *absolute.Sinusoidal, err error, dim int, invFreq []float64) (encoding, error) {
	return encoding{dim: dim, value: "value", invFreq: invFreq, rows: func(rows []float32, positions int) error {
		return absolute.SinusoidalRows(rows, s, count(positions))
	}}, err
}

// ofPositions is the encoding that make makes, of frequencies 10000^(-k/(dim/2-less)).
func ofPositions(make func(dim int) (*absolute.Sinusoidal, error), less int) func(dim, _ int) (encoding, error) {
	return func(dim, _ int) (encoding, error) {
		s, err := make(dim)
		return sinusoidal(s, err, dim, base10000(dim, less))
	}
}

// base10000 returns 10000^(-k/(dim/2-less)), or nil for arguments that no encoding has.
func base10000(dim, less int) []float64 {
	invFreq, _ := frequency.Sinusoidal(dim/2, frequency.SinusoidalParameters{First: 1, Base: 10000, Denominator: float64(dim/2 - less)})
	return invFreq
}

// t5 returns T5's buckets. What a model adds is the weight it learned for each;
// drawn is the number of the bucket.
func t5(bidirectional bool) (encoding, error) {
	const total = 32
	buckets, err := relative.NewT5Buckets(relative.T5Config{Buckets: total, MaxDistance: 128, Bidirectional: bidirectional})
	if err != nil {
		return encoding{}, err
	}
	bias, err := relative.NewT5Bias(buckets, numbers(1, total, 0).Data)
	add := func(scores relative.Scores) error { return relative.AddT5(scores, bias) }
	return encoding{add: add, heads: 1, value: "bucket"}, err
}

// numbers returns rows of first, first+1, ...
func numbers(rows, columns, first int) relative.Products {
	p := relative.Products{Data: make([]float32, rows*columns)}
	for i := range p.Data {
		p.Data[i] = float32(first + i%columns)
	}
	return p
}

// count returns the positions 0, 1, ...
func count(positions int) []int32 {
	p := make([]int32, positions)
	for i := range p {
		p[i] = int32(i)
	}
	return p
}

// values returns the rows of positions from 0 on.
func (e encoding) values(positions int) ([]float32, error) {
	const most = 1 << 26
	if positions > most/e.dim {
		return nil, fmt.Errorf("-positions %d: expected at most %d rows of %d", positions, most/e.dim, e.dim)
	}
	rows := make([]float32, positions*e.dim)
	return rows, e.rows(rows, positions)
}
