package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/spf13/cobra"
)

func newInspect() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE [FILE]",
		Short: "Say what a model rotates, or how two files differ",
		Long: `Say what a model rotates: for each kind of layers the part of the head, the pairs, the rule
of the frequencies, factors, wavelengths, and what implementations of it get wrong. Of two
files, say whether they mean the same rotation: a GGUF file and the config.json that it was
made from, for example. Of a config.json whose type is not known, say which known types have
all of its keys, and where their code differs.

Exit codes: 0 done, 1 two files do not mean the same rotation, or the type is not known,
2 wrong usage or input.`,
		Example: "  posenc inspect config.json\n  posenc inspect Llama-3.1-8B/ Llama-3.1-8B-Q4_K_M.gguf\n  posenc inspect --json config.json",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, paths []string) error {
			var files []*description
			for _, path := range paths {
				s, err := source.Load(path)
				if err != nil {
					if c := candidatesOf(err); c != nil && len(paths) == 1 {
						return cmp.Or(output.Write(cmd, c), output.ErrDifferent)
					}
					return err
				}
				d, err := describe(s)
				if err != nil {
					return err
				}
				files = append(files, d)
			}
			if len(files) == 1 {
				return output.Write(cmd, files[0])
			}
			d := compare(files[0], files[1])
			if err := output.Write(cmd, d); err != nil {
				return err
			}
			if !d.Same {
				return output.ErrDifferent
			}
			return nil
		},
	}
}

func (d *description) WriteText(t *output.Text) {
	t.Printf("%s (%s)\n", t.Heading(input.Name(d.File)), d.Format)
	if d.Text != nil {
		d.Text.writeText(t, "model")
	}
	if d.Vision != nil {
		t.Printf("\n")
		d.Vision.writeText(t, "vision tower")
	}
	for _, line := range d.undescribed() {
		t.Printf("\n%s\n", line)
	}
}

// undescribed says of each part of the file that has no description why.
func (d *description) undescribed() (lines []string) {
	if d.TextError != "" {
		lines = append(lines, "model: "+d.TextError)
	}
	if d.VisionError != "" {
		lines = append(lines, "vision tower: "+d.VisionError)
	}
	for _, other := range d.Others {
		lines = append(lines, other.String())
	}
	return lines
}

// rotatingElse names the other parts that rotate, or may rotate.
func (d *description) rotatingElse() (lines []string) {
	if d.VisionUnread {
		lines = append(lines, "vision tower: "+d.VisionError)
	}
	for _, other := range d.Others {
		if other.Rotates {
			lines = append(lines, other.String())
		}
	}
	return lines
}

func (p *otherPart) String() string {
	if p.Rotates {
		return p.Key + ": rotates too; give that object as a file of its own"
	}
	return p.Key + ", read as a file of its own: " + p.Error
}

func (m *modelDescription) writeText(t *output.Text, what string) {
	t.Printf("%s %s: %d layers", what, t.Heading(m.Type), m.Layers)
	if m.ContextLength > 0 {
		t.Printf(", sequences of up to %d tokens", m.ContextLength)
	}
	t.Printf("\n")
	for i := range m.Kinds {
		k := &m.Kinds[i]
		t.Printf("\n%s\n", t.Heading(m.title(k)))
		t.Table("  ", m.rows(k))
	}
	if len(m.Unrotated) > 0 {
		t.Printf("\n%s\n  rotate nothing\n", t.Heading(layersText(m.Unrotated, m.Layers)))
	}
	for _, s := range m.QueryScales {
		t.Printf("\n%s\n  multiply queries of position p by %s\n", t.Heading(layersText(s.Layers, m.Layers)), s.Factor)
	}
	if len(m.Traps) > 0 {
		t.Printf("\n%s\n", t.Heading("traps"))
		var rows [][]string
		for _, trap := range m.Traps {
			rows = append(rows, []string{trap.Name, trap.Text})
		}
		t.Table("  ", rows)
	}
}

