package operation

import (
	"fmt"
	"slices"
)

// Operations is the list.
var Operations = slices.Concat(
	rotations(), rotatedQuantizations(), norms(), fusions(), biases(), products(), sinusoids(), conversions(), additions(), rearrangements(),
	quantizations(), dequantizations(), transforms(),
	cosSins(), copies(), bounds(), controls(),
)

// inPlace is the types of operations that write what they read.
var inPlace = []Types{of(F32), of(F16), of(BF16)}

// rotations lists the rotations of both layouts for all types of y and x.
func rotations() (list []Operation) {
	for _, layout := range []Layout{HalfSplit, Interleaved} {
		stubPair, pair := "(x[2i], x[2i+1])", "(x[2i], x[2i+1])"
		if layout == HalfSplit {
			stubPair, pair = "(x[i], x[i+partner])", "(x[i], x[i+Partner])"
		}
		for _, t := range append(slices.Clone(inPlace), Types{F16, F32}, Types{BF16, F32}, Types{F32, F16}, Types{F32, BF16}) {
			name := "generic.Rotate" + string(layout) + t.String()
			list = append(list, Operation{
				Package: "asm", Family: "rotate", Base: "Rotate", Layout: layout, Types: t,
				Parameters: []Parameter{out("y", t.To), in("x", t.From), in("cos", F32), in("sin", F32), rows(layout, t)},
				Definition: []Call{{Function: "Rotate" + string(layout), Arguments: []string{"y", "x", "cos", "sin"}}},
				Summary:    "rotates the pairs " + pair + " of every row into y:\nsee " + name + ".",
				Doc: `%s rotates the pairs ` + stubPair + `, i < pairs, of every head of
every token, as ` + name + ` does. The row of head h of token t is
read from x[t*xTokenStride+h*xHeadStride] on and written to y in the same way, its table
rows start at cos[t*tableStride] and sin[t*tableStride]. Strides are in elements.
Either y is x and has its strides, or the two share no memory.`,
			})
		}
	}
	return list
}

// rotatedQuantizations lists the rotations of float32 whose results become numbers of 8
// bits.
func rotatedQuantizations() (list []Operation) {
	for _, layout := range []Layout{HalfSplit, Interleaved} {
		for _, f := range []struct {
			Element
			how string
		}{{Q8, ""}, {I8, "Row"}, {E4M3, "Row"}, {E4M3, "Scaled"}, {E5M2, "Scaled"}} {
			e, base, as, pairs, lengths := f.Element, "RotateQuantize"+f.how, "as blocks of Q8_0", "32 or 64", []int{64, 32}
			parameters := []Parameter{out("y", e), in("x", F32), in("cos", F32), in("sin", F32), wholeHeads(layout, e)}
			rotate, quantize := Call{Function: "Rotate" + string(layout), Types: of(F32), Arguments: []string{"rotated", "x", "cos", "sin"}}, Call{Function: "Quantize", Arguments: []string{"y", "head"}}
			where := "its blocks start\nat y[t*yTokenStride+h*yHeadStride]"
			switch f.how {
			case "Row":
				as = "with a scale"
				parameters = slices.Insert(parameters, 1, out("scales", F32))
				quantize.Function, quantize.To = "QuantizeRow", "scales"
				where = "its results start\nat i = t*yTokenStride+h*yHeadStride of y, its scale is scales[i/(2*pairs)]"
			case "Scaled":
				as, pairs, lengths = "times scale", "a multiple of 32", []int{64, 32, 96, 128}
				parameters = append(parameters, scalar("scale", "float32"))
				quantize.Arguments = append(quantize.Arguments, "scale")
				where = "its results start\nat y[t*yTokenStride+h*yHeadStride]"
			}
			as += ", as generic." + rotate.Function + "F32\nand generic." + quantize.Function + Types{e, F32}.String()
			list = append(list, Operation{
				Package: "asm", Family: "rotatequantize", Base: base, Layout: layout, Types: Types{e, F32},
				Parameters: parameters,
				Definition: []Call{rotate, quantize},
				Summary:    "rotates every head of 2*Pairs elements and writes it " + as + ". Partner is Pairs.",
				Doc: `%s rotates every head of 2*pairs elements of every
token, and writes it ` + as + `
do. Head h of token t is read from x[t*xTokenStride+h*xHeadStride] on, ` + where + `,
its table rows at cos[t*tableStride] and sin[t*tableStride]. pairs is ` + pairs + `. y shares
no memory with the others.`,
				Lengths:     lengths,
				Substitutes: map[string]string{"NEON": PlainGo},
			})
		}
	}
	return list
}

