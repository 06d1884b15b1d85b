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
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/progress"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/spf13/cobra"
)

const queryHeads = 2 // of q; k has one

// Tolerances of elements, as the README has them.
const (
	toleranceNone     = "0"
	toleranceFloat64  = "2^-44 |w|"
	tolerancePower    = "2^-22 |w|"
	toleranceTable    = "2^-22 a"
	toleranceFloat32  = "2^-18 a"
	toleranceFloat16  = "2^-10 |w| + 2^-18 a"
	toleranceBFloat16 = "2^-7 |w| + 2^-18 a"
)

func newVectors() *cobra.Command {
	var positions, out string
	c := &cobra.Command{
		Use:   "vectors FILE --out NAME",
		Short: "Write golden vectors of a model, for tests in any language",
		Long: `Write golden vectors of a model, for tests in any language: inv_freq, cos, sin, and q and k
before and after the rotation, in float32, float16 and bfloat16, with exact angles and with those
that frameworks compute in float32. A README says what each array is, by which formula, and how far
from it an engine may be; rotations lists layout, sizes and factors of each rotation.

The ending of --out says the format: .safetensors, where README and rotations are metadata, or .npz,
where they are README.txt and rotations.txt. A name without an ending is a folder with these two,
data.bin, all arrays as their bytes, and index.txt, which says in words where each one is: what C reads
without a library.

Where positions have several axes (time, height and width; rows and columns of a vision tower) a
list of --positions is of all axes, and lists with / between them are of one axis each. Where there
are more lists than axes, one axis takes the first list, and two axes, as of a vision tower, take the
last two.`,
		Example: "  posenc vectors config.json --positions 0,1,511,131071 --out v.safetensors\n" +
			"  posenc vectors Qwen2.5-VL-7B/ --positions 0,1,2,3/0,1,1,5/0,1,2,9 --out v.npz\n" +
			"  posenc vectors config.json --out v",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, paths []string) error {
			if out == "" {
				return errors.New("no --out; want the file to write, .safetensors or .npz, or a folder")
			}
			isFolder, err := array.IsFolder(out)
			if err != nil {
				return fmt.Errorf("--out %w", err)
			}
			if err := output.CheckOut(out, isFolder); err != nil {
				return err
			}
			axes, err := parsePositions(positions)
			if err != nil {
				return err
			}
			s, err := source.Load(paths[0])
			if err != nil {
				return err
			}
			d, err := describe(s)
			if err != nil {
				return err
			}
			without := d.rotatingElse()
			file, err := vectorsOf(c, s, d, without, axes)
			if err != nil {
				return err
			}
			if err := array.WriteFile(out, file); err != nil {
				return err
			}
			return output.Write(c, newVectorsResult(out, file, without))
		},
	}
	c.Flags().StringVar(&positions, "positions", "", "positions, 0-3,511; with several axes one list for all, or one for each: 0,1/0,5/0,7 (default 0,1,2,3,100,511 and the last of the model)")
	c.Flags().StringVar(&out, "out", "", "file to write, .safetensors or .npz, or without an ending a folder")
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

