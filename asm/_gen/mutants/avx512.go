package main

// Under the emulator a start of the program takes longer than its tests: fewer
// of them, in one package.
var (
	rotateWide      = tests{names: "TestOperations", operations: "RotateInterleaved(F32|F16)"}
	exactWide       = tests{names: "TestCosSinExactRow|TestCosSinExactRows"}
	nonTemporalWide = tests{names: "TestCosSinExactRows"}
	floatWide       = tests{names: "TestCosSinFloat32|TestGuards", operations: "CosSinFloat32"}
	copyWide        = tests{names: "TestOperations|TestGuards", operations: "Convert.*|Interleave.*|Deinterleave.*"}
	normWide        = tests{names: "TestOperations|TestGuards", operations: "RMSNorm(F|BF).*|ScaleRows.*"}
	addWide         = tests{names: "TestOperations|TestGuards", operations: "AddScaled.*"}
	fusedWide       = tests{names: "TestOperations", operations: "RMSNormRotateInterleaved(F32|F16)"}
	sinusoidalWide  = tests{names: "TestGuards|TestSinusoidalRows", operations: "SinusoidalRows"}
	biasWide        = tests{names: "TestOperations", operations: "AddRows.*|AddClamped.*|AddDistance.*|SubAbsoluteDistance.*"}
	productWide     = tests{names: "TestOperations", operations: "DotProducts.*|AddMultiples.*"}
)

