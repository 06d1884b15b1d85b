package main

var eightBitTests = tests{names: registryTests + "|TestRounding8|TestWidening8|TestHardQuotients|TestSmallRows|TestScaleOfNaN", operations: "Quantize.*|Dequantize.*"}

var neonMutants = []group{
	{"neon/rotate", "asm/_gen/arm64/rotate.go", rotateTests, []fault{
		{"sign", "x1*c + x2*s", `e.fsub4s(x1, x1, x2s)`, `e.fadd4s(x1, x1, x2s)`},
		{"sine-for-cosine", "x2*c for x1*c", `e.fmul4s(x1, x1, c)`, `e.fmul4s(x1, x2, c)`},
		{"fma", "x2*s is not rounded before the difference", `e.fmul4s(x2, x2, c); e.fsub4s(x1, x1, x2s)`, `e.op("VFMLS", "%s.S4, %s.S4, %s.S4", s, x2, x1); e.fmul4s(x2, x2, c)`},
		{"head-stride", "heads one element apart", `e.next(s.head, s.name+"HeadStride", s.units)`, `e.add(s.head, s.units.bytes(1))`},
		{"table-stride", "sines are half as far apart from token to token", `e.next(sin, "tableStride", float32s)`, `e.next(sin, "tableStride", bfloat16s)`},
		{"token-stride", "tokens are as far apart as heads", `e.next(s.token, s.name+"TokenStride", s.units)`, `e.next(s.token, s.name+"HeadStride", s.units)`},
		{"table-again", "the second head has the sines of the next token", `e.movGeneral(r.sin, sin)`, `e.movGeneral(r.sin, sin); e.next(sin, "tableStride", float32s)`},
		{"sizes", "less than 4 last pairs are left out", `var sizes = []int{16, 4, 1}`, `var sizes = []int{16, 4}`},
		{"partner", "the partner in y as far away as in x", `e.addShifted(y2, r.y, partner, y.log2())`, `e.addShifted(y2, r.y, partner, x.log2())`},
		{"no-tokens", "no tokens are as many as 2^64", `e.cbz(token, done)`, ``},
		{"no-heads", "no heads are as many as 2^64", `[]string{"heads", "pairs"}`, `[]string{"pairs"}`},
	}},
	{"neon/rotate", "asm/_gen/arm64/element.go", rotateTests, []fault{
		{"pairs", "the lower halves of bfloat16 pairs change places", `e.trn18h(lower, first[j], second[j])`, `e.trn18h(lower, second[j], first[j])`},
		{"pair-bits", "the second of a bfloat16 pair is a NaN", `e.and16b(w, w, e.bfloat16.upperHalf)`, `e.orr16b(w, w, e.bfloat16.upperHalf)`},
	}},
	{"neon/cossin", "asm/_gen/arm64/cossin.go", cosSinTests, []fault{
		{"quadrant", "sines where cosines belong", `e.bsl16b(sin, c, s)`, `e.bsl16b(sin, s, c)`},
		{"quadrant-bit", "signs by another bit of the quarter turns", `e.ushr(bits, half, q, 1)`, `e.ushr(bits, half, q, 2)`},
		{"cosine-sign", "what was a cosine is never negative", `e.sli(bits, c, half, bits-1)`, ``},
		{"reduction", "2/pi without its low part", `e.fmla2d(f[j], x[j], low[j])`, `_, _ = low, j`},
		{"zero-sign", "the sine of the float32 -0 is +0", `t.keepZero = true`, ``},
		{"no-ziv", "Ziv's test is not made", `e.orr16b(undecided, undecided, other)`, ``},
		{"ziv-forgets", "only the last entries of a row are tested", `e.orr16b(undecided, undecided, other)`, `e.orr16b(undecided, other, other)`},
		{"half-the-bits", "half of the entries are not tested", `e.umov(scratch, v, 1)`, `e.umov(scratch, v, 0)`},
		{"margin-size", "the error bound of a sine forgets the position", `e.fmul2d(error[j], error[j], size)`, ``},
		{"margin-cap", "the error bound of a sine grows beyond 2^-49: right, slow", `e.fmin2d(error[j], error[j], bound); upperCos`, `upperCos`},
		{"seed-reach", "the error bound of a seed forgets the position", `e.fmul2d(error[j], error[j], reach)`, `_ = reach`},
		{"shift-sign", "cos(a-b) for cos(a+b)", `e.fmls2d(cos[j], sinA[j], sinB[j])`, `e.fmla2d(cos[j], sinA[j], sinB[j])`},
		{"shift-margin", "the lower end of a cosine's interval by the sine's error", `e.fsub2d(lowerCos[j], cos[j], twice)`, `e.fsub2d(lowerCos[j], cos[j], error[j]); _ = twice`},
		{"shift-row", "rows of the shift half as far apart", `e.add(shift, 2*shiftPlane)`, `e.add(shift, shiftPlane)`},
		{"shift-goes-on", "the shift does not stop at a row that is undecided", `e.cbnz(flag, exit)`, ``},
		{"store-part", "the third entry of a last part is the first", `e.upperHalf(v, v)`, ``},
		{"load-part", "a frequency beyond the last is loaded", `e.ldr32(last, from, 8)`, `e.ldr32(last, from, 12)`},
		{"float32-limit", "float32 angles up to 2^52 are not left to plain Go", `e.load32("two50", 0x58800000)`, `e.load32("two50", 0x59800000)`},
		{"constants", "coefficients of the sine for the cosine", `e.ldr(cos[j], t.sums, 32*i+16)`, `e.ldr(cos[j], t.sums, 32*i)`},
	}},
	{"neon/cossin", "asm/_gen/operation/constants.go", cosSinTests, []fault{
		{"coefficient", "a coefficient of the sine is off by 2^-43", `-0x1.4abbce625be09p-1`, `-0x1.4abbce625bc09p-1`},
	}},
	{"neon/convert", "asm/_gen/arm64/convert.go", copyTests, []fault{
		{"signalling-nan", "a signalling NaN becomes an infinity", `e.fadd4s(v, v, minusZero)`, `_, _ = v, minusZero`},
		{"zero", "-0 becomes +0", `e.load32("signBit32", 1<<31)`, `e.load32("signBit32", 0)`},
		{"stride", "x advances by the bytes of y", `e.add(from, x.bytes(size))`, `e.add(from, y.bytes(size))`},
	}},
	{"neon/convert", "asm/_gen/arm64/element.go", copyTests, []fault{
		{"ties", "ties of bfloat16 go to odd", `e.bic16b(up, e.bfloat16.one, upper)`, `e.and16b(up, e.bfloat16.one, upper)`},
		{"nan", "the negative NaN of ones becomes a zero", `e.umax8h(upper, upper, lower)`, `e.orr16b(upper, lower, lower)`},
		{"upper", "the lower float16 for the upper", `e.fcvtl24s(v, words)`, `e.fcvtl4s(v, words)`},
	}},
	{"neon/convert", "asm/_gen/arm64/emitter.go", copyTests, []fault{
		{"carry", "the NaN of ones becomes -0", `e.three(0x4e600c00, "sqadd", "8h", d, n, m)`, `e.three(0x4e608400, "add", "8h", d, n, m)`},
		{"store-too-far", "the last 16 bits are stored as 32", `e.st1(16, list[0], 0, base)`, `e.st1(32, list[0], 0, base)`},
		{"load-too-far", "the last float32 is loaded as two", `e.ldr32(list[0], base, 0)`, `e.ldr64(list[0], base, 0)`},
		{"span", "the last of the single elements is left out", `e.branch("BGE", loop)`, `e.branch("BGT", loop)`},
	}},
	{"neon/layout", "asm/_gen/arm64/convert.go", copyTests, []fault{
		{"halves", "the even elements for the odd", `e.str(even+1, second, 0)`, `e.str(even, second, 0)`},
		{"single", "the even element for the odd at the end", `e.moveElement(bytes, second, x, 0, bytes)`, `e.moveElement(bytes, second, x, 0, 0)`},
		{"second", "the second half of 32-bit elements at half the distance", `e.addShifted(second, x, n, bytes/2)`, `e.addShifted(second, x, n, 1)`},
	}},
	{"neon/layout", "asm/_gen/arm64/emitter.go", copyTests, []fault{
		{"load-too-far", "the last 16 bits are moved as 32", `map[int]string{4: "MOVWU", 2: "MOVHU"}`, `map[int]string{4: "MOVWU", 2: "MOVWU"}`},
	}},
	{"neon/norm", "asm/_gen/arm64/norm.go", normTests, []fault{
		{"fma", "squares are not rounded before the sum", `e.fmul4s(v, v, v); e.fadd4s(row[j], row[j], v)`, `e.op("VFMLA", "%s.S4, %s.S4, %s.S4", v, v, row[j])`},
		{"order", "squares are summed in another order", `	e.fadd4s(row[0], row[0], row[2]) // +8
		e.fadd4s(row[1], row[1], row[3])
		e.fadd4s(row[0], row[0], row[1]) // +4
`, `	e.fadd4s(row[0], row[0], row[1])
		e.fadd4s(row[2], row[2], row[3])
		e.fadd4s(row[0], row[0], row[2])
`},
		{"lane", "a row takes the inverse of another", `e.broadcastLane(f, inverses, i)`, `e.broadcastLane(f, inverses, i^1)`},
		{"tail", "where a row has no elements are ones", `zero := e.vector(); e.clear(zero)`, `zero := e.load32("one32", 0x3f800000)`},
		{"epsilon", "epsilon is added after the root", `e.fadd4s(sum, sum, e.broadcast("epsilon")); e.fsqrt4s(sum, sum)`, `e.fsqrt4s(sum, sum); e.fadd4s(sum, sum, e.broadcast("epsilon"))`},
		{"weight", "weights advance by the bytes of x", `e.add(l.weight, 4*size)`, `e.add(l.weight, t.bytes(size))`},
	}},
	{"neon/add", "asm/_gen/arm64/add.go", addTests, []fault{
		{"fma", "the product is not rounded before the sum", `e.fmul4s(v, v, scale); e.fadd4s(v, v, added[j])`, `e.op("VFMLA", "%s.S4, %s.S4, %s.S4", v, scale, added[j]); e.orr16b(v, added[j], added[j])`},
		{"stride", "y advances by the bytes of x", `e.add(from, 4*size)`, `e.add(from, t.bytes(size))`},
		{"sign", "y is subtracted", `e.fadd4s(v, v, added[j])`, `e.fsub4s(v, v, added[j])`},
	}},
	{"neon/bias", "asm/_gen/arm64/bias.go", biasTests, []fault{
		{"sign", "magnitudes are added", `e.fneg4s(v, v)`, ``},
		{"lane", "the vectors of a block one distance apart", `list[j-1], sized[4])`, `list[j-1], sized[1])`},
		{"subtracted", "biases are subtracted", `e.fadd4s(v, v, biases[j])`, `e.fsub4s(v, v, biases[j])`},
		{"number", "negative numbers of rows are large ones", `"MOVW.P"`, `"MOVWU.P"`},
		{"stride", "rows of x too far apart", `e.mul(from, from, xStride)`, `e.add(xStride, 4); e.mul(from, from, xStride)`},
		{"beyond", "a vector that goes beyond x is read from it", `e.op("SUB", "$%d, %s, %s", operation.ClampedEnds, width, end)`, `e.op("SUB", "$%d, %s, %s", operation.ClampedEnds-15, width, end)`},
		{"clamped", "a last element beyond x is read from there", `e.op("CSEL", "GT, %s, %s, %s", width, index, from)`, `e.movGeneral(from, index)`},
		{"clamped-step", "rows go the other way through x", `e.addGeneral(first, step)`, `e.subGeneral(first, step)`},
	}},
	{"neon/product", "asm/_gen/arm64/product.go", productTests, []fault{
		{"fma", "products are not rounded before the sum", `e.fmul4s(v, v, x[j]); e.fadd4s(sums[j], sums[j], v)`, `e.op("VFMLA", "%s.S4, %s.S4, %s.S4", v, x[j], sums[j])`},
		{"rest-of-row", "the last elements of another vector for those of the row", `x := e.loadFloats(d.xRest, 16)`, `x := e.loadFloats(d.rest, 16)`},
		{"factor", "all vectors have the factor of the first", `e.add(factors, 4)`, ``},
	}},
	{"neon/product", "asm/_gen/arm64/emitter.go", productTests, []fault{
		{"stride", "strides in bytes", `e.addShifted(address, address, scratch, t.log2())`, `e.addShifted(address, address, scratch, 0)`},
	}},
	{"neon/product", "asm/_gen/arm64/norm.go", productTests, []fault{
		{"rest", "where a row has no elements are ones", `zero := e.vector(); e.clear(zero)`, `zero := e.load32("one32", 0x3f800000)`},
	}},
	{"neon/fused", "asm/_gen/arm64/fused.go", fusedTests, []fault{
		{"pairs", "the first of a pair is taken for the second", `f.loadFloats(row, size), f.loadFloats(f.other, size)`, `f.loadFloats(f.other, size), f.loadFloats(row, size)`},
		{"rest", "elements beyond the row are normalized", `for range 2 {`, `for range 1 {`},
		{"weights", "the second of a pair has the weight of the first", `w2 := f.loadFloats(f.other, size)`, `w2 := f.loadFloats(f.weight, size)`},
	}},
	{"neon/sinusoidal", "asm/_gen/arm64/sinusoidal.go", sinusoidalTests, []fault{
		{"no-ziv", "what Ziv's test says is ignored", `e.cbnz(flag, exit)`, ``},
		{"fma", "the product is not rounded before the sum", `			e.fmul4s(x, x, scale)
			e.fadd4s(v, v, x)
			e.str(`, `			e.op("VFMLA", "%s.S4, %s.S4, %s.S4", x, scale, v)
			e.str(`},
		{"rest", "half of the last pairs are written", `e.addGeneral(left, left)`, ``},
		{"shift", "rows of the shift half as far apart", `e.add(shift, 2*shiftPlane)`, `e.add(shift, shiftPlane)`},
	}},
	{"neon/quantize", "asm/_gen/arm64/quantize.go", eightBitTests, []fault{
		{"ties", "ties of Q8_0 go to even", `e.fcvtas4s(v, v) // 0 for NaN`, `e.two(0x4e21a800, "fcvtns", v, "4s", v, "4s")`},
		{"quotient", "a product with the inverse is not corrected", `e.fmla4s(q[j], v, r.inverse)`, `_, _ = v, j`},
		{"remainder", "the product of quotient and scale is rounded before the difference", `e.fmls4s(v, q[j], r.scale)`, `e.fmul4s(31, q[j], r.scale); e.fsub4s(v, v, 31)`},
		{"row-sign", "the numbers of a row lose their signs", `q := e.quotients(r, list); e.release(list...)`, `q := e.quotients(r, list); e.release(append(list, signs)...); signs = e.lastBytes(q)`},
		{"nan-sign", "a NaN keeps its sign", `e.and16b(number, number, f.sign)`, `e.orr16b(number, f.sign, f.sign)`},
		{"nan", "a NaN becomes the largest number", `e.umin4s(v, v, beyond)`, `e.umin4s(v, v, largest); _ = beyond`},
		{"clamp", "what is beyond the largest number becomes NaN", `e.fmin4s(v, v, largest)`, `_, _ = v, largest`},
		{"clamp-nan", "a NaN is clamped before it is told", `e.fmin4s(v, v, largest)`, `e.three(0x4ea0c400, "fminnm", "4s", v, v, largest)`},
		{"subnormal", "subnormal numbers are rounded as if they were normal", `e.umax4s(p, p, f.least)`, `_ = p`},
		{"last-bit", "E5M2 is rounded to the bits of E4M3", `f.unit = e.whole(1 << f.shift)`, `f.unit = e.whole(1 << 20)`},
		{"row-nan", "a row with a NaN has codes of numbers", `e.bif16b(codes, f.nan, r.finite)`, ``},
		{"row-infinity", "a row with an infinity has codes that are not 0", `e.and16b(codes, codes, r.finite)`, ``},
		{"least-scale", "the scale of zeros is 0", `e.umax4s(scale, scale, e.load32("leastScale", math.Float32bits(leastScale)))`, `_ = math.Pi`},
		{"scale-nan", "the scale of a row with a NaN keeps its payload", `e.umin4s(scale, scale, s.nan)`, ``},
		{"block-nan", "the scale of a block with a NaN keeps its payload", `e.umin4s(d, d, s.nan)`, ``},
		{"inverse", "the inverse of a scale is infinite", `e.and16b(inverse, inverse, finite)`, `_ = finite`},
		{"magnitude", "the largest number for the largest magnitude", `	for _, v := range list {
		e.fabs4s(v, v)
	}
	for len(list) > 1 {`, `	for len(list) > 1 {`},
		{"half-the-row", "half of the numbers have no part in the scale", `e.umax4s(list[j], list[j], list[half+j])`, `_ = j`},
		{"row-lane", "a row has the scale of another", `e.broadcastLane(r.scale, scale, i)`, `e.broadcastLane(r.scale, scale, i^1)`},
		{"block-lane", "a block has the scale of another", `e.broadcastLane(factor, inverse, i)`, `e.broadcastLane(factor, inverse, i^1)`},
		{"largest", "rows are taken for each other", `e.umaxp4s(list[2], list[2], list[3])`, `e.umaxp4s(list[2], list[3], list[2])`},
		{"scale-stride", "scales lie one after another", `e.next(to, "scaleStride", float32s)`, `e.add(to, 4)`},
		{"stride", "vectors are read as far apart as they are written", `body(to, from, left); e.next(y, "yStride", e.to); e.next(x, "xStride", e.from)`, `body(to, from, left); e.next(y, "yStride", e.to); e.next(x, "yStride", e.from)`},
		{"bytes", "the third quarter of the codes before the second", `halves(low, list[0], list[min(1, last)])`, `halves(low, list[0], list[min(2, last)])`},
		{"widen-nan", "the codes of NaN are numbers", `e.orr16b(codes, codes, isNaN)`, ``},
		{"widen-sign", "the sign of E4M3 is a bit of its exponent, too", `e.and16b(codes, codes, upper)`, `_ = upper`},
		{"large-scale", "a scale of 2^120 becomes infinite", `e.cmp(scratch, 127+120)`, `e.cmp(scratch, 127+121)`},
		{"halves", "the lower bytes of float16 for the upper", `return e.widenHalves(zero, codes, n)`, `return e.widenHalves(codes, zero, n)`},
		{"offset", "codes of int8 are counted from 0", `e.eor16b(codes, codes, offset)`, `_ = offset`},
		{"quarters", "the third quarter of the numbers is the first", `if j%4 < 2 {`, `if j%4 < 3 {`},
	}},
	{"neon/quantize", "asm/_gen/arm64/emitter.go", eightBitTests, []fault{
		{"load-too-far", "the last code is loaded as two", `e.ld1r(8, list[0], base)`, `e.ld1r(16, list[0], base)`},
		{"store-too-far", "the last code is stored as two", `e.st1(8, list[0], 0, base)`, `e.st1(16, list[0], 0, base)`},
	}},
	{"neon/hadamard", "asm/_gen/arm64/hadamard.go", tests{names: registryTests, operations: "Hadamard.*"}, []fault{
		{"order", "the first two stages change places", `pair(1, -1), pair(1, -1)), e.load("signs2", pair(1, 1), pair(-1, -1))`, `pair(1, 1), pair(-1, -1)), e.load("signs2", pair(1, -1), pair(1, -1))`},
		{"distance", "distances from the largest to the least", `for distance := 1; distance < len(list); distance *= 2 {`, `for distance := len(list) / 2; distance > 0; distance /= 2 {`},
		{"difference", "differences have the other sign", `e.fsub4s(b, a, b)`, `e.fsub4s(b, b, a)`},
		{"factor", "half of a row of several blocks is not multiplied", `e.combine(list); e.multiplyAll(list, h.factor)`, `e.combine(list); e.multiplyAll(list[:len(list)/2], h.factor)`},
		{"early", "the factor comes before the last stages", `e.combine(list); e.multiplyAll(list, h.factor)`, `e.multiplyAll(list, h.factor); e.combine(list)`},
		{"far", "the fifth block is taken for the first", `base = far`, `base = at; _ = far`},
		{"rows", "the second row is the first", `e.addGeneral(x, stride)`, `_ = stride`},
		{"halves", "the second stage within pairs", `e.upperHalf(list[i], v)`, `e.rev644s(list[i], v)`},
	}},
	// A WORD has to mean what its comment says.
	{"generator/words", "asm/_gen/arm64/emitter.go", assemblyText, []fault{
		{"encoding", "fadd is encoded as fsub", `e.three(0x4e20d400, "fadd", "4s", d, n, m)`, `e.three(0x4ea0d400, "fadd", "4s", d, n, m)`},
		{"registers", "destination and source change places", `e.word(base|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s", name`, `e.word(base|uint32(d)<<5|uint32(n), "%s v%d.%s, v%d.%s", name`},
	}},
	{"neon/frame", "asm/_gen/arm64/frame.go", tests{names: "TestCosSinExactRow|TestUndecided"}, []fault{
		{"sizes", "a float32 argument is taken for 8 bytes", `size = 4`, `size = 8`},
	}},
}
