package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/progress"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkOptions are the flags of check.
type checkOptions struct {
	positions, shape, layer, pairs, raw string
	noise                               float64
	vision, absolute                    bool
	stored                              storedOptions
	progress                            func(done, all int) // nil: none
}

func newCheck() *cobra.Command {
	var options checkOptions
	c := &cobra.Command{
		Use:   "check FILE BEFORE AFTER | check --absolute TABLE",
		Short: "Say what a rotation did, and what differs from what the model wants",
		Long: `Say what an engine's rotation of Q or K did, and what differs from what the model wants.

BEFORE and AFTER are the heads of some tokens before and after the rotation, dumped from the
engine: npy, npz or safetensors, of float32, float16 or bfloat16, or with --raw numbers alone.
FILE:NAME is one of several arrays of a file; - is standard input, and /dev/stdin:NAME one of
several arrays from there. Dump four heads or more, and positions of which some are neighbours and
others far apart: 0 to 15 and 1000 to 1003, say.

The last dimension is a head, or all heads of a token. Those before it are [tokens][heads] or
[heads][tokens], which the positions, by their number, or --shape say, else both are tried.

With --cache AFTER is keys as a cache stores them, and elements may be half a step of their codes
off: blocks of q8_0 (ggml), or codes of int8, e4m3 or e5m2 with --scales. With --raw AFTER is their bytes.

With --absolute, say which sinusoidal position encoding TABLE is, [positions][dim]: its order, base,
exponents, first position, scale and rounding, and what is wrong with it.

Exit codes: 0 the rotation is that of the model, or the table is an encoding, 1 it differs, or the
table has faults, 2 wrong usage or input, also data that cannot
tell, and more noise than rounding and --noise explain.`,
		Example: `  posenc check config.json before.npy after.npy --positions 0-15,1000-1003
  posenc check gemma-3-1b-it/ dump.safetensors:q dump.safetensors:q_rot --positions dump.safetensors:positions --layer 5
  posenc check config.json q.npy q_rot.npy --shape batch,tokens,heads,dim
  posenc check config.json q.bin q_rot.bin --raw bfloat16:20,32,128 --positions 0-15,1000-1003
  posenc check config.json dump.safetensors:k dump.safetensors:codes --cache int8 --scales dump.safetensors:k_scale
  posenc check --absolute model.safetensors:embed_positions.weight`,
		Args: func(c *cobra.Command, arguments []string) error {
			if options.absolute {
				return cobra.ExactArgs(1)(c, arguments)
			}
			return cobra.ExactArgs(3)(c, arguments)
		},
		RunE: func(c *cobra.Command, arguments []string) error {
			if options.absolute {
				return runCheckAbsolute(c, arguments[0])
			}
			const steps = 100
			bar, shown := progress.Start(c, "check", steps), 0
			options.progress = func(done, all int) {
				more := max(0, done*steps/max(all, 1)-shown) // a second search begins at 0
				bar.Step(more)
				shown += more
			}
			result, err := check(arguments[0], arguments[1], arguments[2], options)
			bar.Done()
			if err != nil {
				return err
			}
			if err := output.Write(c, result); err != nil {
				return err
			}
			switch result.Verdict {
			case ropecheck.Agrees:
				return nil
			case ropecheck.Noisy:
				if result.residual <= options.noise {
					return nil
				}
				return fmt.Errorf("%s: noise of %.2g beside the rotation, of which rounding of %s explains %.2g: --noise %.2g allows it", input.Name(arguments[2]), result.residual, result.Type, result.Report.Rounding, result.residual*1.1)
			case ropecheck.Differs:
				return output.ErrDifferent
			}
			return errors.New("the data do not tell this rotation from none: dump other positions")
		},
	}
	c.Flags().StringVar(&options.positions, "positions", "", "positions of the tokens: 0-15,1000, with / between axes, or an array; absent: they are solved for")
	c.Flags().StringVar(&options.shape, "shape", "", "dimensions of the arrays: tokens,heads,dim in their order, also batch, and heads*dim for both in one")
	c.Flags().StringVar(&options.raw, "raw", "", "BEFORE and AFTER are numbers without a header: TYPE:SHAPE, as float32:12,4,64, or TYPE:SHAPE:big of big-endian ones")
	c.Flags().StringVar(&options.stored.format, "cache", "", "AFTER is keys as a cache of 8 bits stores them: q8_0, int8, e4m3 or e5m2")
	c.Flags().StringVar(&options.stored.scales, "scales", "", "what codes are multiplied by: a number, or an array, as [tokens][heads]; not of q8_0")
	c.Flags().IntVar(&options.stored.hadamard, "hadamard", 0, "elements of the blocks in which a Hadamard transform mixed keys before they were stored")
	c.Flags().StringVar(&options.layer, "layer", "", "layer that the arrays are of: its number, or the kind of layers (posenc inspect names them)")
	c.Flags().StringVar(&options.pairs, "pairs", "", "order of the elements that the weights give: half-split or interleaved; absent: as FILE says")
	c.Flags().Float64Var(&options.noise, "noise", 0, "noise that is no difference: root mean square, as a part of the elements'")
	c.Flags().BoolVar(&options.vision, "vision", false, "the arrays are of the vision tower")
	c.Flags().BoolVar(&options.absolute, "absolute", false, "say which sinusoidal position encoding a table is")
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "absolute" {
			c.MarkFlagsMutuallyExclusive("absolute", flag.Name)
		}
	})
	if err := c.RegisterFlagCompletionFunc("layer", completeLayer); err != nil {
		panic(err) // a flag of another name
	}
	return c
}