// avx512Mutants are of what AVX-512 alone has.
var avx512Mutants = []group{
	{"avx512/rotate", "asm/_gen/amd64/rotate.go", rotateWide, []fault{
		{"sign", "x1*c + x2*s", `m.e.VPXORD(m.minus, sin, negated)`, `m.e.VMOVAPS(sin, negated)`},
		{"lanes", "the halves of a table row change places", `[]reg.VecVirtual{m.low, m.high} {`, `[]reg.VecVirtual{m.high, m.low} {`},
		{"mask", "the second vector of a last part has the mask of the first", `mask := []reg.OpmaskVirtual{r.row.low, r.row.high}[j%2]`, `mask := r.row.low`},
	}},
	{"avx512/cossin", "asm/_gen/amd64/cossin.go", exactWide, []fault{
		{"quadrant", "sines and cosines change places", `e.VBLENDMPD(c, s, swap, sin)`, `e.VBLENDMPD(s, c, swap, sin)`},
		{"sine-sign", "signs are set, not changed", `const xorAnd = 0x78`, `const xorAnd = 0xf8`},
	}},
	{"avx512/cossin", "asm/_gen/amd64/amd64.go", exactWide, []fault{
		{"store-mask", "entries beyond the row are stored", `e.VMOVUPS(v, e.tailMask(count), to)`, `e.VMOVUPS(v, to)`},
		{"tail-bits", "the last entry of a row is not stored", `e.BZHIQ(count, bits, bits)`, `e.BZHIQ(count, bits, bits); e.SHRQ(operand.Imm(1), bits)`},
	}},
	{"avx512/cossin", "asm/_gen/amd64/amd64.go", floatWide, []fault{
		{"load-mask", "frequencies beyond the row are loaded", `e.VMOVUPS_Z(from, e.tailMask(count), v)`, `e.VMOVUPS(from, v)`},
	}},
	{"avx512/cossin", "asm/_gen/amd64/cossin.go", floatWide, []fault{
		{"beyond", "only the last angles are compared with 2^50", `e.VPORD(outside, beyond, beyond)`, `e.VMOVDQA32(outside, beyond)`},
	}},
	{"avx512/cossin", "asm/_gen/amd64/ziv.go", exactWide, []fault{
		{"no-ziv", "no entry is tested", `const above = 6`, `const above = 3`},
	}},
	{"avx512/cossin", "asm/_gen/amd64/shift.go", nonTemporalWide, []fault{
		{"non-temporal", "sines over cosines where stores are non-temporal", `e.VMOVNTPS(v, at(to[j]))`, `e.VMOVNTPS(v, at(to[0]))`},
	}},
	{"avx512/convert", "asm/_gen/amd64/element.go", copyWide, []fault{
		{"store-mask", "words beyond the end are stored", `e.VMOVDQU16(v, mask, to)`, `e.VMOVDQU16(v, to)`},
		{"load-mask", "words beyond the end are loaded", `e.VMOVDQU16_Z(from, mask, v)`, `e.VMOVDQU16(from, v)`},
		{"ties", "ties of bfloat16 go to odd", `e.VPANDND(e.turns.one, upper, words[i])`, `e.VPANDD(e.turns.one, upper, words[i])`},
		{"second-mask", "the mask of a second vector has a bit more", `e.SHRQ(operand.Imm(uint64(first)), bits)`, `e.SHRQ(operand.Imm(uint64(first-1)), bits)`},
	}},
	{"avx512/layout", "asm/_gen/amd64/layout.go", copyWide, []fault{
		{"mask", "the last elements are left out", `sizes[1] = part{l.width, true}`, `sizes = sizes[:1]`},
		{"load-mask", "elements beyond the end are loaded", `l.e.VMOVUPS_Z(from, mask, v)`, `l.e.VMOVUPS(from, v)`},
	}},
	{"avx512/layout", "asm/_gen/amd64/element.go", copyWide, []fault{
		{"permutation", "the even elements for the odd", `return 2*i + 1 }`, `return 2 * i }`},
	}},
	{"avx512/norm", "asm/_gen/amd64/norm.go", normWide, []fault{
		{"tail", "squares of the last elements are left out", `e.ANDQ(operand.Imm(15), left)`, `e.ANDQ(operand.Imm(7), left)`},
		{"order", "some squares count twice, some not at all", `e.VEXTRACTF32X4(operand.Imm(1), half, quad)`, `e.VEXTRACTF32X4(operand.Imm(0), half, quad)`},
	}},
	{"avx512/add", "asm/_gen/amd64/norm.go", addWide, []fault{
		{"mask", "the last part without its mask", `p := part{min(block.size, widest), block.masked}`, `p := part{min(block.size, widest), false}`},
	}},
	{"avx512/bias", "asm/_gen/amd64/bias.go", biasWide, []fault{
		{"mask", "the last part without its mask", `p := part{min(block.size, e.lanes()), block.masked}`, `p := part{min(block.size, e.lanes()), false}`},
		{"clamped-rest", "the last elements of a row are left out", `e.ANDQ(operand.Imm(uint64(e.lanes()-1)), left)`, `e.ANDQ(operand.Imm(uint64(e.lanes()/2-1)), left)`},
		{"lanes", "distances of the upper lanes are those of the first", `float32(first + int(i))`, `float32(first + int(i%8))`},
	}},
	{"avx512/product", "asm/_gen/amd64/product.go", productWide, []fault{
		{"mask", "the last elements without their mask", `part{16, true}, r.mask, m)`, `part{16, false}, r.mask, m)`},
		{"rest", "products of the last elements are left out", `e.ANDQ(operand.Imm(15), last.count)`, `e.ANDQ(operand.Imm(7), last.count)`},
		{"multiple-mask", "the last part of a sum without its mask", `p := part{min(block.size, e.lanes()), block.masked}`, `p := part{min(block.size, e.lanes()), false}`},
	}},
	{"avx512/fused", "asm/_gen/amd64/fused.go", fusedWide, []fault{
		{"mask", "the second vector of a last part has the mask of the first", `{low: elements.high}`, `{low: elements.low}`},
	}},
	{"avx512/sinusoidal", "asm/_gen/amd64/ziv.go", sinusoidalWide, []fault{
		{"short-test", "no entry is tested", `const above = 6`, `const above = 3`},
	}},
	{"avx512/sinusoidal", "asm/_gen/amd64/shift.go", sinusoidalWide, []fault{
		{"halves", "the upper half of a vector for the lower", `e.VINSERTF64X4(operand.Imm(1), high, low.AsZ(), v)`, `e.VINSERTF64X4(operand.Imm(0), high, low.AsZ(), v)`},
	}},
}