// title says which layers a kind is, and for which sequences.
func (m *modelDescription) title(k *kindDescription) string {
	title := layersText(k.Layers, m.Layers)
	switch {
	case k.Indexer:
		title = "indexers of " + title
	case k.LayerType != "":
		title = k.LayerType + ": " + title
	}
	if k.SequenceLength > 0 {
		first, longest := m.Kinds[0].SequenceLength, m.Kinds[len(m.Kinds)-1].SequenceLength
		switch {
		case first == longest:
			title += fmt.Sprintf(", sequences of up to %d tokens; others have frequencies by their length", k.SequenceLength)
		case k.SequenceLength == first:
			title += fmt.Sprintf(", sequences of up to %d tokens", k.SequenceLength)
		default:
			title += fmt.Sprintf(", sequences of %d tokens", k.SequenceLength)
		}
	}
	return title
}

func (m *modelDescription) rows(k *kindDescription) [][]string {
	rows := [][]string{
		{"rotates", k.part()},
		{"pairs", pairsText(k)},
	}
	if k.Axes != nil {
		rows = append(rows, []string{"axes", axesText(k.Axes)})
	}
	rows = append(rows, []string{"rule", ruleText(k)})
	if m.LearnedFrequencies != "" {
		rows = append(rows, []string{"", "times e to the power of the tensor " + m.LearnedFrequencies + ", which is not in this file: here times 1"})
	}
	if f := k.Fourier; f != nil {
		sums := k.sums()
		rows = append(rows,
			[]string{"Fourier", fmt.Sprintf("cosines and sines of pairs 0 to %d are sums over %d frequencies", sums-1, sums)},
			[]string{"", fmt.Sprintf("by the tensors %s and %s, which are not in this file", f.Cos, f.Sin)})
		if f.PaddedPairs > 0 {
			rows = append(rows, []string{"padding", fmt.Sprintf("pairs %d to %d have cosine %s and sine %[3]s", sums, sums+f.PaddedPairs-1, number(k.AttentionFactor))})
		}
	}
	rows = append(rows, []string{"frequencies", k.frequencies()})
	if k.Fourier == nil {
		rows = append(rows, []string{"wavelengths", wavelengthsText(k.InvFreq, cmp.Or(k.SequenceLength, m.ContextLength))})
	}
	rows = append(rows,
		[]string{"attention factor", number(k.AttentionFactor) + ", multiplies cos and sin"},
	)
	if k.AttentionFactor == 1 {
		rows[len(rows)-1][1] = "1"
	}
	if !k.Indexer {
		scale := "1"
		if k.SoftmaxScale != 1 {
			scale = number(k.SoftmaxScale) + ", multiplies attention scores beside 1/sqrt of the head"
		}
		rows = append(rows, []string{"softmax scale", scale})
	}
	return rows
}

// sums is how many frequencies Fourier sums have, 0 where there are none.
func (k *kindDescription) sums() int {
	if k.Fourier == nil {
		return 0
	}
	return len(k.InvFreq)
}

// part says which elements of a head rotate.
func (k *kindDescription) part() string {
	text := k.rotated()
	if turn := len(k.turning()); turn < len(k.InvFreq) {
		text += fmt.Sprintf(", of which %d turn: %d of %d pairs have frequency 0", 2*turn, len(k.InvFreq)-turn, len(k.InvFreq))
	}
	return text
}

// turning are the frequencies that are not 0.
func (k *kindDescription) turning() []float64 {
	return slices.DeleteFunc(slices.Clone(k.InvFreq), func(f float64) bool { return f == 0 })
}

func (k *kindDescription) rotated() string {
	switch {
	case k.latent:
		return fmt.Sprintf("%d elements: the last of each head of Q, and the head of K that all share (latent attention)", k.RotaryDim)
	case k.RotaryDim == k.HeadDim:
		return fmt.Sprintf("all %d elements of a head", k.HeadDim)
	case k.Offset == 0:
		return fmt.Sprintf("the first %d of %d elements of a head", k.RotaryDim, k.HeadDim)
	case k.Offset+k.RotaryDim == k.HeadDim:
		return fmt.Sprintf("the last %d of %d elements of a head", k.RotaryDim, k.HeadDim)
	}
	return fmt.Sprintf("elements %d to %d of %d of a head", k.Offset, k.Offset+k.RotaryDim-1, k.HeadDim)
}