// check compares arrays with the rotation of a model.
func check(file, before, after string, options checkOptions) (*checkResult, error) {
	s, err := source.Load(file)
	if err != nil {
		return nil, err
	}
	if options.vision {
		switch {
		case s.VisionErr != nil:
			return nil, fmt.Errorf("%s: vision tower: %w", input.Name(s.Path), s.VisionErr)
		case s.Vision == nil:
			return nil, fmt.Errorf("%s: no vision tower that rotates", input.Name(s.Path))
		}
		s.Model = nil
	} else if s.ModelErr != nil {
		return nil, fmt.Errorf("%s: %w; --vision compares with the vision tower", input.Name(s.Path), s.ModelErr)
	}
	if s.Model != nil {
		for _, layer := range s.Model.Layers() {
			if tensor := layer.FrequencyFactors; tensor != "" {
				return nil, fmt.Errorf("%s: frequencies are times e to the power of the tensor %s, which is not in this file", input.Name(s.Path), tensor)
			}
		}
	}
	candidates, err := rotations(s)
	if err != nil {
		return nil, err
	}
	wanted, still, err := wantedLayers(s, options.layer)
	if err != nil {
		return nil, err
	}
	if still != nil {
		candidates, wanted = append(candidates, still.unrotated(candidates[0])), []string{still.name}
	}
	if err := orderPairs(candidates, options.pairs); err != nil {
		return nil, err
	}
	for _, r := range candidates {
		if u, ok := r.unordered(); ok {
			candidates = append(candidates, u)
		}
	}
	meant := slices.DeleteFunc(slices.Clone(candidates), func(r rotation) bool { return !slices.Contains(wanted, r.of.name) })

	files := dumps{}
	if err := options.stored.check(); err != nil {
		return nil, err
	}
	read := files.array
	if options.raw != "" {
		raw, err := array.ParseRaw(options.raw)
		if err != nil {
			return nil, fmt.Errorf("--raw %w", err)
		}
		read = raw.ReadFile
	}
	var arrays [2]*array.Array
	var values [2][]float32
	var stored *ropecheck.Stored
	for i, argument := range []string{before, after} {
		isStored := i == 1 && options.stored.format != ""
		if isStored && options.raw != "" {
			read = func(path string) (*array.Array, error) { return options.stored.readBytes(path, arrays[0].Shape) }
		}
		if arrays[i], err = read(argument); err != nil {
			return nil, err
		}
		if isStored {
			if values[i], stored, err = options.stored.read(files, argument, arrays[i], arrays[0].Shape); err != nil {
				return nil, err
			}
			arrays[i] = &array.Array{Shape: arrays[0].Shape, Type: options.stored.format}
		} else if values[i], err = arrays[i].Float32s(); err != nil {
			if _, ok := arrays[i].Values.([]byte); ok && i == 1 {
				err = fmt.Errorf("%w; and --cache for codes of a cache", err)
			}
			return nil, fmt.Errorf("%s: %w", input.Name(argument), err)
		}
	}
	if !slices.Equal(arrays[0].Shape, arrays[1].Shape) {
		return nil, fmt.Errorf("%s has shape %v, %s %v: want the same heads before and after", input.Name(before), arrays[0].Shape, input.Name(after), arrays[1].Shape)
	}
	positions, positionsShape, err := files.positions(options.positions)
	if err != nil {
		return nil, err
	}
	headDims := headDimsOf(meant)
	latent := s.Model != nil && s.Model.Layers()[0].LatentAttention
	size := arrays[0].Shape
	dims := headDims
	if latent && len(size) > 0 && size[len(size)-1] > headDims[0] {
		dims = []int{size[len(size)-1]} // the rotary part is the end of each head
	}
	shapes := make([]*shape, 1)
	if options.shape != "" {
		shapes[0], err = parseShape(options.shape, size, dims[0])
	} else {
		shapes, err = guessShape(size, dims, lastOf(positionsShape))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", input.Name(before), err)
	}
	c := &comparison{
		source: s, model: file, before: before, after: after, arrays: arrays, values: values,
		positions: positions, positionsSize: positionsShape,
		candidates: candidates, meant: meant, wanted: wanted, headDims: headDims, latent: latent, progress: options.progress,
		stored: stored,
	}
	result, err := c.as(shapes[0])
	if err == nil {
		c.noteHadamard(result)
	}
	if err != nil || len(shapes) == 1 {
		return result, err
	}
	other, err := c.as(shapes[1])
	if err != nil {
		return nil, err
	}
	if other.nearer(result) {
		result, other = other, result
	}
	result.OtherShape, result.otherAgrees = other.Shape, other.Verdict == ropecheck.Agrees
	return result, nil
}

