package main

// Under the emulator a start of the program takes longer than its tests: fewer
// of them, in one package.
var (
	rotateWide     = tests{names: "TestOperations", operations: "RotateInterleaved(F32|F16)"}
	exactWide      = tests{names: "TestCosSinExactRowKernels|TestCosSinExactRowsKernels"}
	pastWide       = tests{names: "TestCosSinExactRowsNonTemporal"}
	floatWide      = tests{names: "TestCosSinFloat32Kernels|TestGuardCosSinFloat32"}
	copyWide       = tests{names: "TestOperations|TestGuards", operations: "Convert.*|Interleave.*|Deinterleave.*"}
	normWide       = tests{names: "TestOperations|TestGuards", operations: "RMSNorm(F|BF).*|ScaleRows.*"}
	addWide        = tests{names: "TestOperations|TestGuards", operations: "AddScaled.*"}
	fusedWide      = tests{names: "TestOperations", operations: "RMSNormRotateInterleaved(F32|F16)"}
	sinusoidalWide = tests{names: "TestGuardSinusoidalKernels|TestSinusoidalKernels"}
	biasWide       = tests{names: "TestOperations", operations: "AddRows.*|AddClamped.*|AddDistance.*|SubAbsoluteDistance.*"}
	productWide    = tests{names: "TestOperations", operations: "DotProducts.*|AddMultiples.*"}
)