// norms lists the normalizations and scalings of rows for all types of x.
func norms() (list []Operation) {
	const doc = ` does to count rows of
n elements. Row i starts at x[i*stride], stride in elements.`
	for _, t := range inPlace {
		list = append(list,
			Operation{
				Package: "asm", Family: "norm", Base: "RMSNorm", Types: t,
				Parameters: []Parameter{out("x", t.To), in("weight", F32), lines, scalar("epsilon", "float32")},
				Definition: []Call{{Function: "RMSNorm", Arguments: []string{"x", "weight", "epsilon"}}},
				Summary:    "normalizes rows of Len elements in place: see\ngeneric.RMSNorm" + t.String() + ".",
				Doc:        "%s does what generic.RMSNorm" + t.String() + doc,
			},
			Operation{
				Package: "asm", Family: "norm", Base: "ScaleRows", Types: t,
				Parameters: []Parameter{out("x", t.To), scalar("factor", "float32"), lines},
				Definition: []Call{{Function: "Scale", Arguments: []string{"x", "factor"}}},
				Summary:    "multiplies rows of Len elements by factor, in place: see\ngeneric.Scale" + t.String() + ".",
				Doc:        "%s does what generic.Scale" + t.String() + doc,
			})
	}
	return list
}

// fusions lists the normalizations that rotate as well. They read x once, which is
// worth it where memory is what they wait for: for float32. Of 16 bits the numbers
// have to be rounded between the two all the same.
func fusions() (list []Operation) {
	for _, layout := range []Layout{HalfSplit, Interleaved} {
		rotate := "Rotate" + string(layout)
		list = append(list, Operation{
			Package: "asm", Family: "fused", Base: "RMSNormRotate", Layout: layout, Types: of(F32),
			Parameters: []Parameter{out("x", F32), in("weight", F32), in("cos", F32), in("sin", F32), fused(layout), scalar("epsilon", "float32")},
			Definition: []Call{
				{Function: "RMSNorm", Arguments: []string{"x", "weight", "epsilon"}},
				{Function: rotate, Arguments: []string{"rotated", "rotated", "cos", "sin"}},
			},
			Summary: "normalizes rows and rotates a slice of each, in place: see\ngeneric.RMSNormF32 and generic." + rotate + "F32.",
			Doc: `%s does what generic.RMSNormF32 and then
generic.` + rotate + `F32 do to count rows of n elements. Row i starts at
x[i*stride], stride in elements. The rotated slice of each is the 2*pairs elements
from number first on.`,
		})
	}
	return list
}

// biases lists the additions to rows of scores.
func biases() []Operation {
	const doc = ` to rows of n elements. Row r starts at
y[r*stride], its first distance is first+r*step. All distances are below 2^24 in
magnitude.`
	linear := []Parameter{out("y", F32), scalar("slope", "float32"), distance("first"), distance("step"), tile}
	const within = "t.within(impl, first, step)"
	const summary = " to rows of y, the first distance of row r being\nfirst+r*step: see generic."
	arguments := []string{"y", "slope", "first"}
	return []Operation{
		{
			Package: "asm", Family: "bias", Base: "AddRows", Types: of(F32),
			Parameters: []Parameter{out("y", F32), in("x", F32), scalar("xFirst", "int"), scalar("xStride", "int"), in("ids", I32), numbered},
			Definition: []Call{{Function: "Add", Arguments: []string{"y", "x"}}},
			Summary: `adds the row of x from element xFirst+ids[r]*xStride on to row r of y,
or, where ids is nil, that from xFirst+r*xStride on: see generic.AddF32.`,
			Doc: `%s does what generic.AddF32 does to rows of n elements. Row r
starts at y[r*yStride] and takes x[xFirst+ids[r]*xStride] and what follows, or, where
ids is nil, x[xFirst+r*xStride]. xStride may be negative.`,
		},
		{
			Package: "asm", Family: "bias", Base: "AddClamped", Types: of(F32),
			Parameters: []Parameter{out("y", F32), in("x", F32), scalar("first", "int"), scalar("step", "int"), tile, width("x")},
			Definition: []Call{{Function: "AddClamped", Arguments: []string{"y", "x", "first"}}},
			Summary: `adds elements of x to rows of y, to row r those from number
first+r*step on: see generic.AddClampedF32. The first ClampedEnds elements of x are
equal, and the last.`,
			Doc: `%s does what generic.AddClampedF32 does to rows of n elements, with
width elements of x. Row r starts at y[r*stride], and takes x from number
first+r*step on. ` + fmt.Sprintf("The first %d elements of x are equal, and the last %[1]d.", ClampedEnds),
		},
		{
			Package: "asm", Family: "bias", Base: "AddDistance", Types: of(F32),
			Parameters: linear, Narrow: within,
			Definition: []Call{{Function: "AddDistance", Arguments: arguments}},
			Summary:    "adds" + summary + "AddDistanceF32.",
			Doc:        "%s does what generic.AddDistanceF32 does" + doc,
		},
		{
			Package: "asm", Family: "bias", Base: "SubAbsoluteDistance", Types: of(F32),
			Parameters: linear, Narrow: within,
			Definition: []Call{{Function: "SubAbsoluteDistance", Arguments: arguments}},
			Summary:    "subtracts" + summary + "SubAbsoluteDistanceF32.",
			Doc:        "%s does what generic.SubAbsoluteDistanceF32 does" + doc,
		},
	}
}

