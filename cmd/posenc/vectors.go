package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/progress"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/spf13/cobra"
)

const queryHeads = 2 // of q; k has one

func newVectors() *cobra.Command {
	var positions, out string
	c := &cobra.Command{
		Use:   "vectors FILE --out FILE",
		Short: "Write golden vectors of a model, for tests in any language",
		Long: `Write golden vectors of a model, for tests in any language: inv_freq, cos, sin, and q and k
before and after the rotation, in float32, float16 and bfloat16, with exact angles and with those
that frameworks compute in float32. The file has a README that says what each array is.

The ending of --out says the format: .safetensors or .npz. The README is the metadata
README of safetensors, and README.txt in a .npz.

Where positions have several axes (time, height and width; rows and columns of a vision tower) a
list of --positions is of all axes, and lists with / between them are of one axis each. Where there
are more lists than axes, one axis takes the first list, and two axes, as of a vision tower, take the
last two.`,
		Example: "  posenc vectors config.json --positions 0,1,511,131071 --out v.safetensors\n" +
			"  posenc vectors Qwen2.5-VL-7B/ --positions 0,1,2,3/0,1,1,5/0,1,2,9 --out v.npz",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, paths []string) error {
			if out == "" {
				return errors.New("no --out; want the file to write, .safetensors or .npz")
			}
			s, err := source.Load(paths[0])
			if err != nil {
				return err
			}
			axes, err := parsePositions(positions)
			if err != nil {
				return err
			}
			file, err := vectorsOf(c, s, axes)
			if err != nil {
				return err
			}
			if err := array.WriteFile(out, file); err != nil {
				return err
			}
			return output.Write(c, newVectorsResult(out, file))
		},
	}
	c.Flags().StringVar(&positions, "positions", "", "positions, 0-3,511; with several axes one list for all, or one for each: 0,1/0,5/0,7 (default 0,1,2,3,100,511 and the last of the model)")
	c.Flags().StringVar(&out, "out", "", "file to write, .safetensors or .npz")
	return c
}

// defaultPositions are those of a model when none are given.
func defaultPositions(context int) [][]int32 {
	positions := []int32{0, 1, 2, 3, 100, 511}
	if last := min(context-1, math.MaxInt32); last > 511 {
		positions = append(positions, int32(last))
	}
	return [][]int32{positions}
}

// vectorsOf makes the arrays of a model and of its vision tower.
func vectorsOf(c *cobra.Command, s *source.Source, axes [][]int32) (*array.File, error) {
	v := &vectorFile{axes: axes, given: axes != nil}
	readme := output.NewText(&v.readme)
	readme.Printf("Golden vectors of posenc (https://github.com/go-posenc/posenc) for %s\n", s.Path)
	d, err := describe(s)
	if err != nil {
		return nil, err
	}
	type part struct {
		model       *modelconfig.Model
		description *modelDescription
		name        string
	}
	var parts []part
	rotations := 0
	for _, p := range []part{{s.Model, d.Text, "model"}, {s.Vision, d.Vision, "vision"}} {
		if p.model != nil {
			parts = append(parts, p)
			rotations += 2 * len(kindsOf(p.model))
		}
	}
	bar := progress.Start(c, "vectors", rotations)
	defer bar.Done()
	for _, p := range parts {
		readme.Printf("\n")
		p.description.writeText(readme, p.name)
	}
	for _, p := range parts {
		for _, k := range kindsOf(p.model) {
			if err := v.kind(&k, p.name); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Path, err)
			}
			bar.Step(2)
		}
	}
	v.finish(readme)
	v.Texts = map[string]string{"README": v.readme.String()}
	return &v.File, nil
}

// vectorFile collects arrays and what a README says of them.
type vectorFile struct {
	array.File
	readme bytes.Buffer
	axes   [][]int32 // positions, for all axes or for each
	given  bool      // by the user
	what   [][]string
}

