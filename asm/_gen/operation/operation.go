// Package operation lists the operations that have assembly kernels. The list
// drives both back ends: for each operation it gives the family, which names
// the files, the Go signature and the documentation of the stub.
package operation

import (
	"fmt"
	"slices"
)

// Operation is one kernel, written once for each instruction set.
type Operation struct {
	Package   string // "asm", or "bound" for what only tests and benchmarks use
	Family    string // files are <family>_<goarch>.s and .go
	Name      string // symbols are <Name><ISA>
	Signature string // parameters and results
	Doc       string // %s is the symbol
	Only      string // the one instruction set that has it, or "" for all
}

// InstructionSets names the instruction sets of a GOARCH as they end symbols.
var InstructionSets = map[string][]string{
	"amd64": {"AVX2", "AVX512"},
	"arm64": {"NEON"},
}

// On returns those operations that a GOARCH has.
func On(goarch string, operations []Operation) []Operation {
	return slices.DeleteFunc(slices.Clone(operations), func(op Operation) bool {
		return op.Only != "" && !slices.Contains(InstructionSets[goarch], op.Only)
	})
}

const shiftSignature = "(cos, sin *float32, stride, rows int, seed, shift *float64, n int, scaleCos, scaleSin float32) (done int)"

// rotations lists the rotations of both layouts for all types of y and x.
func rotations() (list []Operation) {
	for _, layout := range []struct{ name, pair, partner string }{
		{"HalfSplit", "(x[i], x[i+partner])", "partner, "},
		{"Interleaved", "(x[2i], x[2i+1])", ""},
	} {
		for _, types := range []struct{ name, y, x string }{
			{"F32", "float32", "float32"},
			{"F16", "uint16", "uint16"},
			{"BF16", "uint16", "uint16"},
			{"F32ToF16", "uint16", "float32"},
			{"F32ToBF16", "uint16", "float32"},
		} {
			name := "Rotate" + layout.name + types.name
			list = append(list, Operation{
				Package: "asm",
				Family:  "rotate",
				Name:    name,
				Signature: "(y *" + types.y + ", x *" + types.x + ", cos, sin *float32, pairs, " + layout.partner +
					"tokens, yTokenStride, xTokenStride, heads, yHeadStride, xHeadStride, tableStride int)",
				Doc: `%s rotates the pairs ` + layout.pair + `, i < pairs, of every head of
every token, as generic.` + name + ` does. The row of head h of token t is
read from x[t*xTokenStride+h*xHeadStride] on and written likewise to y, its table
rows start at cos[t*tableStride] and sin[t*tableStride]. Strides are in elements.
Either y is x and has its strides, or the two share no memory.`,
			})
		}
	}
	return list
}

// norms lists the normalizations and scalings of rows for all types of x.
func norms() (list []Operation) {
	const rows = ` does to count rows of
n elements. Row i starts at x[i*stride], stride in elements.`
	for _, types := range []struct{ name, x string }{{"F32", "float32"}, {"F16", "uint16"}, {"BF16", "uint16"}} {
		list = append(list,
			Operation{
				Package:   "asm",
				Family:    "norm",
				Name:      "RMSNorm" + types.name,
				Signature: "(x *" + types.x + ", weight *float32, n, count, stride int, epsilon float32)",
				Doc:       "%s does what generic.RMSNorm" + types.name + rows,
			},
			Operation{
				Package:   "asm",
				Family:    "norm",
				Name:      "ScaleRows" + types.name,
				Signature: "(x *" + types.x + ", factor float32, n, count, stride int)",
				Doc:       "%s does what generic.Scale" + types.name + rows,
			})
	}
	return list
}

// fusions lists the normalizations that rotate as well. They read x once, which is
// worth it where memory is what they wait for: for float32. Of 16 bits the numbers
// have to be rounded between the two all the same.
func fusions() (list []Operation) {
	for _, layout := range []string{"HalfSplit", "Interleaved"} {
		list = append(list, Operation{
			Package:   "asm",
			Family:    "fused",
			Name:      "RMSNormRotate" + layout + "F32",
			Signature: "(x, weight, cos, sin *float32, n, first, pairs, count, stride int, epsilon float32)",
			Doc: `%s does what generic.RMSNormF32 and then
generic.Rotate` + layout + `F32 do to count rows of n elements. Row i starts at
x[i*stride], stride in elements. The rotated slice of each is the 2*pairs elements
from number first on.`,
		})
	}
	return list
}