// products lists the products of matrices.
func products() []Operation {
	const vectors = `

There are count vectors of n elements, at least 1; vector c starts at
vectors[c*vectorStride].`
	parameters := func(y, x string) []Parameter {
		return []Parameter{out("y", F32), in("x", F32), in("vectors", F32), matrices(y, x)}
	}
	return []Operation{
		{
			Package: "asm", Family: "product", Base: "DotProducts", Types: of(F32),
			Parameters: parameters("y[r*m.YStride+c]", "x[r*m.XStride:][:m.Len]"),
			Definition: []Call{{Function: "Dot", Arguments: []string{"x", "vectors"}, To: "y"}},
			Summary:    "writes the dot product of row r of x with vector c to element c of\nrow r of y: see generic.DotF32.",
			Doc:        "%s writes what generic.DotF32 returns of x[r*xStride] and what\nfollows with vector c to y[r*yStride+c]." + vectors,
		},
		{
			Package: "asm", Family: "product", Base: "AddMultiples", Types: of(F32),
			Parameters: parameters("y[r*m.YStride:][:m.Len]", "x[r*m.XStride+c]"),
			Definition: []Call{{Function: "AddMultiple", Arguments: []string{"y", "vectors", "x"}}},
			Summary:    "adds vectors to the rows of y in ascending order, vector c times\nelement c of row r of x: see generic.AddMultipleF32.",
			Doc:        "%s adds the vectors in ascending order to the n elements from\ny[r*yStride] on, as generic.AddMultipleF32 does, vector c times x[r*xStride+c]." + vectors,
		},
	}
}

// noSeeds is the plain Go of what only kernels need.
const noSeeds = "// The rows of plain Go need no seeds."

// done is how many a kernel wrote.
var done = &Result{Name: "done", Type: "int", Binding: "int", Value: "%s", Zero: "0"}

// sinusoids lists the rows of sines and cosines that are interleaved or added.
func sinusoids() []Operation {
	const doc = `

Entries are those of CosSinShiftF32 times scaling, of rows of n pairs. seed is
[blocks][3][64] and shift [blocks][32][2][64] from the first row on, 64 pairs of a row
to a block. done counts the pairs written, row by row; where it is less than rows*n, the
next pair is one of some of which an entry could not be rounded with certainty.`
	scaling, scale := scalar("scaling", "float32"), scalar("scale", "float32")
	return []Operation{
		{
			Package: "asm", Family: "sinusoidal", Base: "SinusoidalRows", Layout: Interleaved, Types: of(F32),
			Parameters: []Parameter{out("x", F32), shifted, scaling},
			Result:     done, Plain: noSeeds, Private: true,
			Summary: "writes n pairs of rows and returns how many came before\nthe first that was not decided.",
			Doc:     "%s writes sine i of row r to x[r*stride+2i] and cosine i to\nx[r*stride+2i+1]." + doc,
		},
		{
			Package: "asm", Family: "sinusoidal", Base: "AddSinusoidal", Layout: Interleaved, Types: of(F32),
			Parameters: []Parameter{out("x", F32), shifted, scaling, scale},
			Result:     done, Plain: noSeeds, Private: true,
			Summary: "adds n pairs to rows and returns how many came before the\nfirst that was not decided.",
			Doc:     "%s does to x[r*stride+2i] with sine i of row r, and to\nx[r*stride+2i+1] with cosine i, what generic.AddScaledF32 does." + doc,
		},
		{
			Package: "asm", Family: "sinusoidal", Base: "AddSinusoidal", Layout: HalfSplit, Types: of(F32),
			Parameters: []Parameter{out("cos", F32), out("sin", F32), shifted, scaling, scale},
			Result:     done, Plain: noSeeds, Private: true,
			Summary: "adds n pairs to rows and returns how many came before the\nfirst that was not decided.",
			Doc:     "%s does to cos[r*stride+i] with cosine i of row r, and to\nsin[r*stride+i] with sine i, what generic.AddScaledF32 does." + doc,
		},
	}
}