// comparison is what arrays are compared with, in an order of their dimensions.
type comparison struct {
	source               *source.Source
	model, before, after string
	arrays               [2]*array.Array
	values               [2][]float32
	positions            []int32
	positionsSize        []int
	candidates, meant    []rotation
	wanted               []string
	headDims             []int
	latent               bool
	progress             func(done, all int)
	stored               *ropecheck.Stored // in the order of the array; nil: values are as they were written
}

// as compares the arrays, read as heads of a shape.
func (c *comparison) as(heads *shape) (*checkResult, error) {
	var err error
	elements, candidates := heads.headDim, slices.Clone(c.candidates)
	if c.latent && elements > c.headDims[0] { // the elements before are compared, too
		for i := range candidates {
			if r := &candidates[i].config; r.HeadDim == c.headDims[0] {
				r.HeadDim, r.RotaryDim, r.Offset = elements, cmp.Or(r.RotaryDim, r.HeadDim), r.Offset+elements-c.headDims[0]
			}
		}
	} else if !slices.Contains(c.headDims, elements) {
		return nil, fmt.Errorf("%s: heads of %d elements: want %s", input.Name(c.before), elements, either(c.headDims))
	}
	data := ropecheck.Data{
		Before: heads.order(c.values[0]), After: heads.order(c.values[1]),
		Tokens: heads.tokens(), Heads: heads.size(headsAxis), HeadDim: elements,
		Type: elementType(c.arrays[1]), Progress: c.progress,
	}
	if c.stored != nil {
		if axis := heads.Axes[len(heads.Axes)-1]; c.stored.Format == ropecheck.Q8_0 && axis != dimAxis && axis != packedAxis {
			return nil, fmt.Errorf("%s: the last dimension is %s: want the elements of heads, of which blocks of q8_0 have 32", input.Name(c.after), axis)
		}
		if data.After, err = untransformed(data.After, data.Heads, elements, c.stored.Hadamard); err != nil {
			return nil, err
		}
		stored := *c.stored
		stored.Errors = heads.order(stored.Errors)
		data.Type, data.Stored = elementType(c.arrays[0]), &stored
	}
	if c.positions != nil {
		if data.Positions, err = spread(c.positions, c.positionsSize, heads, axesOf(c.meant)); err != nil {
			return nil, fmt.Errorf("--positions: %w", err)
		}
	}
	last := -1
	for _, p := range data.Positions {
		last = max(last, int(p))
	}
	result := &checkResult{Model: c.model, Before: c.before, After: c.after, Shape: heads, Type: c.arrays[1].Type}
	candidates = slices.DeleteFunc(candidates, func(r rotation) bool { return r.config.HeadDim != elements })
	var compared []ropecheck.Rotation
	var isMeant []bool
	for _, r := range candidates {
		one, err := r.forCheck()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", input.Name(c.source.Path), err)
		}
		outgrown := r.beyond > 0 && r.length <= r.beyond && last >= r.beyond
		compared, isMeant = append(compared, one), append(isMeant, slices.Contains(c.wanted, r.of.name) && !outgrown)
	}
	if result.Report, result.Float32Steps, err = ropecheck.CheckModel(data, compared...); err != nil {
		for _, of := range []struct {
			name   string
			values []float32
		}{{c.before, data.Before}, {c.after, data.After}} {
			if i := slices.IndexFunc(of.values, func(v float32) bool { return v-v != 0 }); i >= 0 {
				row := i / elements
				return nil, fmt.Errorf("%s: token %d, head %d: element %d is %v, want a finite number", input.Name(of.name), row/data.Heads, row%data.Heads, i%elements, of.values[i])
			}
		}
		return nil, fmt.Errorf("%s to %s: %w", input.Name(c.before), input.Name(c.after), err)
	}
	best := result.Report.Best(isMeant)
	nearest := result.Report.Candidates[best]
	result.Verdict, result.Candidate, result.residual = nearest.Verdict, nearest.Name, nearest.Residual
	if (nearest.Verdict == ropecheck.Agrees || nearest.Verdict == ropecheck.Noisy) && candidates[best].of.model != nil {
		result.Engines = ropecheck.Engines(data, compared[best])
	}
	result.note(&candidates[best], nearest, last)
	return result, nil
}

