package main

// Under the emulator a start of the program takes longer than its tests: fewer
// of them, in one package.
var (
	rotateWide      = tests{names: "TestOperations", operations: "RotateInterleaved(F32|F16)"}
	halfSplitWide   = tests{names: "TestOperations", operations: "RotateHalfSplit(F32|BF16)"}
	exactWide       = tests{names: "TestCosSinExactRow|TestCosSinExactRows|TestNearMidpoints"}
	nonTemporalWide = tests{names: "TestCosSinExactRows"}
	floatWide       = tests{names: "TestCosSinFloat32|TestGuards", operations: "CosSinFloat32"}
	copyWide        = tests{names: "TestOperations|TestGuards", operations: "Convert.*|Interleave.*|Deinterleave.*"}
	normWide        = tests{names: "TestOperations|TestGuards", operations: "RMSNorm(F|BF).*|ScaleRows.*"}
	addWide         = tests{names: "TestOperations|TestGuards", operations: "AddScaled.*"}
	fusedWide       = tests{names: "TestOperations", operations: "RMSNormRotateInterleaved(F32|F16)"}
	sinusoidalWide  = tests{names: "TestGuards|TestSinusoidalRows", operations: "SinusoidalRows"}
	biasWide        = tests{names: "TestOperations|TestGuards", operations: "AddRows.*|AddClamped.*|AddDistance.*|SubAbsoluteDistance.*"}
	quantizeWide    = tests{names: "TestOperations|TestGuards|TestMagnitudes|TestQuotients", operations: "Quantize.*|Dequantize.*"}
	hadamardWide    = tests{names: "TestOperations", operations: "Hadamard.*"}
	productWide     = tests{names: "TestOperations", operations: "DotProducts.*|AddMultiples.*"}
)