// conversions lists the changes of type.
func conversions() (list []Operation) {
	for _, t := range []Types{{F32, F16}, {F32, BF16}, {F16, F32}, {BF16, F32}} {
		list = append(list, Operation{
			Package: "asm", Family: "convert", Base: "Convert", Types: t,
			Parameters: []Parameter{out("y", t.To), in("x", t.From), length("x")},
			Definition: []Call{{Function: "Convert", Arguments: []string{"y", "x"}}},
			Summary:    "converts x to y: see generic.Convert" + t.String() + ".",
			Doc:        `%s does what generic.Convert` + t.String() + ` does with n numbers.`,
		})
	}
	return list
}

// additions lists the sums of two vectors of which one is scaled.
func additions() (list []Operation) {
	for _, t := range inPlace {
		list = append(list, Operation{
			Package: "asm", Family: "add", Base: "AddScaled", Types: t,
			Parameters: []Parameter{out("x", t.To), in("y", F32), length("x"), scalar("scale", "float32")},
			Definition: []Call{{Function: "AddScaled", Arguments: []string{"x", "y", "scale"}}},
			Summary:    "scales x and adds y to it: see generic.AddScaled" + t.String() + ".",
			Doc:        `%s does what generic.AddScaled` + t.String() + ` does with n numbers.`,
		})
	}
	return list
}

// rearrangements lists the changes of layout.
func rearrangements() (list []Operation) {
	for _, base := range []string{"Deinterleave", "Interleave"} {
		for _, e := range []Element{B32, B16} {
			size := fmt.Sprintf("elements of %d bytes.", e.Bytes())
			list = append(list, Operation{
				Package: "asm", Family: "layout", Base: base, Types: of(e),
				Parameters: []Parameter{out("y", e), in("x", e), pairsIn("x")},
				Definition: []Call{{Function: base, Arguments: []string{"y", "x"}}},
				Summary:    "is generic." + base + " of " + size,
				Doc:        "%s does what generic." + base + " does with " + size,
			})
		}
	}
	return list
}