// note adds what else a reader should know of the candidate: last is the last position, -1
// where they are unknown.
func (r *checkResult) note(best *rotation, c ropecheck.Comparison, last int) {
	add := func(format string, a ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, a...)) }
	switch agrees := r.agrees(); {
	case agrees && best.leavesPairs:
		add("The model's code moves the pairs to halves, and here they stay in place. Scores are the same if that is so for Q and for K.")
	case agrees && best.beyond > 0 && best.length > best.beyond && 0 <= last && last < best.beyond:
		add("The last position is %d. This rotation is that of sequences of more than %d tokens, and shorter ones have another.", last, best.beyond)
	}
	if slices.ContainsFunc(c.Faults, func(f ropecheck.Fault) bool {
		return f.Aspect == ropecheck.LayoutAspect && f.Want == posenc.HalfSplit.String() && f.Got == posenc.Interleaved.String()
	}) {
		add("Interleaved pairs are right where the rows of the weights of Q and K were permuted for them, as in GGUF files of Llama: give the GGUF file in place of the config.json, or --pairs interleaved.")
	}
}

// orderPairs sets the order of the elements that the weights give, where the flag --pairs does.
func orderPairs(candidates []rotation, pairs string) error {
	layouts := map[string]posenc.Layout{"half-split": posenc.HalfSplit, "interleaved": posenc.Interleaved}
	layout, ok := layouts[pairs]
	switch {
	case pairs == "":
		return nil
	case !ok:
		return fmt.Errorf("--pairs %s: want half-split or interleaved", pairs)
	}
	for i := range candidates {
		candidates[i].config.Layout = layout
	}
	return nil
}