func pairsText(k *kindDescription) string {
	text := map[posenc.Layout]string{
		posenc.HalfSplit:              "half-split: element i with i+%d",
		posenc.Interleaved:            "interleaved: element 2i with 2i+1",
		posenc.InterleavedToHalfSplit: "reads interleaved pairs, element 2i with 2i+1, and writes half-split ones, i with i+%d",
	}[k.layout]
	if strings.Contains(text, "%d") {
		text = fmt.Sprintf(text, k.RotaryDim/2)
	}
	if k.Offset != 0 {
		text += ", from the first that rotates"
	}
	if slices.ContainsFunc(k.InvFreq, func(f float64) bool { return f < 0 }) {
		text += "; they turn the other way, frequencies are below 0"
	}
	return text
}

// axesText says how many pairs take their position from each axis, and in which order.
func axesText(axes []int) string {
	count := slices.Max(axes) + 1
	names := axisNames[count]
	counts := make([]int, count)
	for _, axis := range axes {
		counts[axis]++
	}
	var parts []string
	for axis, n := range counts {
		name := fmt.Sprintf("axis %d", axis)
		if names != nil {
			name = names[axis]
		}
		parts = append(parts, fmt.Sprintf("%d pairs of %s", n, name))
	}
	changes := 0
	for i := range axes[1:] {
		if axes[i] != axes[i+1] {
			changes++
		}
	}
	if changes >= count {
		return strings.Join(parts, ", ") + "; they alternate"
	}
	if names != nil && axes[0] != 0 {
		return strings.Join(parts, ", ") + "; " + names[axes[0]] + " first"
	}
	return strings.Join(parts, ", ")
}

func ruleText(k *kindDescription) string {
	parts := []string{fmt.Sprintf("base %v", number(k.Base))}
	for _, name := range slices.Sorted(maps.Keys(k.Parameters)) {
		text := fmt.Sprint(k.Parameters[name])
		switch value := k.Parameters[name].(type) {
		case float64:
			text = number(value)
		case []float64:
			text = fmt.Sprintf("of %d numbers, %.6g to %.6g", len(value), slices.Min(value), slices.Max(value))
		}
		parts = append(parts, name+" "+text)
	}
	return k.Rule + ": " + strings.Join(parts, ", ")
}

// number is a number without an exponent, where that is short. A float32, as GGUF files have, is
// written as the shortest number that is the same float32.
func number(x float64) string {
	switch {
	case x == math.Trunc(x) && math.Abs(x) < 1e12:
		return fmt.Sprintf("%.0f", x)
	case x == float64(float32(x)):
		return fmt.Sprint(float32(x))
	}
	return fmt.Sprintf("%.9g", x)
}

func (k *kindDescription) frequencies() string {
	turning, of := k.turning(), "pairs"
	if k.Fourier != nil {
		of = fmt.Sprintf("of %d kept", k.RotaryDim/2)
	}
	if len(turning) == 0 {
		return "0"
	}
	return fmt.Sprintf("%.6g to %.6g radians per position, %d %s", turning[0], turning[len(turning)-1], len(turning), of)
}

// wavelengthsText compares the turns of pairs with the longest sequence.
func wavelengthsText(invFreq []float64, context int) string {
	still, longer := 0, 0
	shortest, longest := math.Inf(1), 0.0
	for _, f := range invFreq {
		if f == 0 {
			still++
			continue
		}
		wavelength := 2 * math.Pi / math.Abs(f)
		shortest, longest = min(shortest, wavelength), max(longest, wavelength)
		if wavelength > float64(context) {
			longer++
		}
	}
	text := "no pair turns"
	if still < len(invFreq) {
		text = fmt.Sprintf("%.4g to %.4g positions", shortest, longest)
		if context > 0 {
			text += fmt.Sprintf("; %d of %d pairs turn less than once in %d", longer, len(invFreq), context)
		}
	}
	if still > 0 {
		text += fmt.Sprintf("; %d pairs do not turn at all", still)
	}
	return text
}

// layersText names layers: how many, and which, where they are not all of them.
func layersText(layers []int, of int) string {
	if len(layers) == of {
		return fmt.Sprintf("all %d layers", of)
	}
	list := ropecheck.Ranges(layers, "-")
	if len(list) > 6 {
		list = append(list[:6], "...")
	}
	return fmt.Sprintf("%d of %d layers (%s)", len(layers), of, strings.Join(list, ", "))
}