// quantizations lists the conversions of float32 to numbers of 8 bits: with scales that
// they find, or by one that is given.
func quantizations() (list []Operation) {
	const rows = `

Vector i is n numbers, at least 1, from x[i*xStride] on.`
	list = append(list, Operation{
		Package: "asm", Family: "quantize", Base: "Quantize", Types: Types{Q8, F32},
		Parameters: []Parameter{out("y", Q8), in("x", F32), converted("x", Q8, "")},
		Definition: []Call{{Function: "Quantize", Arguments: []string{"y", "x"}}},
		Summary:    "writes vectors as blocks of Q8_0: see\ngeneric.QuantizeF32ToQ8.",
		Doc: `%s does what generic.QuantizeF32ToQ8 does to count vectors.` + rows + `
n is a multiple of 32. The blocks of vector i start at y[i*yStride].`,
	})
	for _, e := range append(slices.Clone(Blocks), MXFP4, NVFP4) {
		name := "generic.Quantize" + Types{e, F32}.String()
		parameters, call := []Parameter{out("y", e), in("x", F32), converted("x", e, "")}, Call{Function: "Quantize", Arguments: []string{"y", "x"}}
		if e == MXFP4 {
			parameters, call.Arguments = append(parameters, mxfp4Rule), append(call.Arguments, mxfp4Rule.Name)
		}
		list = append(list, Operation{
			Package: "asm", Family: "blocks", Base: "QuantizeBlocks", Types: Types{e, F32},
			Parameters: parameters,
			Definition: []Call{call},
			Summary:    "writes vectors as blocks of " + e.String() + ": see\n" + name + ".",
			Doc: `%s does what ` + name + ` does to count vectors.` + rows + fmt.Sprintf(`
n is a multiple of %d. The blocks of vector i start at y[i*yStride].`, e.Numbers()),
			Substitutes: map[string]string{"NEON": PlainGo},
		})
	}
	for _, e := range []Element{I8, E4M3} {
		name := "generic.QuantizeRow" + Types{e, F32}.String()
		list = append(list, Operation{
			Package: "asm", Family: "quantize", Base: "QuantizeRow", Types: Types{e, F32},
			Parameters: []Parameter{out("y", e), out("scales", F32), in("x", F32), converted("x", e, "scales")},
			Definition: []Call{{Function: "QuantizeRow", Arguments: []string{"y", "x"}, To: "scales"}},
			Summary:    "writes vectors and the scale of each: see\n" + name + ".",
			Doc: `%s does what ` + name + ` does to count vectors.` + rows + `
The results of vector i start at y[i*yStride], its scale is scales[i*scaleStride].`,
		})
	}
	list = append(list, Operation{
		Package: "asm", Family: "groups", Base: "QuantizeGroup", Types: Types{E4M3, F32},
		Parameters: []Parameter{out("y", E4M3), out("scales", F32), in("x", F32), converted("x", E4M3, "scales"), scalar("leastAmax", "float32"), scalar("leastScale", "float32"), scalar("fraction", "uint32")},
		Definition: []Call{{Function: "QuantizeGroup", Arguments: []string{"y", "x", "leastAmax", "leastScale", "fraction"}, To: "scales"}},
		Summary:    "writes vectors and the scale of each, by a rule: see\ngeneric.QuantizeGroupF32ToE4M3.",
		Doc: `%s does what generic.QuantizeGroupF32ToE4M3 does to count vectors.` + rows + `
The results of vector i start at y[i*yStride], its scale is scales[i*scaleStride].`,
		Substitutes: map[string]string{"NEON": PlainGo},
	})
	for _, e := range []Element{E4M3, E5M2} {
		name := "generic.Quantize" + Types{e, F32}.String()
		list = append(list, Operation{
			Package: "asm", Family: "quantize", Base: "Quantize", Types: Types{e, F32},
			Parameters: []Parameter{out("y", e), in("x", F32), converted("x", e, ""), scalar("scale", "float32")},
			Definition: []Call{{Function: "Quantize", Arguments: []string{"y", "x", "scale"}}},
			Summary:    "writes vectors times scale: see\n" + name + ".",
			Doc: `%s does what ` + name + ` does to count vectors.` + rows + `
The results of vector i start at y[i*yStride].`,
		})
	}
	return list
}

// dequantizations lists the conversions of numbers of 8 bits to float32.
func dequantizations() (list []Operation) {
	const rows = ` does to count vectors
of n numbers, at least 1, the results of vector i starting at y[i*yStride]`
	list = append(list, Operation{
		Package: "asm", Family: "quantize", Base: "Dequantize", Types: Types{F32, Q8},
		Parameters: []Parameter{out("y", F32), in("x", Q8), converted("y", Q8, "")},
		Definition: []Call{{Function: "Dequantize", Arguments: []string{"y", "x"}}},
		Summary:    "writes the numbers of blocks of Q8_0: see\ngeneric.DequantizeQ8ToF32.",
		Doc: `%s does what generic.DequantizeQ8ToF32` + rows + `.
n is a multiple of 32. The blocks of vector i start at x[i*xStride].`,
	})
	for _, e := range slices.Concat(Blocks, FP4) {
		name := "generic.Dequantize" + Types{F32, e}.String()
		list = append(list, Operation{
			Package: "asm", Family: "blocks", Base: "DequantizeBlocks", Types: Types{F32, e},
			Parameters: []Parameter{out("y", F32), in("x", e), converted("y", e, "")},
			Definition: []Call{{Function: "Dequantize", Arguments: []string{"y", "x"}}},
			Summary:    "writes the numbers of blocks of " + e.String() + ": see\n" + name + ".",
			Doc: `%s does what ` + name + rows + fmt.Sprintf(`.
n is a multiple of %d. The blocks of vector i start at x[i*xStride].`, e.Numbers()),
			Substitutes: map[string]string{"NEON": PlainGo},
		})
	}
	for _, e := range []Element{I8, E4M3, E5M2} {
		name := "generic.Dequantize" + Types{F32, e}.String()
		list = append(list, Operation{
			Package: "asm", Family: "quantize", Base: "Dequantize", Types: Types{F32, e},
			Parameters: []Parameter{out("y", F32), in("x", e), in("scales", F32), converted("y", e, "scales")},
			Definition: []Call{{Function: "Dequantize", Arguments: []string{"y", "x", "scales"}}},
			Summary:    "writes vectors times the scale of each: see\n" + name + ".",
			Doc: `%s does what ` + name + rows + `.
Its numbers start at x[i*xStride], its scale is scales[i*scaleStride].`,
		})
	}
	return list
}