func (v *vectorFile) add(name string, values any, what string, shape ...int) {
	v.Arrays = append(v.Arrays, array.Array{Name: name, Shape: shape, Values: values})
	v.what = append(v.what, []string{name, typeName(values), strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]"), what})
}

func typeName(values any) string {
	switch values.(type) {
	case []float64:
		return "float64"
	case []float32:
		return "float32"
	case []posenc.Float16:
		return "float16"
	case []posenc.BFloat16:
		return "bfloat16"
	}
	return "int64"
}

// kind adds the arrays of layers of one kind, for sequences of each length.
func (v *vectorFile) kind(k *kind, part string) error {
	axes := v.axes
	if !v.given {
		axes = defaultPositions(k.model.ContextLength())
	}
	longest := int(slices.Max(slices.Concat(axes...))) + 1
	seqLens := []int{0}
	if beyond, depends := k.model.DependsOnLength(); depends {
		seqLens[0] = beyond
		if longest > beyond {
			seqLens = append(seqLens, longest)
		}
	}
	for _, length := range seqLens {
		name := part
		if k.name != "" {
			name += "." + strings.ReplaceAll(k.name, " ", "_")
		}
		if length != 0 {
			name += fmt.Sprintf(".%d_tokens", length)
		}
		if err := v.rotation(k, name, length, axes); err != nil {
			return err
		}
	}
	return nil
}

// rotation adds the arrays of one rotation.
func (v *vectorFile) rotation(of *kind, name string, length int, axes [][]int32) error {
	var q, k []float32 // before
	var positions []int32
	for _, angles := range []struct {
		name     string
		rounding frequency.Rounding
		cos      string
	}{
		{"exact", frequency.Exact, "of the real product of position and frequency, correctly rounded"},
		{"float32", frequency.Float32, "of the product of position and frequency in float32, correctly rounded"},
	} {
		cfg, err := of.config(length, angles.rounding)
		if err != nil {
			return err
		}
		if positions == nil {
			if positions, err = onAxes(axes, cfg.Axes); err != nil {
				return err
			}
		}
		tokens, pairs := len(axes[0]), len(cfg.InvFreq)
		rotary, err := posenc.NewRotary(cfg)
		if err != nil {
			return err
		}
		if q == nil {
			q, k = vector(0, tokens*queryHeads*cfg.HeadDim), vector(1<<20, tokens*cfg.HeadDim)
			v.positions(name, positions, tokens)
			v.heads(name+".q", q, "before the rotation", tokens, queryHeads, cfg.HeadDim)
			v.heads(name+".k", k, "before the rotation", tokens, 1, cfg.HeadDim)
		}
		cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
		if err := rotary.CosSin(cos, sin, positions); err != nil {
			return err
		}
		in := name + "." + angles.name
		if angles.rounding == frequency.Exact {
			v.add(in+".inv_freq", cfg.InvFreq, "radians per position of each pair", pairs)
		} else {
			rounded := make([]float32, pairs)
			for i, f := range cfg.InvFreq {
				rounded[i] = float32(f)
			}
			v.add(in+".inv_freq", rounded, "radians per position of each pair, by the float32 steps of transformers", pairs)
		}
		v.add(in+".cos", cos, "cosines "+angles.cos+", times the attention factor", tokens, pairs)
		v.add(in+".sin", sin, "sines, as the cosines", tokens, pairs)
		after := "after the rotation, angles " + angles.name
		if err := errors.Join(
			v.rotated(in+".q_rotated", q, after, rotary.At(positions), tokens, queryHeads, cfg.HeadDim),
			v.rotated(in+".k_rotated", k, after, rotary.At(positions), tokens, 1, cfg.HeadDim),
		); err != nil {
			return err
		}
	}
	return nil
}

// positions adds those of a rotation: [tokens], or [axes][tokens].
func (v *vectorFile) positions(name string, positions []int32, tokens int) {
	values := make([]int64, len(positions))
	for i, p := range positions {
		values[i] = int64(p)
	}
	if len(values) == tokens {
		v.add(name+".positions", values, "position of each token", tokens)
	} else {
		v.add(name+".positions", values, "position of each token on each axis", len(values)/tokens, tokens)
	}
}

// onAxes returns the positions of as many axes as pairs have, [axes][tokens]. Of more lists
// than axes, one axis takes the first, as time; two take the last, as height and width.
func onAxes(axes [][]int32, ofPairs []uint8) ([]int32, error) {
	count := 1
	if ofPairs != nil {
		count = int(slices.Max(ofPairs)) + 1
	}
	switch {
	case len(axes) == 1:
		return slices.Repeat(axes[0], count), nil
	case len(axes) < count:
		return nil, fmt.Errorf("--positions: %d lists, want one, or one for each of %d axes", len(axes), count)
	case count == 1:
		return axes[0], nil
	}
	return slices.Concat(axes[len(axes)-count:]...), nil
}

// vector is the same numbers in every file: element n is
// ((n*2654435761 + 97) mod 2^24 - 2^23) / 2^21, from first on.
func vector(first uint64, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(int64(((first+uint64(i))*2654435761+97)&(1<<24-1))-1<<23) / (1 << 21)
	}
	return x
}

