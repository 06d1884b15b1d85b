package main

const (
	arm64Rotate     = "asm/_gen/arm64/rotate.go"
	arm64CosSin     = "asm/_gen/arm64/cossin.go"
	arm64Element    = "asm/_gen/arm64/element.go"
	arm64Convert    = "asm/_gen/arm64/convert.go"
	arm64Norm       = "asm/_gen/arm64/norm.go"
	arm64Add        = "asm/_gen/arm64/add.go"
	arm64Bias       = "asm/_gen/arm64/bias.go"
	arm64Product    = "asm/_gen/arm64/product.go"
	arm64Fused      = "asm/_gen/arm64/fused.go"
	arm64Sinusoidal = "asm/_gen/arm64/sinusoidal.go"
	arm64Emitter    = "asm/_gen/arm64/emitter.go"
	arm64Frame      = "asm/_gen/arm64/frame.go"
)

var neonMutants = []mutant{
	// rotate
	{name: "neon/rotate/sign", file: arm64Rotate, tests: rotateTests,
		old: `e.fsub4s(x1, x1, x2s)`, new: `e.fadd4s(x1, x1, x2s)`,
		wrong: "x1*c + x2*s"},
	{name: "neon/rotate/sine-for-cosine", file: arm64Rotate, tests: rotateTests,
		old: `e.fmul4s(x1, x1, c)`, new: `e.fmul4s(x1, x2, c)`,
		wrong: "x2*c for x1*c"},
	{name: "neon/rotate/fma", file: arm64Rotate, tests: rotateTests,
		old: `	e.fmul4s(x2, x2, c)
	e.fsub4s(x1, x1, x2s)
`, new: `	e.op("VFMLS", "%s.S4, %s.S4, %s.S4", s, x2, x1)
	e.fmul4s(x2, x2, c)
`,
		wrong: "x2*s is not rounded before the difference"},
	{name: "neon/rotate/head-stride", file: arm64Rotate, tests: rotateTests,
		old: `e.mul(s.row, s.row, head)`, new: `e.movGeneral(s.row, head)`,
		wrong: "heads one element apart"},
	{name: "neon/rotate/table-stride", file: arm64Rotate, tests: rotateTests,
		old: `e.addShifted(sin, sin, scratch, float32s.shift())`, new: `e.addShifted(sin, sin, scratch, 1)`,
		wrong: "sines step half as far from token to token"},
	{name: "neon/rotate/partner", file: arm64Rotate, tests: rotateTests,
		old: `e.addShifted(y2, r.y, partner, y.shift())`, new: `e.addShifted(y2, r.y, partner, x.shift())`,
		wrong: "the partner in y as far away as in x"},
	{name: "neon/rotate/no-tokens", file: arm64Rotate, tests: rotateTests,
		old: `[]string{"heads", "pairs", "tokens"}`, new: `[]string{"heads", "pairs"}`,
		wrong: "no tokens are as many as 2^64"},
	{name: "neon/rotate/pairs", file: arm64Element, tests: rotateTests,
		old: `e.trn18h(lower, first[j], second[j])`, new: `e.trn18h(lower, second[j], first[j])`,
		wrong: "the lower halves of bfloat16 pairs change places"},
	{name: "neon/rotate/pair-bits", file: arm64Element, tests: rotateTests,
		old: `e.and16b(w, w, e.bfloat16.upperHalf)`, new: `e.orr16b(w, w, e.bfloat16.upperHalf)`,
		wrong: "the second of a bfloat16 pair is a NaN"},

	// cossin
	{name: "neon/cossin/quadrant", file: arm64CosSin, tests: cosSinTests,
		old: `e.bsl16b(sin, c, s)`, new: `e.bsl16b(sin, s, c)`,
		wrong: "sines where cosines belong"},
	{name: "neon/cossin/quadrant-bit", file: arm64CosSin, tests: cosSinTests,
		old: `e.ushr(bits, half, q, 1)`, new: `e.ushr(bits, half, q, 2)`,
		wrong: "signs by another bit of the quarter turns"},
	{name: "neon/cossin/cosine-sign", file: arm64CosSin, tests: cosSinTests,
		old: `	e.sli(bits, c, half, bits-1)
`, new: ``,
		wrong: "what was a cosine is never negative"},
	{name: "neon/cossin/reduction", file: arm64CosSin, tests: cosSinTests,
		old: `e.fmla2d(f[j], x[j], low[j])`, new: `_, _ = low, j`,
		wrong: "2/pi without its low part"},
	{name: "neon/cossin/zero-sign", file: arm64CosSin, tests: cosSinTests,
		old: `	t.keepZero = true
`, new: ``,
		wrong: "the sine of the float32 -0 is +0"},
	{name: "neon/cossin/no-ziv", file: arm64CosSin, tests: cosSinTests,
		old: `e.orr16b(undecided, undecided, other)`, new: ``,
		wrong: "Ziv's test is not made"},
	{name: "neon/cossin/ziv-forgets", file: arm64CosSin, tests: cosSinTests,
		old: `e.orr16b(undecided, undecided, other)`, new: `e.orr16b(undecided, other, other)`,
		wrong: "only the last entries of a row are tested"},
	{name: "neon/cossin/half-the-bits", file: arm64CosSin, tests: cosSinTests,
		old: `e.umov(scratch, v, 1)`, new: `e.umov(scratch, v, 0)`,
		wrong: "half of the entries are not tested"},
	{name: "neon/cossin/margin-size", file: arm64CosSin, tests: cosSinTests,
		old: `			e.fmul2d(error[j], error[j], size)
`, new: ``,
		wrong: "the error bound of a sine forgets the position"},
	{name: "neon/cossin/margin-cap", file: arm64CosSin, tests: cosSinTests,
		old: `			e.fmin2d(error[j], error[j], bound)
			upperCos`, new: `			upperCos`,
		wrong: "the error bound of a sine grows beyond 2^-49: right, slow"},
	{name: "neon/cossin/seed-reach", file: arm64CosSin, tests: cosSinTests,
		old: `e.fmul2d(error[j], error[j], reach)`, new: `_ = reach`,
		wrong: "the error bound of a seed forgets the position"},
	{name: "neon/cossin/shift-sign", file: arm64CosSin, tests: cosSinTests,
		old: `e.fmls2d(cos[j], sinA[j], sinB[j])`, new: `e.fmla2d(cos[j], sinA[j], sinB[j])`,
		wrong: "cos(a-b) for cos(a+b)"},
	{name: "neon/cossin/shift-margin", file: arm64CosSin, tests: cosSinTests,
		old: `e.fsub2d(lowerCos[j], cos[j], twice)`, new: `e.fsub2d(lowerCos[j], cos[j], error[j]); _ = twice`,
		wrong: "the lower end of a cosine's interval by the sine's error"},
	{name: "neon/cossin/shift-row", file: arm64CosSin, tests: cosSinTests,
		old: `e.add(shift, 2*shiftPlane)`, new: `e.add(shift, shiftPlane)`,
		wrong: "rows of the shift half as far apart"},
	{name: "neon/cossin/shift-goes-on", file: arm64CosSin, tests: cosSinTests,
		old: `	e.cbnz(flag, exit)
`, new: ``,
		wrong: "the shift does not stop at a row that is undecided"},
	{name: "neon/cossin/store-part", file: arm64CosSin, tests: cosSinTests,
		old: `e.upperHalf(v, v)`, new: ``,
		wrong: "the third entry of a last part is the first"},
	{name: "neon/cossin/load-part", file: arm64CosSin, tests: cosSinTests,
		old: `e.ldr32(last, from, 8)`, new: `e.ldr32(last, from, 12)`,
		wrong: "a frequency beyond the last is loaded"},
	{name: "neon/cossin/float32-limit", file: arm64CosSin, tests: cosSinTests,
		old: `e.load32("two50", 0x58800000)`, new: `e.load32("two50", 0x59800000)`,
		wrong: "float32 angles up to 2^52 are not left to plain Go"},
	{name: "neon/cossin/coefficient", file: constants, tests: cosSinTests,
		old: `-0x1.4abbce625be09p-1`, new: `-0x1.4abbce625bc09p-1`,
		wrong: "a coefficient of the sine is off by 2^-43"},
	{name: "neon/cossin/constants", file: arm64CosSin, tests: cosSinTests,
		old: `e.ldr(cos[j], t.sums, 32*i+16)`, new: `e.ldr(cos[j], t.sums, 32*i)`,
		wrong: "coefficients of the sine for the cosine"},

	// convert
	{name: "neon/convert/signalling-nan", file: arm64Convert, tests: copyTests,
		old: `e.fadd4s(v, v, minusZero)`, new: `_, _ = v, minusZero`,
		wrong: "a signalling NaN becomes an infinity"},
	{name: "neon/convert/zero", file: arm64Convert, tests: copyTests,
		old: `e.load32("signBit32", 1<<31)`, new: `e.load32("signBit32", 0)`,
		wrong: "-0 becomes +0"},
	{name: "neon/convert/ties", file: arm64Element, tests: copyTests,
		old: `e.bic16b(up, e.bfloat16.one, upper)`, new: `e.and16b(up, e.bfloat16.one, upper)`,
		wrong: "ties of bfloat16 go to odd"},
	{name: "neon/convert/nan", file: arm64Element, tests: copyTests,
		old: `e.umax8h(upper, upper, lower)`, new: `e.orr16b(upper, lower, lower)`,
		wrong: "the negative NaN of ones becomes a zero"},
	{name: "neon/convert/carry", file: arm64Emitter, tests: copyTests,
		old: `e.three(0x4e600c00, "sqadd", "8h", d, n, m)`, new: `e.three(0x4e608400, "add", "8h", d, n, m)`,
		wrong: "the NaN of ones becomes -0"},
	{name: "neon/convert/stride", file: arm64Convert, tests: copyTests,
		old: `e.add(from, x.bytes(size))`, new: `e.add(from, y.bytes(size))`,
		wrong: "x advances by the bytes of y"},
	{name: "neon/convert/span", file: arm64Convert, tests: copyTests,
		old: `e.branch("BGE", loop)`, new: `e.branch("BGT", loop)`,
		wrong: "the last of the single elements is left out"},
	{name: "neon/convert/upper", file: arm64Element, tests: copyTests,
		old: `e.fcvtl24s(v, words)`, new: `e.fcvtl4s(v, words)`,
		wrong: "the lower float16 for the upper"},
	{name: "neon/convert/store-too-far", file: arm64Emitter, tests: copyTests,
		old: `e.op("VST1", "%s.H[0], (%s)", v, base)`, new: `e.op("VST1", "%s.S[0], (%s)", v, base)`,
		wrong: "the last 16 bits are stored as 32"},
	{name: "neon/convert/load-too-far", file: arm64Emitter, tests: copyTests,
		old: `	case 1:
		e.ldr32(list[0], base, 0)
`, new: `	case 1:
		e.ldr64(list[0], base, 0)
`,
		wrong: "the last float32 is loaded as two"},

	// layout
	{name: "neon/layout/halves", file: arm64Convert, tests: copyTests,
		old: `e.str(even+1, second, 0)`, new: `e.str(even, second, 0)`,
		wrong: "the even elements for the odd"},
	{name: "neon/layout/single", file: arm64Convert, tests: copyTests,
		old: `e.moveElement(bytes, second, x, 0, bytes)`, new: `e.moveElement(bytes, second, x, 0, 0)`,
		wrong: "the even element for the odd at the end"},
	{name: "neon/layout/second", file: arm64Convert, tests: copyTests,
		old: `e.addShifted(second, x, n, bytes/2)`, new: `e.addShifted(second, x, n, 1)`,
		wrong: "the second half of 32-bit elements at half the distance"},
	{name: "neon/layout/load-too-far", file: arm64Emitter, tests: copyTests,
		old: `map[int]string{4: "MOVWU", 2: "MOVHU"}`, new: `map[int]string{4: "MOVWU", 2: "MOVWU"}`,
		wrong: "the last 16 bits are moved as 32"},

	// norm
	{name: "neon/norm/fma", file: arm64Norm, tests: normTests,
		old: `				e.fmul4s(v, v, v)
				e.fadd4s(row[j], row[j], v)
`, new: `				e.op("VFMLA", "%s.S4, %s.S4, %s.S4", v, v, row[j])
`,
		wrong: "squares are not rounded before the sum"},
	{name: "neon/norm/order", file: arm64Norm, tests: normTests,
		old: `	e.fadd4s(row[0], row[0], row[2]) // +8
		e.fadd4s(row[1], row[1], row[3])
		e.fadd4s(row[0], row[0], row[1]) // +4
`, new: `	e.fadd4s(row[0], row[0], row[1])
		e.fadd4s(row[2], row[2], row[3])
		e.fadd4s(row[0], row[0], row[2])
`,
		wrong: "squares are summed in another order"},
	{name: "neon/norm/lane", file: arm64Norm, tests: normTests,
		old: `e.broadcastLane(f, inverses, i)`, new: `e.broadcastLane(f, inverses, i^1)`,
		wrong: "a row takes the inverse of another"},
	{name: "neon/norm/tail", file: arm64Norm, tests: normTests,
		old: `e.stp(zero, zero, tail, 32)`, new: ``,
		wrong: "what was on the stack is added to the squares"},
	{name: "neon/norm/epsilon", file: arm64Norm, tests: normTests,
		old: `	e.fadd4s(sum, sum, e.broadcast("epsilon"))
	e.fsqrt4s(sum, sum)
`, new: `	e.fsqrt4s(sum, sum)
	e.fadd4s(sum, sum, e.broadcast("epsilon"))
`,
		wrong: "epsilon is added after the root"},
	{name: "neon/norm/weight", file: arm64Norm, tests: normTests,
		old: `e.add(l.weight, 4*size)`, new: `e.add(l.weight, t.bytes(size))`,
		wrong: "weights advance by the bytes of x"},

	// add
	{name: "neon/add/fma", file: arm64Add, tests: addTests,
		old: `			e.fmul4s(v, v, scale)
			e.fadd4s(v, v, added[j])
`, new: `			e.op("VFMLA", "%s.S4, %s.S4, %s.S4", v, scale, added[j])
			e.orr16b(v, added[j], added[j])
`,
		wrong: "the product is not rounded before the sum"},
	{name: "neon/add/stride", file: arm64Add, tests: addTests,
		old: `e.add(from, 4*size)`, new: `e.add(from, t.bytes(size))`,
		wrong: "y advances by the bytes of x"},
	{name: "neon/add/sign", file: arm64Add, tests: addTests,
		old: `e.fadd4s(v, v, added[j])`, new: `e.fsub4s(v, v, added[j])`,
		wrong: "y is subtracted"},

	// bias
	{name: "neon/bias/sign", file: arm64Bias, tests: biasTests,
		old: `e.fneg4s(v, v)`, new: ``,
		wrong: "magnitudes are added"},
	{name: "neon/bias/lane", file: arm64Bias, tests: biasTests,
		old: `list[j-1], sized[4])`, new: `list[j-1], sized[1])`,
		wrong: "the vectors of a block one distance apart"},
	{name: "neon/bias/subtracted", file: arm64Bias, tests: biasTests,
		old: `e.parts(left, sizes, func(size int) {
		biases, list := bias(size), e.loadFloats(to, size)
		for j, v := range list {
			e.fadd4s(v, v, biases[j])
`, new: `e.parts(left, sizes, func(size int) {
		biases, list := bias(size), e.loadFloats(to, size)
		for j, v := range list {
			e.fsub4s(v, v, biases[j])
`,
		wrong: "biases are subtracted"},
	{name: "neon/bias/number", file: arm64Bias, tests: biasTests,
		old: `"MOVW.P"`, new: `"MOVWU.P"`,
		wrong: "negative numbers of rows are large ones"},
	{name: "neon/bias/stride", file: arm64Bias, tests: biasTests,
		old: `e.mul(from, from, xStride)`, new: `e.add(xStride, 4); e.mul(from, from, xStride)`,
		wrong: "rows of x too far apart"},
	{name: "neon/bias/beyond", file: arm64Bias, tests: biasTests,
		old: `e.op("SUB", "$%d, %s, %s", operation.ClampedEnds, width, end)`, new: `e.op("SUB", "$%d, %s, %s", operation.ClampedEnds-15, width, end)`,
		wrong: "a vector that goes beyond x is read from it"},
	{name: "neon/bias/clamped", file: arm64Bias, tests: biasTests,
		old: `e.op("CSEL", "GT, %s, %s, %s", width, index, from)`, new: `e.movGeneral(from, index)`,
		wrong: "a last element beyond x is read from there"},
	{name: "neon/bias/clamped-step", file: arm64Bias, tests: biasTests,
		old: `e.addGeneral(first, step)`, new: `e.subGeneral(first, step)`,
		wrong: "rows go the other way through x"},

	// product
	{name: "neon/product/fma", file: arm64Product, tests: productTests,
		old: `				e.fmul4s(v, v, x[j])
				e.fadd4s(sums[j], sums[j], v)
`, new: `				e.op("VFMLA", "%s.S4, %s.S4, %s.S4", v, x[j], sums[j])
`,
		wrong: "products are not rounded before the sum"},
	{name: "neon/product/rest", file: arm64Product, tests: productTests,
		old: `e.stp(zero, zero, rest, 32)`, new: ``,
		wrong: "what was on the stack is added to the products"},
	{name: "neon/product/rest-of-row", file: arm64Product, tests: productTests,
		old: `x := e.loadFloats(d.xRest, 16)`, new: `x := e.loadFloats(d.rest, 16)`,
		wrong: "the last elements of another vector for those of the row"},
	{name: "neon/product/stride", file: arm64Product, tests: productTests,
		old: `e.addShifted(address, address, scratch, 2)`, new: `e.addShifted(address, address, scratch, 1)`,
		wrong: "strides in halves of elements"},
	{name: "neon/product/factor", file: arm64Product, tests: productTests,
		old: `e.add(factors, 4)`, new: ``,
		wrong: "all vectors have the factor of the first"},

	// fused
	{name: "neon/fused/pairs", file: arm64Fused, tests: fusedTests,
		old: `f.loadFloats(row, size), f.loadFloats(f.other, size)`, new: `f.loadFloats(f.other, size), f.loadFloats(row, size)`,
		wrong: "the first of a pair is taken for the second"},
	{name: "neon/fused/rest", file: arm64Fused, tests: fusedTests,
		old: `for range 2 {`, new: `for range 1 {`,
		wrong: "elements beyond the row are normalized"},
	{name: "neon/fused/weights", file: arm64Fused, tests: fusedTests,
		old: `w2 := f.loadFloats(f.other, size)`, new: `w2 := f.loadFloats(f.weight, size)`,
		wrong: "the second of a pair has the weight of the first"},

	// sinusoidal
	{name: "neon/sinusoidal/no-ziv", file: arm64Sinusoidal, tests: sinusoidalTests,
		old: `		e.cbnz(flag, exit)
`, new: ``,
		wrong: "what Ziv's test says is ignored"},
	{name: "neon/sinusoidal/fma", file: arm64Sinusoidal, tests: sinusoidalTests,
		old: `			e.fmul4s(x, x, scale)
			e.fadd4s(v, v, x)
			e.str(`, new: `			e.op("VFMLA", "%s.S4, %s.S4, %s.S4", x, scale, v)
			e.str(`,
		wrong: "the product is not rounded before the sum"},
	{name: "neon/sinusoidal/rest", file: arm64Sinusoidal, tests: sinusoidalTests,
		old: `			e.addGeneral(left, left)
`, new: ``,
		wrong: "half of the last pairs are written"},
	{name: "neon/sinusoidal/shift", file: arm64Sinusoidal, tests: sinusoidalTests,
		old: `e.add(shift, 2*shiftPlane)`, new: `e.add(shift, shiftPlane)`,
		wrong: "rows of the shift half as far apart"},

	// A WORD has to mean what its comment says.
	{name: "generator/words/encoding", file: arm64Emitter, tests: assemblyText,
		old: `e.three(0x4e20d400, "fadd", "4s", d, n, m)`, new: `e.three(0x4ea0d400, "fadd", "4s", d, n, m)`,
		wrong: "fadd is encoded as fsub"},
	{name: "generator/words/registers", file: arm64Emitter, tests: assemblyText,
		old: `e.word(base|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s", name`, new: `e.word(base|uint32(d)<<5|uint32(n), "%s v%d.%s, v%d.%s", name`,
		wrong: "destination and source change places"},
	{name: "neon/frame/sizes", file: arm64Frame, tests: tests{names: "TestCosSinExactRowKernels"},
		old: `size = 4`, new: `size = 8`,
		wrong: "a float32 argument is taken for 8 bytes"},
}