// sinusoids lists the rows of sines and cosines that are written by turns or added.
func sinusoids() []Operation {
	const arguments = "stride, rows int, seed, shift *float64, n int, scaling"
	const rows = `

Entries are those of CosSinShiftF32 times scaling, of rows of n pairs. seed is
[blocks][3][64] and shift [blocks][32][2][64] from the first row on, 64 pairs of a row
to a block. done counts the pairs written, row by row; where it is less than rows*n, the
next pair is one of some of which an entry could not be rounded with certainty.`
	return []Operation{
		{
			Package:   "asm",
			Family:    "sinusoidal",
			Name:      "SinusoidalRowsInterleavedF32",
			Signature: "(x *float32, " + arguments + " float32) (done int)",
			Doc:       "%s writes sine i of row r to x[r*stride+2i] and cosine i to\nx[r*stride+2i+1]." + rows,
		},
		{
			Package:   "asm",
			Family:    "sinusoidal",
			Name:      "AddSinusoidalInterleavedF32",
			Signature: "(x *float32, " + arguments + ", scale float32) (done int)",
			Doc:       "%s does to x[r*stride+2i] with sine i of row r, and to\nx[r*stride+2i+1] with cosine i, what generic.AddScaledF32 does." + rows,
		},
		{
			Package:   "asm",
			Family:    "sinusoidal",
			Name:      "AddSinusoidalHalfSplitF32",
			Signature: "(cos, sin *float32, " + arguments + ", scale float32) (done int)",
			Doc:       "%s does to cos[r*stride+i] with cosine i of row r, and to\nsin[r*stride+i] with sine i, what generic.AddScaledF32 does." + rows,
		},
	}
}

// biases lists the additions to rows of scores.
func biases() []Operation {
	const signature = "(y *float32, n, rows, stride int, slope, first, step float32)"
	const rows = ` to rows of n elements. Row r starts at
y[r*stride], its first distance is first+r*step. All distances are below 2^24 in
magnitude.`
	return []Operation{
		{
			Package:   "asm",
			Family:    "bias",
			Name:      "AddRowsF32",
			Signature: "(y, x *float32, ids *int32, n, rows, yStride, xFirst, xStride int)",
			Doc: `%s does what generic.AddF32 does to rows of n elements. Row r
starts at y[r*yStride] and takes x[xFirst+ids[r]*xStride] and what follows, or, where
ids is nil, x[xFirst+r*xStride]. xStride may be negative.`,
		},
		{
			Package:   "asm",
			Family:    "bias",
			Name:      "AddClampedF32",
			Signature: "(y, x *float32, n, rows, stride, first, step, width int)",
			Doc: `%s does what generic.AddClampedF32 does to rows of n elements, with
width elements of x. Row r starts at y[r*stride], and takes x from number
first+r*step on. ` + fmt.Sprintf("The first %d elements of x are equal, and the last %[1]d.", ClampedEnds),
		},
		{
			Package:   "asm",
			Family:    "bias",
			Name:      "AddDistanceF32",
			Signature: signature,
			Doc:       "%s does what generic.AddDistanceF32 does" + rows,
		},
		{
			Package:   "asm",
			Family:    "bias",
			Name:      "SubAbsoluteDistanceF32",
			Signature: signature,
			Doc:       "%s does what generic.SubAbsoluteDistanceF32 does" + rows,
		},
	}
}