// avx512Mutants are of what AVX-512 alone has.
var avx512Mutants = []group{
	{"avx512/rotate", "asm/_gen/amd64/rotate.go", rotateWide, []fault{
		{"sign", "x1*c + x2*s", `d.e.VPXORD(d.minus, sines, negated)`, `d.e.VMOVAPS(sines, negated)`},
		{"lanes", "the halves of a table row change places", `[]reg.VecVirtual{d.low, d.high} {`, `[]reg.VecVirtual{d.high, d.low} {`},
		{"halves", "the second half of a part is x as the first is", `operand.Mem{Base: r.x, Disp: 16 * x.bytes() * j}`, `operand.Mem{Base: r.x, Disp: 16 * x.bytes() * (j &^ 1)}`},
		{"second-table", "all vectors of a row are by its first cosines", `cos.Offset(at)`, `cos`},
		{"small", "less than a vector of pairs is rotated as more", `if block.size < 16 {; apply(r, block); return`, `if block.size < 16 {; apply(r, block)`},
		{"sizes", "the last pair is left out", `whole(64, 32, 16, 8, 4, 2, 1)`, `whole(64, 32, 16, 8, 4, 2)`},
	}},
	{"avx512/rotate", "asm/_gen/amd64/rotate.go", halfSplitWide, []fault{
		{"half-split-sizes", "less than 4 last pairs are left out", `case e.avx512:; b.sizes = whole(64, 32, 16, 8, 4, 1)`, `case e.avx512:; b.sizes = whole(64, 32, 16, 8, 4)`},
		{"by-turns", "the second vector of sines is one of a part half as wide", `s := load(float32s, p, operand.Mem{Base: r.sin, Disp: 4 * p.size * j})`, `s := load(float32s, p, operand.Mem{Base: r.sin, Disp: 2 * p.size * j})`},
	}},
	{"avx512/cossin", "asm/_gen/amd64/cossin.go", exactWide, []fault{
		{"quadrant", "no sine becomes a cosine", `e.blend("VBLENDMPS", c, s, swap, sin)`, `e.blend("VBLENDMPS", s, s, swap, sin)`},
		{"quadrant-bit", "sines become cosines by another bit of the quarter turns", `e.wide32("odd32", 1)`, `e.wide32("odd32", 2)`},
		{"narrow", "the second vector of quadrants before the first", `narrow = q[j]; e.VPERMT2PS(q[j+1], v.t.evens, narrow)`, `narrow = q[j+1]; e.VPERMT2PS(q[j], v.t.evens, narrow)`},
		{"sines", "the sines of a whole row are cosines times the angle", `v.s = e.horner(y, t.sine)[0]`, `v.s = e.horner(y, t.cosine)[0]`},
		{"scale", "sines are scaled as cosines are", `s.multiply("scaleSin", s.sin, sin[j])`, `s.multiply("scaleCos", s.sin, sin[j])`},
		{"narrow-bits", "the upper bits of the quarter turns for the lower", `e.permutation("evens", 4)`, `e.permutation("odds", 4)`},
		{"joined", "the second of two vectors before the first", `e.joined(c, e.round32(v.c[j+1]))`, `e.joined(e.round32(v.c[j+1]), c)`},
		{"rows", "the third and fourth vector over the first and second", `e.VMOVUPS(cos[j], rows[2*j].at(r.cos, 4))`, `e.VMOVUPS(cos[j], rows[0].at(r.cos, 4))`},
		{"margin-row", "all vectors have the error bounds of the first", `e.VMULPD(rows[j].at(margin, 8), error, error)`, `e.VMULPD(rows[0].at(margin, 8), error, error)`},
		{"seed-quadrant", "no sine of a seed becomes a cosine", `e.blend("VBLENDMPD", c, s, swap, sin)`, `e.blend("VBLENDMPD", s, s, swap, sin)`},
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
		{"largest", "no angle is left to plain Go", `e.VPMAXUD(other, v, v)`, `e.VMOVUPS(other, v)`},
		{"halves", "the angles of a vector change places", `[]operand.Op{angle.AsY(), upper}`, `[]operand.Op{upper, angle.AsY()}`},
		{"last-groups", "what is left is counted without the groups that were begun", `e.SUBQ(operand.U32(uint32((ahead-1)*size)), r.n)`, ``},
	}},
	{"avx512/cossin", "asm/_gen/amd64/ziv.go", exactWide, []fault{
		{"no-ziv", "no entry is tested", `const above = 6`, `const above = 3`},
		{"long-sine", "the long test leaves out sines", `undecided = z.doubt(undecided, sin[j], bound(j))`, `_ = bound`},
	}},
	{"avx512/cossin", "asm/_gen/amd64/shift.go", nonTemporalWide, []fault{
		{"non-temporal", "sines over cosines where stores are non-temporal", `e.VMOVNTPS(v, at(to[j]))`, `e.VMOVNTPS(v, at(to[0]))`},
	}},
	{"avx512/convert", "asm/_gen/amd64/element.go", copyWide, []fault{
		{"load-mask", "words beyond the end are loaded", `e.VMOVDQU16_Z(from, mask, v)`, `e.VMOVDQU16(from, v)`},
		{"ties", "ties of bfloat16 go to odd", `e.VPANDND(asWide(e.evenOdd.one, upper), upper, words[i])`, `e.VPANDD(asWide(e.evenOdd.one, upper), upper, words[i])`},
		{"second-mask", "the mask of a second vector has a bit more", `e.SHRQ(operand.Imm(uint64(first)), bits)`, `e.SHRQ(operand.Imm(uint64(first-1)), bits)`},
	}},
	{"avx512/convert", "asm/_gen/amd64/norm.go", copyWide, []fault{
		{"store-too-far", "the last float16 are stored as a whole part", `e.saveWordsUpTo(p, left, words, to)`, `e.saveWords(part{p.size, false}, nil, words, to)`},
	}},
	{"avx512/layout", "asm/_gen/amd64/layout.go", copyWide, []fault{
		{"mask", "the last elements are left out", `sizes[1] = part{l.width, true}`, `sizes = sizes[:1]`},
		{"load-mask", "elements beyond the end are loaded", `l.e.VMOVUPS_Z(from, mask, v)`, `l.e.VMOVUPS(from, v)`},
		{"store-mask", "elements beyond the end are stored", `l.e.VMOVUPS(v, mask, to)`, `l.e.VMOVUPS(v, to)`},
		{"store-mask-words", "words beyond the end are stored", `l.e.VMOVDQU16(v, mask, to)`, `l.e.VMOVDQU16(v, to)`},
	}},
	{"avx512/layout", "asm/_gen/amd64/element.go", copyWide, []fault{
		{"permutation", "the even elements for the odd", `return 2*i + 1 }`, `return 2 * i }`},
	}},
	{"avx512/norm", "asm/_gen/amd64/norm.go", normWide, []fault{
		{"tail", "squares of the last elements are left out", `e.ANDQ(operand.Imm(15), left)`, `e.ANDQ(operand.Imm(7), left)`},
		{"order", "some squares count twice, some not at all", `e.VEXTRACTF32X4(operand.Imm(1), half, quad)`, `e.VEXTRACTF32X4(operand.Imm(0), half, quad)`},
	}},
	// What is stored power by power, the largest first.
	{"avx512/norm", "asm/_gen/amd64/norm.go", normWide, []fault{
		{"up-to-place", "a further power is stored where the first is", `e.ADDQ(operand.U32(uint32(size)), at)`, ``},
		{"up-to-bits", "bytes of a power are taken for elements", `e.TESTQ(operand.U32(uint32(size/bytes)), count)`, `e.TESTQ(operand.U32(uint32(size)), count)`},
		{"up-to-upper", "after half a vector its lower part is stored again", `e.VEXTRACTF64X4(upper, v.AsZ(), v.AsY())`, ``},
		{"up-to-two", "after two float32 the second of them", `e.VMOVLPS(v.AsX(), here); e.VPSRLDQ(operand.Imm(8), v.AsX(), v.AsX())`, `e.VMOVLPS(v.AsX(), here); e.VPSRLDQ(operand.Imm(4), v.AsX(), v.AsX())`},
		{"up-to-half", "eight or more last float32 are left out", `for size := int(v.Size()) / 2;`, `for size := int(v.Size()) / 4;`},
		{"up-to-single", "a single last number of 16 bits is left out", `size >= bytes; size /= 2 {`, `size >= 4; size /= 2 {`},
	}},
	{"avx512/add", "asm/_gen/amd64/norm.go", addWide, []fault{
		{"mask", "the last part without its mask", `p := part{min(block.size, widest), block.masked}`, `p := part{min(block.size, widest), false}`},
	}},
	{"avx512/bias", "asm/_gen/amd64/bias.go", biasWide, []fault{
		{"short", "a row shorter than a vector is stored as a whole one", `e.saveUpTo(float32s, p, left, e.sum(p, m,`, `e.save(float32s, part{e.lanes(), false}, nil, e.sum(p, m,`},
		{"short-load", "a row shorter than a vector is loaded as a whole one", `e.VMOVUPS_Z(from, m.low, sum)`, `e.VMOVUPS(from, sum)`},
		{"short-row", "half of a vector is taken for a whole one", `e.CMPQ(n, operand.Imm(uint64(e.lanes())))`, `e.CMPQ(n, operand.Imm(uint64(e.lanes()/2)))`},
		{"eights", "rows of 8 are taken for none", `sizes = whole(8); }`, `}`},
		{"last-of-short", "the last 8 of a row have distances 8 before theirs", `e.ADDQ(operand.Imm(8), before)`, ``},
		{"lanes", "distances of the upper lanes are those of the first", `float32(first + int(i))`, `float32(first + int(i%8))`},
	}},
	{"avx512/product", "asm/_gen/amd64/product.go", productWide, []fault{
		{"mask", "the last elements without their mask", `part{16, true}, r.mask, m)`, `part{16, false}, r.mask, m)`},
		{"rest", "products of the last elements are left out", `e.ANDQ(operand.Imm(15), last.count)`, `e.ANDQ(operand.Imm(7), last.count)`},
		{"multiple-mask", "the last part of a sum without its mask", `p := part{min(block.size, e.lanes()), block.masked}`, `p := part{min(block.size, e.lanes()), false}`},
	}},
	{"avx512/fused", "asm/_gen/amd64/fused.go", fusedWide, []fault{
		{"halves", "the upper half of a part by the table entries of the lower", `f.e.rotateNeighbours(x, c[j], s[j])`, `f.e.rotateNeighbours(x, c[0], s[0])`},
		{"sizes", "the last pair is left out", `whole(16, 4, 2, 1)`, `whole(16, 4, 2)`},
	}},
	{"avx512/sinusoidal", "asm/_gen/amd64/ziv.go", sinusoidalWide, []fault{
		{"short-test", "no entry is tested", `const above = 6`, `const above = 3`},
	}},
	{"avx512/sinusoidal", "asm/_gen/amd64/shift.go", sinusoidalWide, []fault{
		{"halves", "the upper half of a vector for the lower", `e.VINSERTF64X4(operand.Imm(1), high, low.AsZ(), v)`, `e.VINSERTF64X4(operand.Imm(0), high, low.AsZ(), v)`},
	}},
	{"avx512/quantize", "asm/_gen/amd64/quantize.go", quantizeWide, []fault{
		{"magnitude", "the upper half of a vector is left out of a maximum", `e.VEXTRACTI64X4(operand.Imm(1), v, upper)`, `e.VEXTRACTI64X4(operand.Imm(0), v, upper)`},
		{"second-half", "the second 16 numbers of a block are the first", `q.e.VPERMT2W(list[1], q.evenWords, list[0])`, `q.e.VPERMT2W(list[0], q.evenWords, list[0])`},
		{"halves", "halves go to even", `q.e.VPORD(q.lastBit, v, v)`, ``},
		{"groups", "16 bytes of four blocks change places with those of the next", `even, odd, gather = 0x88, 0xdd`, `even, odd, gather = 0x22, 0x77`},
		{"largest", "numbers beyond the largest have a larger code", `c.e.VRANGEPS(smaller, c.largest, z, limited)`, `c.e.VMOVAPS(z, limited)`},
		{"nan", "NaN is the largest number", `e.VMOVDQU8(by, masks[0], bytes)`, ``},
		{"nan-words", "NaN in the other half of 64 numbers", `e.KUNPCKDQ(masks[0], masks[2], masks[0])`, `e.KUNPCKDQ(masks[2], masks[0], masks[0])`},
		{"nan-pairs", "NaN in the third and fourth vector is not found", `compare(numbers[last-last/2], numbers[last])`, `compare(numbers[0], numbers[last/2])`},
		{"sign", "the sign of a code is that of a count", `choose = operand.U8(0xe4)`, `choose = operand.U8(0xf0)`},
		{"tail", "bytes beyond a vector are loaded", `e.VMOVDQU8_Z(from, mask, v)`, `e.VMOVUPS(from, v)`},
		{"e4m3-nan", "the NaN of E4M3 is 480", `e.VPTERNLOGD(orAnd, e.wide32("e4m3Carry", 0x40004000), carry, words)`, `_ = orAnd`},
	}},
	{"avx512/rotatequantize", "asm/_gen/amd64/rotatequantize.go", rotateQuantizeTests, []fault{
		{"other-buffer", "heads are written from where the next were rotated", `{g.nextBuffer, g.buffer}`, `{g.other, g.buffer}`},
		{"token", "all tokens are the first", `g.e.nextToken("x", "xTokenStride", float32s)`, ``},
		{"table", "all tokens have the cosines of the first", `g.e.nextToken("cos", "tableStride", float32s)`, ``},
		{"y-token", "tokens are written one behind the other", `g.e.nextToken("y", "yTokenStride", g.e.to)`, `g.e.MOVQ(y, g.e.parameter("y"))`},
		{"second", "the second half of a head is the first", `w.rotated(x, x.Offset(4*w.pairs))`, `w.rotated(x, x)`},
		{"few", "heads beyond those of a token are rotated", `g.e.moveIf("LT", left, count)`, ``},
		{"nan", "a NaN has no part in a scale", `e.VFMADD231PS(a, b, sum)`, `_ = sum`},
		{"pair", "of two short heads both are the first", `g.e.moveIf("GT", stride, step)`, ``},
		{"scale", "all heads have the scale of the first", `s.these[1].Idx(number, 4)`, `s.these[1]`},
		{"factor", "numbers are not multiplied by the scale", `e.VMULPS(factor, v, v)`, `_, _ = factor, v`},
		{"partner", "the second half of a long head follows 32 numbers", `second = operand.Mem{Base: r.y, Index: b.partner, Scale: 1}`, ``},
	}},
	{"avx512/rotatequantize", "asm/_gen/amd64/quantize.go", rotateQuantizeTests, []fault{
		{"not-finite", "a head with an infinity has codes of numbers", `e.JCC(operand.LabelRef(rare))`, `_ = rare`},
	}},
	{"avx512/groups", "asm/_gen/amd64/groups.go", quantizeWide, []fault{
		{"power", "of a scale the fraction stays, not the exponent", `e.VPANDND(power, fraction, power)`, `e.VPANDD(power, fraction, power)`},
	}},
	{"avx512/hadamard", "asm/_gen/amd64/hadamard.go", hadamardWide, []fault{
		{"third", "the third stage meets what the fourth does", `h.e.VSHUFF32X4(neighbours, v, v, met)`, `h.e.VSHUFF32X4(halves, v, v, met)`},
		{"alternate", "the stages within a vector change the sign of the first", `i/uint32(distance)%2<<31`, `(i/uint32(distance)+1)%2<<31`},
	}},
}