// transforms lists the Hadamard transform.
func transforms() []Operation {
	return []Operation{{
		Package: "asm", Family: "hadamard", Base: "Hadamard", Types: of(F32),
		Parameters: []Parameter{out("x", F32), lines, scalar("factor", "float32")},
		Definition: []Call{{Function: "Hadamard", Arguments: []string{"x", "factor"}}},
		Summary:    "transforms rows of Len elements in place: see\ngeneric.HadamardF32.",
		Doc: `%s does what generic.HadamardF32 does to count rows of n elements, 32, 64,
128, 256 or 512. Row i starts at x[i*stride], stride in elements.`,
		Lengths: []int{32, 64, 128, 256, 512},
	}}
}

// cosSins lists the rows of cosines and sines.
func cosSins() []Operation {
	cos, sin := out("cos", F32), out("sin", F32)
	scaleCos, scaleSin := scalar("scaleCos", "float32"), scalar("scaleSin", "float32")
	shift := []Parameter{cos, sin, shifted, scaleCos, scaleSin}
	const shiftSummary = "writes rows from a seed and returns how many came before the first\nthat was not decided"
	return []Operation{
		{
			Package: "asm", Family: "cossin", Base: "CosSinExact", Types: of(F32),
			Parameters: []Parameter{cos, sin, scalar("position", "float64"), block("b.Len()"), scaleCos, scaleSin},
			Result:     &Result{Name: "undecided", Type: "uint64", Binding: "bool", Value: "%s == 0", Zero: "false"},
			Plain:      "BeforeFMA()\ngeneric.CosSinExactAt(cos, sin, position, b.frequencies(), scaleCos, scaleSin)\nreturn true",
			Runs:       "generic.CosSinExactAt",
			Private:    true,
			Summary:    "writes the row of one position and reports whether every entry was\ndecided.",
			Doc: `%s writes what generic.CosSinExact does for one position and n
frequencies. high[i]+low[i] is invFreq[i]*2/pi, margin[i] is
generic.Margin*|invFreq[i]|; the three are readable up to a multiple of 16
elements. undecided is not 0 where some entry could not be rounded with
certainty: the row is then to be written anew by generic.CosSinExact.`,
		},
		{
			Package: "asm", Family: "cossin", Base: "CosSinSeed", Types: of(F64),
			Parameters: []Parameter{array("cos", "cos"), array("sin", "sin"), array("bound", "error"), block("b.padded()"), scalar("position", "float64"), scalar("reach", "float64")},
			Plain:      noSeeds, Private: true,
			Summary: "writes the float64 cosines and sines of one position and the error\nbounds of sines of angles up to reach times the frequencies.",
			Doc: `%s writes the cosine and sine of position*invFreq[i] in float64
and the error bound min(generic.Margin, reach*margin[i]) of sines of angles up
to reach*|invFreq[i]|, for i < n, a multiple of 16.`,
		},
		{
			Package: "asm", Family: "cossin", Base: "CosSinShift", Types: of(F32),
			Parameters: shift,
			Result:     done, Plain: noSeeds, Private: true,
			Summary: shiftSummary + ".",
			Doc: `%s writes rows of cosines and sines by the linear shift of the
angle a of a seed by the angle b of row r:

	cos(a+b) = cos(a)cos(b) - sin(a)sin(b)
	sin(a+b) = sin(a)cos(b) + cos(a)sin(b)

Row r is cos[r*stride+i] and sin[r*stride+i], i < n <= 64. seed is [3][64]: cosine,
sine and error bound as CosSinSeedF64 writes them. shift is [rows][2][64]: cosine
and sine. done counts the rows written; where it is less than rows, the row
at done holds an entry that could not be rounded with certainty and is to be
written anew by generic.CosSinExact.`,
		},
		{
			Package: "asm", Family: "cossin", Base: "CosSinShiftNonTemporal", Types: of(F32),
			Parameters:  shift,
			Substitutes: map[string]string{"NEON": "CosSinShiftF32NEON"},
			Unit:        16, Align: 64,
			Result: done, Plain: noSeeds, Private: true,
			Summary: shiftSummary + ", by non-temporal stores where there are such.",
			Doc: `%s is CosSinShiftF32 with non-temporal stores, for tables
far larger than the caches. cos and sin are aligned to 64 bytes; n and stride are
multiples of 16. FenceStores has to follow.`,
		},
		{
			Package: "asm", Family: "cossin", Base: "CosSinShiftRounded", Types: of(F32),
			Parameters:  []Parameter{cos, sin, shiftedAngles(), scalar("position", "float32"), scaleCos, scaleSin},
			Substitutes: map[string]string{"NEON": PlainGo},
			Result:      done, Plain: noSeeds, Private: true,
			Summary: shiftSummary + ", of float32 angles.",
			Doc: `%s writes rows of cosines and sines of float32 angles, which are
those of the real products position*invFreq[i], made as CosSinShiftF32 does, turned by
-e, e being the product minus the angle:

	cos' = cos + e/2*sin; sin = sin - e*cos'; cos = cos' + e/2*sin

Row r is of position+r, an integer of at most 2^24 in magnitude, its angles are below
2^12. invFreq has 64 elements. The other parameters and done are those of CosSinShiftF32;
what is not decided is to be written anew by generic.CosSinFloat32.`,
		},
		{
			Package: "asm", Family: "cossin", Base: "CosSinShiftRounded3", Types: of(F32),
			Parameters:  []Parameter{cos, sin, shiftedAngles(), scalar("position", "float32"), scaleCos, scaleSin},
			Substitutes: map[string]string{"NEON": PlainGo},
			Result:      done, Plain: noSeeds, Private: true,
			Summary: shiftSummary + ", of larger float32 angles.",
			Doc: `%s is CosSinShiftRoundedF32 for angles below 2^15, by one term more
of Taylor's series:

	cos' = cos + e*(sin - e/2*(cos + e/3*sin)); sin' = sin - e*(cos + e/2*(sin - e/3*cos))`,
		},
		{
			Package: "asm", Family: "cossin", Base: "CosSinFloat32", Types: of(F32),
			Parameters: []Parameter{cos, sin, in("invFreq", F32), length("invFreq"), scalar("position", "float32"), scaleCos, scaleSin},
			Result:     &Result{Name: "beyond", Type: "uint64", Binding: "bool", Value: "%s == 0", Zero: "false"},
			Plain:      "BeforeFMA()\ngeneric.CosSinFloat32(cos, sin, invFreq, position, scaleCos, scaleSin)\nreturn true",
			Runs:       "generic.CosSinFloat32",
			Private:    true,
			Summary:    "writes the row of one position and reports whether every angle was\nbelow 2^50.",
			Doc: `%s writes what generic.CosSinFloat32 does for one position and n
frequencies. beyond is not 0 where some angle is NaN, infinite or at least 2^50:
those entries are then to be written anew by generic.CosSinFloat32.`,
		},
	}
}