// vectorsOf makes the arrays of a model and of its vision tower; without says which parts have none.
func vectorsOf(c *cobra.Command, s *source.Source, d *description, without []string, axes [][]int32) (*array.File, error) {
	v := &vectorFile{axes: axes, given: axes != nil, queries: queryHeads, rotations: rotationsTitle}
	readme := output.NewText(&v.readme)
	readme.Printf("Golden vectors of posenc (https://github.com/go-posenc/posenc) for %s\n", input.Name(s.Path))
	type part struct {
		model       *modelconfig.Model
		description *modelDescription
		name        string
	}
	var parts []part
	rotations := 0
	for _, p := range []part{{s.Model, d.Text, "model"}, {s.Vision, d.Vision, "vision"}} {
		if p.model != nil {
			if err := noFourier(s.Path, p.model); err != nil {
				return nil, err
			}
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
	for _, line := range without {
		readme.Printf("\nNo vectors: %s\n", line)
	}
	for _, p := range parts {
		for _, k := range kindsOf(p.model) {
			if err := v.kind(&k, p.name); err != nil {
				return nil, fmt.Errorf("%s: %w", input.Name(s.Path), err)
			}
			bar.Step(2)
		}
	}
	v.finish(readme)
	v.Texts = map[string]string{"README": v.readme.String(), "rotations": v.rotations}
	return &v.File, nil
}

// vectorFile collects arrays and what a README says of them.
type vectorFile struct {
	array.File
	readme  bytes.Buffer
	axes    [][]int32 // positions, for all axes or for each
	given   bool      // by the user
	what    [][]string
	queries int // heads of q; k has one

	rotations string // a line for each
}

// rotationsTitle are the columns of the text rotations.
const rotationsTitle = "# name layout head_dim rotary_dim offset attention_factor softmax_scale layers\n"

func (v *vectorFile) add(name string, values any, what, tolerance string, shape ...int) {
	v.Arrays = append(v.Arrays, array.Array{Name: name, Shape: shape, Values: values})
	v.what = append(v.what, []string{name, typeName(values), strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]"), tolerance, what})
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
			v.rotations += fmt.Sprintln(name, strings.ReplaceAll(layoutNames[cfg.Layout], " ", "-"), cfg.HeadDim, cfg.RotaryDim, cfg.Offset, cfg.AttentionFactor, of.softmaxScale(), strings.Join(ropecheck.Ranges(of.layers, "-"), ","))
			q, k = vector(0, tokens*v.queries*cfg.HeadDim), vector(1<<20, tokens*cfg.HeadDim)
			v.positions(name, positions, tokens)
			if cfg.Axes != nil {
				ofPairs := make([]int64, pairs)
				for i, axis := range cfg.Axes {
					ofPairs[i] = int64(axis)
				}
				v.add(name+".axes", ofPairs, "axis from which each pair takes its position", toleranceNone, pairs)
			}
			v.heads(name+".q", q, "before the rotation", tokens, v.queries, cfg.HeadDim)
			v.heads(name+".k", k, "before the rotation", tokens, 1, cfg.HeadDim)
		}
		cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
		if err := rotary.CosSinAxes(cos, sin, positions); err != nil {
			return err
		}
		in := name + "." + angles.name
		if angles.rounding == frequency.Exact {
			v.add(in+".inv_freq", cfg.InvFreq, "radians per position of each pair", toleranceFloat64, pairs)
		} else {
			rounded := make([]float32, pairs)
			for i, f := range cfg.InvFreq {
				rounded[i] = float32(f)
			}
			v.add(in+".inv_freq", rounded, "radians per position of each pair, by the float32 steps of transformers", tolerancePower, pairs)
		}
		v.add(in+".cos", cos, "cosines "+angles.cos+", times the attention factor", toleranceTable, tokens, pairs)
		v.add(in+".sin", sin, "sines, as the cosines", toleranceTable, tokens, pairs)
		after := "after the rotation, angles " + angles.name
		if err := errors.Join(
			v.rotated(in+".q_rotated", q, after, rotary.AtAxes(positions), tokens, v.queries, cfg.HeadDim),
			v.rotated(in+".k_rotated", k, after, rotary.AtAxes(positions), tokens, 1, cfg.HeadDim),
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
		v.add(name+".positions", values, "position of each token", toleranceNone, tokens)
	} else {
		v.add(name+".positions", values, "position of each token on each axis", toleranceNone, len(values)/tokens, tokens)
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
	v.add(name+".float32", x, what, toleranceNone, tokens, heads, headDim)
	v.add(name+".float16", half, what+", rounded to nearest even", toleranceNone, tokens, heads, headDim)
	v.add(name+".bfloat16", brain, what+", rounded to nearest even", toleranceNone, tokens, heads, headDim)
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
	v.add(name+".float32", x, what, toleranceFloat32, tokens, heads, headDim)
	v.add(name+".float16", half, what+rounded, toleranceFloat16, tokens, heads, headDim)
	v.add(name+".bfloat16", brain, what+rounded, toleranceBFloat16, tokens, heads, headDim)
	return err
}

// finish adds to the README what the arrays are.
func (v *vectorFile) finish(readme *output.Text) {
	readme.Printf(`
Arrays are [token][head][element], cosines and sines [token][pair], with one row for each of the
positions. Heads of q: %d, of k: 1. With latent attention they are the rotary part of a head.
Numbers are little-endian in every format.

Formula: pair i of a head turns by the angle position * inv_freq[i], counterclockwise, with position
that of the token on the pair's axis:

  y[c] = x[a] * cos - x[b] * sin
  y[d] = x[b] * cos + x[a] * sin

where cos and sin are times the attention factor. x is the head before and y after the rotation. With
offset and n = rotary_dim/2 as in the text rotations, a and b are

  half-split                 c = a = offset + i     d = b = offset + i + n
  interleaved                c = a = offset + 2i    d = b = offset + 2i + 1
  interleaved-to-half-split  a = offset + 2i, b = offset + 2i + 1, c = offset + i, d = offset + i + n

Other elements stay as they are. The softmax scale is no part of these arrays: it multiplies attention
scores beside 1/sqrt of the head.

"exact" has the numbers nearest to the real ones; "float32" has what frameworks compute that multiply
positions with frequencies in float32 (transformers, vLLM). Compare an engine with the one whose
angles it computes; far positions differ by hundredths. q and k of 16 bits are rotated by cosines and
sines of float32.

Tolerances: of an element that should be w, |x - w| is at most

  0                    numbers that are given; if they are made by rounding, there is one way
  2^-44 |w|            float64: a power with an exponent that is rounded is 2^-49 off, and the ramp of a
                       scaling rule between a frequency and its 32nd part makes that up to 32 times as much
  2^-22 |w|            float32: powers of libraries are two units in the last place off
  2^-22 a              cosines and sines of libraries are up to four units of 2^-24 off; a is the attention
                       factor, or 1 where that is less
  2^-18 a              elements are below 4: two products with such cosines and sines are 2^-19 a off,
                       the roundings of products and of the sum are less than as much
  2^-10 |w| + 2^-18 a  float16: that, and then one unit in the last place of the result
  2^-7 |w| + 2^-18 a   bfloat16: the same

for an engine with the same inv_freq. Where a frequency differs by e, angles of position p differ by
p e: cosines and sines have a tolerance of p e a more, elements after the rotation of 8 p e a. Where an
engine rounds cosines, sines and each product to the 16 bits of q and k too, as transformers does,
elements have 2^-6 a in float16 and 2^-3 a in bfloat16: four roundings of numbers below 4, and one of
their sum.

Element n of q before the rotation, counted over the whole array, is
((n*2654435761 + 97) mod 2^24 - 2^23) / 2^21; k is the same from n = 2^20 on.
`, v.queries)
	readme.Printf("\n")
	readme.Table("", append([][]string{{"array", "type", "shape", "tolerance", "what it is"}}, v.what...))
}

// vectorsResult is what was written.
type vectorsResult struct {
	Out    string             `json:"out"`
	Arrays []arrayDescription `json:"arrays"`

	// Without says of parts of the model that rotate, or may, why there are no vectors of them.
	Without []string `json:"without,omitempty"`
}

type arrayDescription struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
}

func newVectorsResult(out string, f *array.File, without []string) *vectorsResult {
	r := &vectorsResult{Out: out, Without: without}
	for _, a := range f.Arrays {
		r.Arrays = append(r.Arrays, arrayDescription{a.Name, cmp.Or(a.Type, typeName(a.Values)), a.Shape})
	}
	return r
}

func (r *vectorsResult) WriteText(t *output.Text) {
	t.Printf("%s: %d arrays, and a README of them\n", t.Heading(input.Name(r.Out)), len(r.Arrays))
	for _, line := range r.Without {
		t.Printf("No vectors: %s\n", line)
	}
}