// avx512Mutants are of what AVX-512 alone has.
var avx512Mutants = []mutant{
	// rotate
	{name: "avx512/rotate/sign", file: amd64Rotate, tests: rotateWide,
		old: `m.e.VPXORD(m.minus, sin, negated)`, new: `m.e.VMOVAPS(sin, negated)`,
		wrong: "x1*c + x2*s"},
	{name: "avx512/rotate/lanes", file: amd64Rotate, tests: rotateWide,
		old: `[]reg.VecVirtual{m.low, m.high} {`, new: `[]reg.VecVirtual{m.high, m.low} {`,
		wrong: "the halves of a table row change places"},
	{name: "avx512/rotate/mask", file: amd64Rotate, tests: rotateWide,
		old: `mask := []reg.OpmaskVirtual{r.row.low, r.row.high}[j%2]`, new: `mask := r.row.low`,
		wrong: "the second vector of a last part has the mask of the first"},

	// cossin
	{name: "avx512/cossin/quadrant", file: amd64CosSin, tests: exactWide,
		old: `e.VBLENDMPD(c, s, swap, sin)`, new: `e.VBLENDMPD(s, c, swap, sin)`,
		wrong: "sines and cosines change places"},
	{name: "avx512/cossin/sine-sign", file: amd64CosSin, tests: exactWide,
		old: `const xorAnd = 0x78`, new: `const xorAnd = 0xf8`,
		wrong: "signs are set, not changed"},
	{name: "avx512/cossin/no-ziv", file: amd64CosSin, tests: exactWide,
		old: `const orXor = 0xf6`, new: `const orXor = 0xf0`,
		wrong: "Ziv's test is not made"},
	{name: "avx512/cossin/store-mask", file: amd64Emitter, tests: exactWide,
		old: `e.VMOVUPS(v, e.tailMask(count), to)`, new: `e.VMOVUPS(v, to)`,
		wrong: "entries beyond the row are stored"},
	{name: "avx512/cossin/load-mask", file: amd64Emitter, tests: floatWide,
		old: `e.VMOVUPS_Z(from, e.tailMask(count), v)`, new: `e.VMOVUPS(from, v)`,
		wrong: "frequencies beyond the row are loaded"},
	{name: "avx512/cossin/beyond", file: amd64CosSin, tests: floatWide,
		old: `e.VPORD(outside, beyond, beyond)`, new: `e.VMOVDQA32(outside, beyond)`,
		wrong: "only the last angles are compared with 2^50"},
	{name: "avx512/cossin/tail-bits", file: amd64Emitter, tests: exactWide,
		old: `e.BZHIQ(count, bits, bits)`, new: `e.BZHIQ(count, bits, bits)
	e.SHRQ(operand.Imm(1), bits)`,
		wrong: "the last entry of a row is not stored"},
	{name: "avx512/cossin/past-caches", file: amd64CosSin, tests: pastWide,
		old: `e.VMOVNTPS(sin[j], row.at(r.sin, 4))`, new: `e.VMOVNTPS(cos[j], row.at(r.sin, 4))`,
		wrong: "cosines for sines past the caches"},

	// convert and layout
	{name: "avx512/convert/store-mask", file: amd64Element, tests: copyWide,
		old: `e.VMOVDQU16(v, mask, to)`, new: `e.VMOVDQU16(v, to)`,
		wrong: "words beyond the end are stored"},
	{name: "avx512/convert/load-mask", file: amd64Element, tests: copyWide,
		old: `e.VMOVDQU16_Z(from, mask, v)`, new: `e.VMOVDQU16(from, v)`,
		wrong: "words beyond the end are loaded"},
	{name: "avx512/convert/ties", file: amd64Element, tests: copyWide,
		old: `e.VPANDND(e.turns.one, upper, words[i])`, new: `e.VPANDD(e.turns.one, upper, words[i])`,
		wrong: "ties of bfloat16 go to odd"},
	{name: "avx512/convert/second-mask", file: amd64Element, tests: copyWide,
		old: `e.SHRQ(operand.Imm(uint64(first)), bits)`, new: `e.SHRQ(operand.Imm(uint64(first-1)), bits)`,
		wrong: "the mask of a second vector has a bit more"},
	{name: "avx512/layout/mask", file: amd64Layout, tests: copyWide,
		old: `sizes[1] = part{l.width, true}`, new: `sizes = sizes[:1]`,
		wrong: "the last elements are left out"},
	{name: "avx512/layout/permutation", file: amd64Element, tests: copyWide,
		old: `return 2*i + 1 }`, new: `return 2 * i }`,
		wrong: "the even elements for the odd"},
	{name: "avx512/layout/load-mask", file: amd64Layout, tests: copyWide,
		old: `l.e.VMOVUPS_Z(from, mask, v)`, new: `l.e.VMOVUPS(from, v)`,
		wrong: "elements beyond the end are loaded"},

	// norm, add, bias and product
	{name: "avx512/norm/tail", file: amd64Norm, tests: normWide,
		old: `e.ANDQ(operand.Imm(15), left)`, new: `e.ANDQ(operand.Imm(7), left)`,
		wrong: "squares of the last elements are left out"},
	{name: "avx512/norm/order", file: amd64Norm, tests: normWide,
		old: `e.VEXTRACTF32X4(operand.Imm(1), half, quad)`, new: `e.VEXTRACTF32X4(operand.Imm(0), half, quad)`,
		wrong: "some squares count twice, some not at all"},
	{name: "avx512/norm/single", file: amd64Norm, tests: normWide,
		old: `size >= bytes; size /= 2 {`, new: `size > bytes; size /= 2 {`,
		wrong: "the last element is not stored"},
	{name: "avx512/norm/upper", file: amd64Norm, tests: normWide,
		old: `e.VEXTRACTF64X4(upper, v.AsZ(), v.AsY())`, new: ``,
		wrong: "a rest has elements of the lower half twice"},
	{name: "avx512/add/mask", file: amd64Add, tests: addWide,
		old: `p := part{min(block.size, width), block.masked}`, new: `p := part{min(block.size, width), false}`,
		wrong: "the last part without its mask"},
	{name: "avx512/bias/mask", file: amd64Bias, tests: biasWide,
		old: `p, m := part{e.lanes(), true}, e.masks(left, e.lanes())`, new: `p, m := part{e.lanes(), false}, e.masks(left, e.lanes())`,
		wrong: "a short row without its mask"},
	{name: "avx512/bias/last-of-short", file: amd64Bias, tests: biasWide,
		old: `e.ADDQ(operand.Imm(8), before)`, new: ``,
		wrong: "the last vector of a short row has the distances of those before"},
	{name: "avx512/bias/lanes", file: amd64Bias, tests: biasWide,
		old: `float32(first + int(i))`, new: `float32(first + int(i%8))`,
		wrong: "distances of the upper lanes are those of the first"},
	{name: "avx512/product/mask", file: amd64Product, tests: productWide,
		old: `part{16, true}, r.mask, m)`, new: `part{16, false}, r.mask, m)`,
		wrong: "the last elements without their mask"},
	{name: "avx512/product/rest", file: amd64Product, tests: productWide,
		old: `e.ANDQ(operand.Imm(15), last.count)`, new: `e.ANDQ(operand.Imm(7), last.count)`,
		wrong: "products of the last elements are left out"},
	{name: "avx512/product/multiple-mask", file: amd64Product, tests: productWide,
		old: `p := part{min(block.size, e.lanes()), block.masked}`, new: `p := part{min(block.size, e.lanes()), false}`,
		wrong: "the last part of a sum without its mask"},

	// fused and sinusoidal
	{name: "avx512/fused/mask", file: amd64Fused, tests: fusedWide,
		old: `{low: elements.high}`, new: `{low: elements.low}`,
		wrong: "the second vector of a last part has the mask of the first"},
	{name: "avx512/sinusoidal/short-test", file: amd64Sinusoidal, tests: sinusoidalWide,
		old: `s.e.KORTESTW(k, k)
		s.e.JNZ(operand.LabelRef(long))
	} else`, new: `_ = k
	} else`,
		wrong: "no entry is tested"},
	{name: "avx512/sinusoidal/halves", file: amd64Sinusoidal, tests: sinusoidalWide,
		old: `s.e.VINSERTF64X4(operand.Imm(1), high, low.AsZ(), v)`, new: `s.e.VINSERTF64X4(operand.Imm(0), high, low.AsZ(), v)`,
		wrong: "the upper half of a vector for the lower"},
}