// copies lists what copies by non-temporal stores. Wider stores do not pay.
func copies() []Operation {
	substitute := func(name string) map[string]string {
		return map[string]string{"AVX512": name + "AVX2", "NEON": PlainGo}
	}
	return []Operation{
		{
			Package: "asm", Family: "copy", Base: "CopyNonTemporal", Types: of(B32),
			Parameters: []Parameter{out("y", F32), in("x", F32), length("y")},
			Only:       "AVX2", Substitutes: substitute("CopyNonTemporalB32"),
			Plain: "copy(y, x)",
			Unit:  8, Align: 32,
			Runs:    "runtime.memmove",
			Binding: "CopyNonTemporal",
			Summary: `copies x to y, which is aligned to 32 bytes and a multiple of 8
long, by non-temporal stores where there are such. FenceStores has to
follow before others may read y.`,
			Doc: `%s copies x[i] to y[i] for i < n, a multiple of 8, by non-temporal
stores. y is aligned to 32 bytes. FenceStores has to follow before
others may read it. (Wider stores do not pay.)`,
		},
		{
			Package: "asm", Family: "copy", Base: "FenceStores",
			Only: "AVX2", Substitutes: substitute("FenceStores"),
			Plain:   "// Go's own stores need no fence.",
			Summary: "lets no store that follows be seen before those of CopyNonTemporal.",
			Doc:     `%s lets no store that follows be seen before those that came.`,
		},
	}
}