// completeLayer says what --layer may be: the kinds of layers of FILE, and the numbers of layers.
func completeLayer(_ *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(arguments) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// Standard input and pipes are not for completion to read.
	info, err := os.Stat(arguments[0])
	if err != nil || arguments[0] == input.Stdin || !info.IsDir() && !info.Mode().IsRegular() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := source.Load(arguments[0])
	if err != nil || s.Model == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []string
	for _, k := range kindsOf(s.Model) {
		if k.name != "" {
			list = append(list, k.name)
		}
	}
	for i, layer := range s.Model.Layers() {
		list = append(list, cobra.CompletionWithDesc(strconv.Itoa(i), layer.Kind))
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// wantedLayers are the kinds of layers that the flag --layer means; still is the layer where it does
// not rotate.
func wantedLayers(s *source.Source, layer string) (list []string, still *stillLayer, err error) {
	model := s.Model
	if model == nil {
		model = s.Vision
	}
	var types []string
	for _, k := range kindsOf(model) {
		types = append(types, k.name)
	}
	if layer == "" || slices.Contains(types, layer) {
		if layer != "" {
			types = []string{layer}
		}
		return types, nil, nil
	}
	n, err := strconv.Atoi(layer)
	layers := model.Layers()
	switch {
	case err != nil:
		if len(types) == 1 && types[0] == "" {
			return nil, nil, fmt.Errorf("--layer %s: want a number from 0 to %d", layer, len(layers)-1)
		}
		return nil, nil, fmt.Errorf("--layer %s: want a number or one of %q", layer, types)
	case n < 0 || n >= len(layers):
		return nil, nil, fmt.Errorf("--layer %d: %s has layers 0 to %d", n, input.Name(s.Path), len(layers)-1)
	case !layers[n].Rotates:
		return nil, &stillLayer{fmt.Sprintf("layer %d, which does not rotate", n)}, nil
	}
	return []string{layers[n].Kind}, nil, nil
}

// stillLayer is a layer that does not rotate.
type stillLayer struct{ name string }

// unrotated is the rotation by no angle, of the heads of another.
func (l *stillLayer) unrotated(of rotation) rotation {
	c := of.config
	c.Base, c.InvFreq, c.AttentionFactor, c.Axes, c.XPos = 0, make([]float64, cmp.Or(c.RotaryDim, c.HeadDim)/2), 0, nil, nil
	of.config, of.kind, of.of, of.beyond = c, l.name, kind{name: l.name}, 0
	return of
}

func headDimsOf(list []rotation) []int {
	var dims []int
	for _, r := range list {
		if !slices.Contains(dims, r.config.HeadDim) {
			dims = append(dims, r.config.HeadDim)
		}
	}
	slices.Sort(dims)
	return dims
}

// axesOf is how many positions a token has.
func axesOf(list []rotation) int {
	axes := 1
	for _, r := range list {
		for _, axis := range r.config.Axes {
			axes = max(axes, int(axis)+1)
		}
	}
	return axes
}

func elementType(a *array.Array) ropecheck.ElementType {
	switch a.Type {
	case "float16":
		return ropecheck.Float16
	case "bfloat16":
		return ropecheck.BFloat16
	}
	return ropecheck.Float32
}

// lastOf is the last dimension of a shape: the tokens of positions.
func lastOf(shape []int) int {
	if len(shape) == 0 {
		return 0
	}
	return shape[len(shape)-1]
}

// spread returns positions of a shape as [tokens] or [axes][tokens], those of one sequence for all
// of the batch.
func spread(positions []int32, size []int, s *shape, axes int) ([]int32, error) {
	all, one := s.tokens(), s.size(tokensAxis)
	repeat := func(list []int32) []int32 { return slices.Repeat(list, all/max(one, 1)) }
	asMany := len(positions) == all && all == axes*one && axes > 1 // sequences as axes
	switch n := len(positions); {
	case asMany && len(size) == 2:
		return nil, fmt.Errorf("positions of shape %d for %v are of %d sequences or of %d axes: want [%d][1][%d] for axes, "+
			"or [%d] for sequences", size, s, axes, axes, axes, one, all)
	case n == all && !(asMany && len(size) == 3 && size[0] == axes), n == axes*all:
		return positions, nil
	case n == one:
		return repeat(positions), nil
	case n == axes*one:
		var spread []int32
		for axis := range axes {
			spread = append(spread, repeat(positions[axis*one:(axis+1)*one])...)
		}
		return spread, nil
	}
	expected := fmt.Sprintf("%d, one for each token", all)
	if axes > 1 {
		expected += fmt.Sprintf(", or %d axes of them", axes)
	}
	return nil, fmt.Errorf("%d positions for %v: want %s", len(positions), s, expected)
}

// checkResult is what check found.
type checkResult struct {
	Model  string `json:"model"`
	Before string `json:"before"`
	After  string `json:"after"`
	Type   string `json:"type"`
	Shape  *shape `json:"shape"`
	// Verdict is the best one of the kinds of layers that are meant; Candidate names it.
	Verdict   ropecheck.Verdict `json:"verdict"`
	Candidate string            `json:"candidate"`

	// OtherShape fits the arrays too, and comes less near or as near.
	OtherShape *shape `json:"other_shape,omitempty"`

	Notes []string `json:"notes,omitempty"`

	// Float32Steps names the candidates whose frequencies are those that transformers makes in
	// float32, as they come nearer than the exact ones.
	Float32Steps []string `json:"float32_steps,omitempty"`

	// Engines names the engines that have the same bits, where correctly rounded cosines and sines
	// have others.
	Engines []string `json:"engines,omitempty"`

	Report *ropecheck.Report `json:"report"`

	otherAgrees bool    // by OtherShape
	residual    float64 // of the candidate
}

func (r *checkResult) agrees() bool {
	return r.Verdict == ropecheck.Agrees || r.Verdict == ropecheck.Noisy
}

// nearer reports whether the data explain more, read as r says and not as other.
func (r *checkResult) nearer(other *checkResult) bool {
	a, b := &r.Report.Hypotheses[0], &other.Report.Hypotheses[0]
	for _, verdict := range []ropecheck.Verdict{ropecheck.Agrees, ropecheck.Noisy} {
		if (r.Verdict == verdict) != (other.Verdict == verdict) {
			return r.Verdict == verdict
		}
	}
	if a.Explains != b.Explains {
		return a.Explains
	}
	return a.Residual < b.Residual
}

func (r *checkResult) WriteText(t *output.Text) {
	t.Printf("%s to %s: %s of %s", input.Name(r.Before), input.Name(r.After), r.Shape, r.Type)
	t.Printf("\n")
	if r.OtherShape != nil {
		says := "where they are further from the model"
		if r.otherAgrees {
			says = "where they agree with the model too"
		}
		t.Printf("The arrays were read as %s too, %s. --shape says which it is.\n", r.OtherShape, says)
	}
	switch r.Verdict {
	case ropecheck.Agrees:
		t.Printf("%s\n", t.Good(fmt.Sprintf("This is the rotation of %s.", r.Candidate)))
	case ropecheck.Noisy:
		t.Printf("%s\n", t.Bad(fmt.Sprintf("This is the rotation of %s, with noise of %.2g.", r.Candidate, r.residual)))
	case ropecheck.Differs:
		t.Printf("%s\n", t.Bad(fmt.Sprintf("This is not the rotation of %s.", r.Candidate)))
	default:
		t.Printf("%s\n", t.Bad("The data do not tell."))
	}
	for _, engine := range r.Engines {
		t.Printf("Cosines and sines are the ones of %s: all rotated elements have the same bits.\n", engine)
	}
	for _, note := range r.Notes {
		t.Printf("%s\n", note)
	}
	t.Printf("\n")
	if !r.Report.Hypotheses[0].Explains {
		t.Printf("No rotation explains the data: are the arrays of the same heads, in this order of dimensions?\n")
		t.Printf("\n")
	}
	t.Printf("%s", r.Report)
	for _, name := range r.Float32Steps {
		t.Printf("Frequencies of %q are those that transformers makes in float32: they come nearer than exact ones.\n", name)
	}
}