// heads adds q or k in each type.
func (v *vectorFile) heads(name string, x []float32, what string, tokens, heads, headDim int) {
	half, brain := sixteenBits(x)
	v.add(name+".float32", x, what, tokens, heads, headDim)
	v.add(name+".float16", half, what+", rounded", tokens, heads, headDim)
	v.add(name+".bfloat16", brain, what+", rounded", tokens, heads, headDim)
}

func sixteenBits(x []float32) ([]posenc.Float16, []posenc.BFloat16) {
	half, brain := make([]uint16, len(x)), make([]uint16, len(x))
	generic.ConvertF32ToF16(half, x)
	generic.ConvertF32ToBF16(brain, x)
	return posenc.Float16s(half), posenc.BFloat16s(brain)
}

// rotated rotates x in each type, each from the same type.
func (v *vectorFile) rotated(name string, x []float32, what string, a posenc.Angles, tokens, heads, headDim int) error {
	half, brain := sixteenBits(x)
	x = slices.Clone(x)
	err := errors.Join(
		posenc.Rotate(a, posenc.View[float32]{Data: x, Heads: heads}),
		posenc.Rotate(a, posenc.View[posenc.Float16]{Data: half, Heads: heads}),
		posenc.Rotate(a, posenc.View[posenc.BFloat16]{Data: brain, Heads: heads}))
	rounded := "; from q and k of this type, in float32, rounded once"
	v.add(name+".float32", x, what, tokens, heads, headDim)
	v.add(name+".float16", half, what+rounded, tokens, heads, headDim)
	v.add(name+".bfloat16", brain, what+rounded, tokens, heads, headDim)
	return err
}

// finish adds to the README what the arrays are.
func (v *vectorFile) finish(readme *output.Text) {
	readme.Printf(`
Arrays are [token][head][element], cosines and sines [token][pair], with one row for each of the
positions. q has %d heads and k has one. With latent attention they are the rotary part of a head.
An engine that is right has the numbers of an array after the rotation up to roundings: those of
"exact" are nearest to the real numbers; those of "float32" are what frameworks compute that multiply
positions with frequencies in float32 (transformers, vLLM). Frameworks whose own cosines
or products are rounded otherwise differ in the last bit or two. q and k of 16 bits are rotated
by cosines and sines of float32.

Element n of q before the rotation, counted over the whole array, is
((n*2654435761 + 97) mod 2^24 - 2^23) / 2^21; k is the same from n = 2^20 on.
`, queryHeads)
	readme.Printf("\n")
	readme.Table("", append([][]string{{"array", "type", "shape", "what it is"}}, v.what...))
}

// vectorsResult is what was written.
type vectorsResult struct {
	Out    string             `json:"out"`
	Arrays []arrayDescription `json:"arrays"`
}

type arrayDescription struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
}

func newVectorsResult(out string, f *array.File) *vectorsResult {
	r := &vectorsResult{Out: out}
	for _, a := range f.Arrays {
		r.Arrays = append(r.Arrays, arrayDescription{a.Name, cmp.Or(a.Type, typeName(a.Values)), a.Shape})
	}
	return r
}

func (r *vectorsResult) WriteText(t *output.Text) {
	t.Printf("%s: %d arrays, and a README of them\n", t.Heading(r.Out), len(r.Arrays))
}