// bounds lists the loops that no operation on the same memory can beat.
func bounds() []Operation {
	bound := func(base, number, doc string) Operation {
		return Operation{
			Package: "bound", Family: "bound", Base: base, Types: of(F32),
			Parameters: []Parameter{out("x", F32), length("x"), scalar(number, "float32")}, Doc: doc,
		}
	}
	loads := func(base, doc string) Operation {
		return Operation{
			Package: "bound", Family: "bound", Base: base, Types: of(F32), Only: "AVX2",
			Parameters: []Parameter{in("x", F32), length("x"), out("y", F32), scalar("bytes", "int")}, Doc: doc,
		}
	}
	return []Operation{
		bound("Scale", "factor", `%s multiplies x[i] by factor for i < n, a multiple of 64: what any
operation in place has to load and store.`),
		bound("ScalePrefetch", "factor", `%s is ScaleF32 with lines ahead prefetched.`),
		bound("Add", "value", `%s adds value to x[i] for i < n, a multiple of 64.`),
		bound("AddPrefetch", "value", `%s is AddF32 with lines ahead prefetched.`),
		bound("Store", "value", `%s sets x[i] to value for i < n, a multiple of 64, by plain stores.`),
		bound("StoreNonTemporal", "value", `%s sets x[i] to value for i < n, a multiple of 64, by
non-temporal stores. x is aligned to 64 bytes.`),
		bound("StoreHalvesNonTemporal", "value", `%s is StoreNonTemporalF32 of both halves
of x alternately, line by line, for n a multiple of 128: what a table of cosines and of
sines has to store.`),
		loads("LoadStoreNonTemporal", `%s loads x[i] for i < n, a multiple of 32, and for every
32 of them stores 0 to 64 bytes to y, whole lines by non-temporal stores: what a cache of
quantized numbers has to load and store. y is aligned to 64 bytes.`),
		loads("LoadStoreNonTemporalPrefetch", `%s is LoadStoreNonTemporalF32 with lines ahead prefetched.`),
	}
}

// controls lists access to the state of a thread.
func controls() []Operation {
	control := func(base, only, doc string) Operation {
		return Operation{
			Package: "bound", Family: "control", Base: base, Only: only, Doc: doc,
			Parameters: []Parameter{scalar("control", "uint64")},
			Result:     &Result{Name: "before", Type: "uint64"},
		}
	}
	return []Operation{
		{
			Package: "asm", Family: "control", Base: "ClearUpperHalves",
			Only: "AVX2", Substitutes: map[string]string{"AVX512": "ClearUpperHalvesAVX2", "NEON": PlainGo},
			Plain:   "// Without AVX there are none.",
			Private: true,
			Summary: "sets the upper halves of all vector registers to 0.",
			Doc: `%s sets the upper halves of all vector registers to 0, so that none is
in use. It needs no more than AVX.`,
		},
		control("SwapMXCSR", "AVX2", `%s sets the control and status register of the thread's SSE and AVX
arithmetic and returns what it was.`),
		{
			Package: "bound", Family: "control", Base: "UpperHalves", Only: "AVX2",
			Result: &Result{Name: "registers", Type: "uint64"},
			Doc: `%s returns in how many registers Y0 to Y15 the upper half is not 0, as
VZEROUPPER leaves it. It changes all of them.`,
		},
		{
			Package: "bound", Family: "control", Base: "UseUpperHalves", Only: "AVX2",
			Doc: `%s sets all bits of registers Y0 to Y15 and leaves them so, as code may
that was not written for Go.`,
		},
		control("SwapFPCR", "NEON", `%s sets the control register of the thread's floating-point
arithmetic and returns what it was.`),
	}
}