// products lists the products of matrices.
func products() []Operation {
	const signature = "(y, x, vectors *float32, n, rows, count, yStride, xStride, vectorStride int)"
	const vectors = `

There are count vectors of n elements, at least 1; vector c starts at
vectors[c*vectorStride].`
	return []Operation{
		{
			Package:   "asm",
			Family:    "product",
			Name:      "DotProductsF32",
			Signature: signature,
			Doc:       "%s writes what generic.DotF32 returns of x[r*xStride] and what\nfollows with vector c to y[r*yStride+c]." + vectors,
		},
		{
			Package:   "asm",
			Family:    "product",
			Name:      "AddMultiplesF32",
			Signature: signature,
			Doc:       "%s adds the vectors in ascending order to the n elements from\ny[r*yStride] on, as generic.AddMultipleF32 does, vector c times x[r*xStride+c]." + vectors,
		},
	}
}

// Operations is the list.
var Operations = slices.Concat(rotations(), norms(), fusions(), biases(), products(), sinusoids(), []Operation{
	{
		Package:   "asm",
		Family:    "convert",
		Name:      "ConvertF16ToF32",
		Signature: "(y *float32, x *uint16, n int)",
		Doc:       `%s does what generic.ConvertF16ToF32 does with n numbers.`,
	},
	{
		Package:   "asm",
		Family:    "convert",
		Name:      "ConvertBF16ToF32",
		Signature: "(y *float32, x *uint16, n int)",
		Doc:       `%s does what generic.ConvertBF16ToF32 does with n numbers.`,
	},
	{
		Package:   "asm",
		Family:    "convert",
		Name:      "ConvertF32ToF16",
		Signature: "(y *uint16, x *float32, n int)",
		Doc:       `%s does what generic.ConvertF32ToF16 does with n numbers.`,
	},
	{
		Package:   "asm",
		Family:    "convert",
		Name:      "ConvertF32ToBF16",
		Signature: "(y *uint16, x *float32, n int)",
		Doc:       `%s does what generic.ConvertF32ToBF16 does with n numbers.`,
	},
	{
		Package:   "asm",
		Family:    "add",
		Name:      "AddScaledF32",
		Signature: "(x, y *float32, n int, scale float32)",
		Doc:       `%s does what generic.AddScaledF32 does with n numbers.`,
	},
	{
		Package:   "asm",
		Family:    "add",
		Name:      "AddScaledF16",
		Signature: "(x *uint16, y *float32, n int, scale float32)",
		Doc:       `%s does what generic.AddScaledF16 does with n numbers.`,
	},
	{
		Package:   "asm",
		Family:    "add",
		Name:      "AddScaledBF16",
		Signature: "(x *uint16, y *float32, n int, scale float32)",
		Doc:       `%s does what generic.AddScaledBF16 does with n numbers.`,
	},
	{
		Package:   "asm",
		Family:    "layout",
		Name:      "DeinterleaveB32",
		Signature: "(y, x *uint32, pairs int)",
		Doc:       `%s does what generic.Deinterleave does with elements of 4 bytes.`,
	},
	{
		Package:   "asm",
		Family:    "layout",
		Name:      "DeinterleaveB16",
		Signature: "(y, x *uint16, pairs int)",
		Doc:       `%s does what generic.Deinterleave does with elements of 2 bytes.`,
	},
	{
		Package:   "asm",
		Family:    "layout",
		Name:      "InterleaveB32",
		Signature: "(y, x *uint32, pairs int)",
		Doc:       `%s does what generic.Interleave does with elements of 4 bytes.`,
	},
	{
		Package:   "asm",
		Family:    "layout",
		Name:      "InterleaveB16",
		Signature: "(y, x *uint16, pairs int)",
		Doc:       `%s does what generic.Interleave does with elements of 2 bytes.`,
	},
	{
		Package:   "asm",
		Family:    "cossin",
		Name:      "CosSinExactF32",
		Signature: "(cos, sin *float32, high, low, margin *float64, n int, position float64, scaleCos, scaleSin float32) (undecided uint64)",
		Doc: `%s writes what generic.CosSinExact does for one position and n
frequencies. high[i]+low[i] is invFreq[i]*2/pi, margin[i] is
generic.Margin*|invFreq[i]|; the three are readable up to a multiple of 16
elements. undecided is not 0 where some entry could not be rounded with
certainty: the row is then to be written anew by generic.CosSinExact.`,
	},
	{
		Package:   "asm",
		Family:    "cossin",
		Name:      "CosSinSeedF64",
		Signature: "(cos, sin, error *float64, high, low, margin *float64, n int, position, reach float64)",
		Doc: `%s writes the cosine and sine of position*invFreq[i] in float64
and the error bound min(generic.Margin, reach*margin[i]) of sines of angles up
to reach*|invFreq[i]|, for i < n, a multiple of 16.`,
	},
	{
		Package:   "asm",
		Family:    "cossin",
		Name:      "CosSinShiftF32",
		Signature: shiftSignature,
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
		Package:   "asm",
		Family:    "cossin",
		Name:      "CosSinShiftNonTemporalF32",
		Signature: shiftSignature,
		Doc: `%s is CosSinShiftF32 with stores that pass the caches, for tables
well beyond them. cos and sin are aligned to 32 bytes; n and stride are
multiples of 8. (AVX2 stores too little at a time for it to pay.)`,
		Only: "AVX512",
	},
	{
		Package:   "asm",
		Family:    "cossin",
		Name:      "CosSinFloat32F32",
		Signature: "(cos, sin, invFreq *float32, n int, position, scaleCos, scaleSin float32) (beyond uint64)",
		Doc: `%s writes what generic.CosSinFloat32 does for one position and n
frequencies. beyond is not 0 where some angle is NaN, infinite or at least 2^50:
those entries are then to be written anew by generic.CosSinFloat32.`,
	},
	{
		Package:   "asm",
		Family:    "copy",
		Name:      "CopyNonTemporalB32",
		Signature: "(y, x *float32, n int)",
		Doc: `%s copies x[i] to y[i] for i < n, a multiple of 8, by stores that
pass the caches. y is aligned to 32 bytes. FenceStores has to follow before
others may read it. (Wider stores do not pay.)`,
		Only: "AVX2",
	},
	{
		Package:   "asm",
		Family:    "copy",
		Name:      "FenceStores",
		Signature: "()",
		Doc:       `%s lets no store that follows be seen before those that came.`,
		Only:      "AVX2",
	},
	{
		Package:   "bound",
		Family:    "bound",
		Name:      "ScaleF32",
		Signature: "(x *float32, n int, factor float32)",
		Doc: `%s multiplies x[i] by factor for i < n, a multiple of 64: what any
operation in place has to load and store.`,
	},
	{
		Package:   "bound",
		Family:    "bound",
		Name:      "ScalePrefetchF32",
		Signature: "(x *float32, n int, factor float32)",
		Doc:       `%s is ScaleF32 with the lines 4 KiB ahead prefetched.`,
	},
	{
		Package:   "bound",
		Family:    "bound",
		Name:      "AddF32",
		Signature: "(x *float32, n int, value float32)",
		Doc:       `%s adds value to x[i] for i < n, a multiple of 64.`,
	},
	{
		Package:   "bound",
		Family:    "bound",
		Name:      "AddPrefetchF32",
		Signature: "(x *float32, n int, value float32)",
		Doc:       `%s is AddF32 with the lines 4 KiB ahead prefetched.`,
	},
	{
		Package:   "bound",
		Family:    "bound",
		Name:      "StoreF32",
		Signature: "(x *float32, n int, value float32)",
		Doc:       `%s sets x[i] to value for i < n, a multiple of 64, by plain stores.`,
	},
	{
		Package:   "bound",
		Family:    "bound",
		Name:      "StoreNonTemporalF32",
		Signature: "(x *float32, n int, value float32)",
		Doc: `%s sets x[i] to value for i < n, a multiple of 64, by stores that
pass the caches. x is aligned to 64 bytes.`,
	},
	{
		Package:   "bound",
		Family:    "control",
		Name:      "SwapMXCSR",
		Signature: "(control uint64) (before uint64)",
		Doc: `%s sets the control and status register of the thread's SSE and AVX
arithmetic and returns what it was.`,
		Only: "AVX2",
	},
	{
		Package:   "bound",
		Family:    "control",
		Name:      "SwapFPCR",
		Signature: "(control uint64) (before uint64)",
		Doc: `%s sets the control register of the thread's floating-point
arithmetic and returns what it was.`,
		Only: "NEON",
	},
})
