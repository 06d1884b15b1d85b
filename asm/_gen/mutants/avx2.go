package main

// registryTests run over all operations.
const registryTests = "TestOperations|TestRounding|TestWidening|TestNothing|TestGuards|TestGuardHalves"

// The tests of the families of kernels.
var (
	rotateTests = tests{names: registryTests, operations: "Rotate.*"}
	cosSinTests = tests{names: "TestCosSinExactRowKernels|TestCosSinExactRowsKernels|TestCosSinExactRowsNonTemporal|TestCosSinFloat32Kernels|" +
		"TestGuardCosSinExact|TestGuardCosSinFloat32|TestUndecided|TestShiftStops|TestSeedError"}
	copyTests       = tests{names: registryTests, operations: "Convert.*|Interleave.*|Deinterleave.*"}
	pastTests       = tests{names: registryTests, operations: "CopyNonTemporal.*"}
	normTests       = tests{names: registryTests, operations: "RMSNorm(F|BF).*|ScaleRows.*"}
	addTests        = tests{names: registryTests, operations: "AddScaled.*"}
	biasTests       = tests{names: registryTests, operations: "AddRows.*|AddClamped.*|AddDistance.*|SubAbsoluteDistance.*"}
	productTests    = tests{names: registryTests, operations: "DotProducts.*|AddMultiples.*"}
	fusedTests      = tests{names: registryTests, operations: "RMSNormRotate.*"}
	sinusoidalTests = tests{names: "TestSinusoidalKernels|TestGuardSinusoidalKernels"}
	stateTests      = tests{names: "TestUpperHalvesInUse"}
	proofTests      = tests{names: "TestConstants", packages: "./proof"}
	assemblyText    = tests{names: "TestWordsDecode|TestNonTemporalStoresAreFenced|TestUpperHalvesAreCleared|TestReservedRegisters", packages: ".", module: "asm/_gen"}
)

const (
	amd64Rotate     = "asm/_gen/amd64/rotate.go"
	amd64CosSin     = "asm/_gen/amd64/cossin.go"
	amd64Element    = "asm/_gen/amd64/element.go"
	amd64Convert    = "asm/_gen/amd64/convert.go"
	amd64Layout     = "asm/_gen/amd64/layout.go"
	amd64Norm       = "asm/_gen/amd64/norm.go"
	amd64Add        = "asm/_gen/amd64/add.go"
	amd64Bias       = "asm/_gen/amd64/bias.go"
	amd64Product    = "asm/_gen/amd64/product.go"
	amd64Fused      = "asm/_gen/amd64/fused.go"
	amd64Sinusoidal = "asm/_gen/amd64/sinusoidal.go"
	amd64Copy       = "asm/_gen/amd64/copy.go"
	amd64Control    = "asm/_gen/amd64/control.go"
	amd64Emitter    = "asm/_gen/amd64/amd64.go"
	constants       = "asm/_gen/operation/constants.go"
)

var avx2Mutants = []mutant{
	// rotate
	{name: "avx2/rotate/sign", file: amd64Rotate, tests: rotateTests,
		old: `e.VSUBPS(x2s, x1, x1)`, new: `e.VADDPS(x2s, x1, x1)`,
		wrong: "x1*c + x2*s"},
	{name: "avx2/rotate/sine-for-cosine", file: amd64Rotate, tests: rotateTests,
		old: `e.VMULPS(c, x2, x2)`, new: `e.VMULPS(s, x2, x2)`,
		wrong: "x2*s for x2*c"},
	{name: "avx2/rotate/fma", file: amd64Rotate, tests: rotateTests,
		old: `	e.VMULPS(c, x1, x1)
	e.VMULPS(c, x2, x2)
	e.VSUBPS(x2s, x1, x1)
`, new: `	e.VMULPS(c, x2, x2)
	e.VFMSUB132PS(c, x2s, x1)
`,
		wrong: "x1*c is not rounded before the difference"},
	{name: "avx2/rotate/lanes", file: amd64Rotate, tests: rotateTests,
		old: `e.VPERMILPS(operand.Imm(0xb1), v, swapped)`, new: `e.VPERMILPS(operand.Imm(0x4e), v, swapped)`,
		wrong: "elements change places with those of the next pair"},
	{name: "avx2/rotate/both-sums", file: amd64Rotate, tests: rotateTests,
		old: `e.VADDSUBPS(swapped, v, v)`, new: `e.VADDPS(swapped, v, v)`,
		wrong: "the first of a pair is a sum"},
	{name: "avx2/rotate/head-stride", file: amd64Rotate, tests: rotateTests,
		old: `e.step(r.x, xHeadStride, b.x)`, new: `e.step(r.x, xHeadStride, b.y)`,
		wrong: "the stride of x in elements of y"},
	{name: "avx2/rotate/second-head", file: amd64Rotate, tests: rotateTests,
		old: `Index: e.argument(s.name + "HeadStride")`, new: `Index: e.argument("yHeadStride")`,
		wrong: "the second of two heads of x is where that of y is"},
	{name: "avx2/rotate/odd-head", file: amd64Rotate, tests: rotateTests,
		old: `operand.Mem{Base: head, Disp: 2}, next)`, new: `operand.Mem{Base: head, Disp: 1}, next)`,
		wrong: "a last head is rotated with one that is not there"},
	{name: "avx2/rotate/table-stride", file: amd64Rotate, tests: rotateTests,
		old: `e.step(sin, tableStride, float32s)`, new: `e.step(sin, tableStride, bfloat16s)`,
		wrong: "sines step half as far from token to token"},
	{name: "avx2/rotate/partner", file: amd64Rotate, tests: rotateTests,
		old: `second.Index, second.Scale = partner, uint8(t.bytes())`, new: `second.Index, second.Scale = partner, 4`,
		wrong: "16-bit partners twice as far away"},
	{name: "avx2/rotate/no-tokens", file: amd64Rotate, tests: rotateTests,
		old: `	e.JLT(operand.LabelRef(done))
	e.JNE(operand.LabelRef(many))
`, new: `	e.JNE(operand.LabelRef(many))
`,
		wrong: "no tokens are as many as 2^64"},
	{name: "avx2/rotate/nan-bits", file: amd64Rotate, tests: rotateTests,
		old: `if x == bfloat16s && len(c) == 2 {`, new: `if false {`,
		wrong: "a NaN of a table keeps bits that carry over"},
	{name: "avx2/rotate/no-heads", file: amd64Rotate, tests: rotateTests,
		old: `[]string{"heads", "pairs"}`, new: `[]string{"pairs"}`,
		wrong: "no heads are as many as 2^64"},

	// cossin
	{name: "avx2/cossin/quadrant", file: amd64CosSin, tests: cosSinTests,
		old: `e.VBLENDVPD(odd, c, s, sin)`, new: `e.VMOVUPD(s, sin)`,
		wrong: "no sine becomes a cosine"},
	{name: "avx2/cossin/cosine-sign", file: amd64CosSin, tests: cosSinTests,
		old: `	e.VPXOR(odd, negateSin, negateCos)
	e.VBLENDVPD(odd, s, c, cos)
`, new: `	e.VPAND(odd, negateSin, negateCos)
	e.VBLENDVPD(odd, s, c, cos)
`,
		wrong: "cosines are negated in the last quadrant only"},
	{name: "avx2/cossin/reduction", file: amd64CosSin, tests: cosSinTests,
		old: `e.VFMADD231PD(a.low, a.x, f[j])`, new: `_, _ = a.low, j`,
		wrong: "2/pi without its low part"},
	{name: "avx2/cossin/horner", file: amd64CosSin, tests: cosSinTests,
		old: `for i := 5; i >= 0; i-- {`, new: `for i := 4; i >= 0; i-- {`,
		wrong: "a coefficient is left out"},
	{name: "avx2/cossin/zero-sign", file: amd64CosSin, tests: cosSinTests,
		old: `t := e.newQuarterTurns(false)`, new: `t := e.newQuarterTurns(true)`,
		wrong: "the sine of the float32 -0 is +0"},
	{name: "avx2/cossin/no-ziv", file: amd64CosSin, tests: cosSinTests,
		old: `e.VPOR(lower, z.undecided, z.undecided)`, new: ``,
		wrong: "Ziv's test is not made"},
	{name: "avx2/cossin/one-sided", file: amd64CosSin, tests: cosSinTests,
		old: `e.VSUBPD(bound, v, lower)`, new: `e.VMOVAPD(v, lower)`,
		wrong: "Ziv's interval has no lower half"},
	{name: "avx2/cossin/ziv-half", file: amd64CosSin, tests: cosSinTests,
		old: `e.data("half29", 8, 1<<28)`, new: `e.data("half29", 8, 1<<27)`,
		wrong: "Ziv's test looks for another midpoint"},
	{name: "avx2/cossin/ziv-mask", file: amd64CosSin, tests: cosSinTests,
		old: `^uint64(1<<29-1)`, new: `^uint64(1<<30-1)`,
		wrong: "Ziv's test misses the last bit of a float32"},
	{name: "avx2/cossin/margin-size", file: amd64CosSin, tests: cosSinTests,
		old: `e.VMULPD(r.at(margin, 8), size, error)`, new: `e.VMOVUPD(r.at(margin, 8), error)`,
		wrong: "the error bound of a sine forgets the position"},
	{name: "avx2/cossin/margin-cap", file: amd64CosSin, tests: cosSinTests,
		old: `			e.VMINPD(bound, error, error)
			cos[j], sin[j]`, new: `			cos[j], sin[j]`,
		wrong: "the error bound of a sine grows beyond 2^-49: right, slow"},
	{name: "avx2/cossin/seed-reach", file: amd64CosSin, tests: cosSinTests,
		old: `e.VMULPD(at(margin), reach, error)`, new: `e.VMOVUPD(at(margin), error); _ = reach`,
		wrong: "the error bound of a seed forgets the position"},
	{name: "avx2/cossin/seed-cap", file: amd64CosSin, tests: cosSinTests,
		old: `	e.VMINPD(bound, error, error)
	e.VMOVUPD(cos, at(cosTo))
`, new: `	e.VMOVUPD(cos, at(cosTo)); _ = bound
`,
		wrong: "the error bound of a seed grows beyond 2^-49: right, slow"},
	{name: "avx2/cossin/shift-sign", file: amd64CosSin, tests: cosSinTests,
		old: `e.VFNMADD231PD(sinA, sinB, c)`, new: `e.VFMADD231PD(sinA, sinB, c)`,
		wrong: "cos(a-b) for cos(a+b)"},
	{name: "avx2/cossin/shift-swap", file: amd64CosSin, tests: cosSinTests,
		old: `e.VMULPD(sinA, cosB, s)`, new: `e.VMULPD(sinA, sinB, s)`,
		wrong: "a sine for a cosine in the shift"},
	{name: "avx2/cossin/shift-row", file: amd64CosSin, tests: cosSinTests,
		old: `e.ADDQ(operand.U32(2*plane), shift)`, new: `e.ADDQ(operand.U32(plane), shift)`,
		wrong: "rows of the shift half as far apart"},
	{name: "avx2/cossin/shift-stride", file: amd64CosSin, tests: cosSinTests,
		old: `e.ADDQ(stride, r.sin)`, new: `e.ADDQ(operand.Imm(4), r.sin)`,
		wrong: "rows of sines one element apart"},
	{name: "avx2/cossin/shift-goes-on", file: amd64CosSin, tests: cosSinTests,
		old: `	e.testBits(z.undecided, z.mask)
	e.JNZ(operand.LabelRef(exit))
	e.ADDQ`, new: `	e.ADDQ`,
		wrong: "the shift does not stop at a row that is undecided"},
	{name: "avx2/cossin/shift-bound", file: amd64CosSin, tests: cosSinTests,
		old: `append(sin, e.round(z, s, error))`, new: `append(sin, e.round(z, s, bound))`,
		wrong: "small sines with the error bound of large ones: right, slow"},
	{name: "avx2/cossin/shift-clear", file: amd64CosSin, tests: cosSinTests,
		old: `	e.clear(z.undecided)
	e.XORQ(r.i, r.i)
	e.MOVQ(n, r.n)
`, new: `	e.XORQ(r.i, r.i)
	e.MOVQ(n, r.n)
`,
		wrong:    "what Ziv's test noted is not cleared for a row",
		harmless: "a row with a bit of the mask is the last, and other bits do not count"},
	{name: "avx2/cossin/float32-limit", file: amd64CosSin, tests: cosSinTests,
		old: `e.wide32("two50", 0x58800000)`, new: `e.wide32("two50", 0x59800000)`,
		wrong: "float32 angles up to 2^52 are not left to plain Go"},
	{name: "avx2/cossin/float32-nan", file: amd64CosSin, tests: cosSinTests,
		old: `const notLess = 5`, new: `const notLess = 13`,
		wrong:    "a NaN is not left to plain Go",
		harmless: "the kernel's arithmetic makes NaN of it too"},
	{name: "avx2/cossin/scale", file: amd64CosSin, tests: cosSinTests,
		old: `e.VMULPS(r.scaleSin, sin[j], sin[j])`, new: `e.VMULPS(r.scaleCos, sin[j], sin[j])`,
		wrong: "sines are scaled as cosines are"},
	{name: "avx2/cossin/last-part", file: amd64CosSin, tests: cosSinTests,
		old: `e.JLT(operand.LabelRef(part))`, new: `e.JLE(operand.LabelRef(part))`,
		wrong: "a last whole part is taken for no part"},
	{name: "avx2/cossin/store-half", file: amd64Emitter, tests: cosSinTests,
		old: `e.VPSRLDQ(operand.Imm(8), v, v)`, new: `e.VPSRLDQ(operand.Imm(4), v, v)`,
		wrong: "the third entry of a last part is the second"},
	{name: "avx2/cossin/load-half", file: amd64Emitter, tests: cosSinTests,
		old: `Index: count, Scale: 4, Disp: -4}`, new: `Index: count, Scale: 4}`,
		wrong: "a frequency beyond the last is loaded"},
	{name: "avx2/cossin/coefficient", file: constants, tests: cosSinTests,
		old: `-0x1.3bd3cc9be459dp+0`, new: `-0x1.3bd3cc9be479dp+0`,
		wrong: "a coefficient of the cosine is off by 2^-43"},
	{name: "generator/constants/bit", file: constants, tests: proofTests,
		old: `0x1.03c1f081b0e01p-2`, new: `0x1.03c1f081b0e02p-2`,
		wrong: "a coefficient of the cosine is off by its last bit"},

	// convert
	{name: "avx2/convert/signalling-nan", file: amd64Convert, tests: copyTests,
		old: `quiet(even, odd)`, new: `quiet(even)`,
		wrong: "a signalling NaN becomes an infinity"},
	{name: "avx2/convert/signalling-nan-tail", file: amd64Convert, tests: copyTests,
		old: `				quiet(v)
`, new: ``,
		wrong: "a signalling NaN at the end of a row becomes an infinity"},
	{name: "avx2/convert/stride", file: amd64Convert, tests: copyTests,
		old: `uint32(x.bytes()*block.size)`, new: `uint32(y.bytes()*block.size)`,
		wrong: "x advances by the bytes of y"},
	{name: "avx2/convert/tail", file: amd64Convert, tests: copyTests,
		old: `whole(4, 1)`, new: `whole(4)`,
		wrong: "the last elements are left out"},
	{name: "avx2/convert/bfloat16-shift", file: amd64Element, tests: copyTests,
		old: `e.VPSLLD(operand.Imm(16), v, v)`, new: `e.VPSLLD(operand.Imm(15), v, v)`,
		wrong: "a bfloat16 is widened to another place"},
	{name: "avx2/convert/float16-truncated", file: amd64Element, tests: copyTests,
		old: `const nearest = operand.U8(0)`, new: `const nearest = operand.U8(3)`,
		wrong: "float16 is truncated, not rounded"},
	{name: "avx2/convert/float16-current-rounding", file: amd64Element, tests: copyTests,
		old: `const nearest = operand.U8(0)`, new: `const nearest = operand.U8(4)`,
		wrong:    "float16 is rounded as the thread rounds",
		harmless: "Go's threads round to nearest, and all other arithmetic relies on it"},
	{name: "avx2/convert/bfloat16-ties", file: amd64Element, tests: copyTests,
		old: `e.VPANDN(e.turns.one, upper, words[i])`, new: `e.VPAND(e.turns.one, upper, words[i])`,
		wrong: "ties of bfloat16 go to odd"},
	{name: "avx2/convert/bfloat16-nan", file: amd64Element, tests: copyTests,
		old: `e.VPMAXUW(uppers[i], up, up)`, new: ``,
		wrong: "the negative NaN of ones becomes a zero"},
	{name: "avx2/convert/bfloat16-carry", file: amd64Element, tests: copyTests,
		old: `e.VPADDSW(up, uppers[i], up)`, new: `e.VPADDW(up, uppers[i], up)`,
		wrong: "the NaN of ones becomes -0"},
	{name: "avx2/convert/bfloat16-borrow", file: amd64Element, tests: copyTests,
		old: `e.VPSUBUSW(up, lowers[i], up)`, new: `e.VPSUBW(up, lowers[i], up)`,
		wrong: "a number without lower bits is rounded up"},
	{name: "avx2/convert/store-too-far", file: amd64Element, tests: copyTests,
		old: `e.VPEXTRW(operand.Imm(0), v, to)`, new: `e.VMOVD(v, to)`,
		wrong: "the last 16 bits are stored as 32"},
	{name: "avx2/convert/load-too-far", file: amd64Element, tests: copyTests,
		old: `		e.VMOVSS(from, v)
	case p.size == 2:
		e.VMOVSD(from, v)
	default:
		e.VMOVUPS(from, v)
	}
	return v
}

// save stores`, new: `		e.VMOVSD(from, v)
	case p.size == 2:
		e.VMOVSD(from, v)
	default:
		e.VMOVUPS(from, v)
	}
	return v
}

// save stores`,
		wrong: "the last float32 is loaded as two"},
	{name: "avx2/convert/load-four-too-far", file: amd64Element, tests: rotateTests,
		old: `		e.VMOVQ(from, v)
	default:`, new: `		e.VMOVUPS(from, v)
	default:`,
		wrong: "four times 16 bits are loaded as eight"},
	{name: "avx2/convert/one-upper-lanes", file: amd64Element, tests: copyTests,
		old: `		e.VPXOR(v, v, v)
		e.VPINSRW`, new: `		e.VPXOR(v, v, v)
		e.VPINSRW(operand.Imm(1), from, v, v)
		e.VPINSRW`,
		wrong:    "beside a single number lies another",
		harmless: "the other lanes are not stored"},
	{name: "avx2/convert/span", file: amd64Element, tests: copyTests,
		old: `e.JGE(operand.LabelRef(loop))`, new: `e.JG(operand.LabelRef(loop))`,
		wrong: "the last of the single elements is left out"},

	// layout
	{name: "avx2/layout/odds", file: amd64Layout, tests: copyTests,
		old: `l.e.VSHUFPS(operand.U8(0xdd), high, low, odd)`, new: `l.e.VSHUFPS(operand.U8(0x88), high, low, odd)`,
		wrong: "the even elements for the odd"},
	{name: "avx2/layout/words", file: amd64Layout, tests: copyTests,
		old: `[]uint16{0, 2, 4, 6, 1, 3, 5, 7}`, new: `[]uint16{0, 2, 4, 6, 1, 3, 7, 5}`,
		wrong: "two words change places"},
	{name: "avx2/layout/lanes", file: amd64Layout, tests: copyTests,
		old: `l.e.VPERM2F128(operand.U8(0x31), odd, even, high)`, new: `l.e.VPERM2F128(operand.U8(0x13), odd, even, high)`,
		wrong: "two times 16 bytes change places"},
	{name: "avx2/layout/quarters", file: amd64Element, tests: copyTests,
		old: `from.Offset(48)`, new: `from.Offset(32)`,
		wrong: "the last 16 bytes are not read"},
	{name: "avx2/layout/second-half", file: amd64Layout, tests: copyTests,
		old: `Disp: bytes * l.width}`, new: `Disp: bytes * l.width / 2}`,
		wrong: "the second vector is stored over the first"},
	{name: "avx2/layout/store-too-far", file: amd64Layout, tests: copyTests,
		old: `l.e.MOVW(v.As16(), to)`, new: `l.e.MOVL(v, to)`,
		wrong: "the last 16 bits are stored as 32"},
	{name: "avx2/layout/load-too-far", file: amd64Layout, tests: copyTests,
		old: `l.e.MOVWLZX(from, v)`, new: `l.e.MOVL(from, v)`,
		wrong: "the last 16 bits are loaded as 32"},

	// norm
	{name: "avx2/norm/fma", file: amd64Norm, tests: normTests,
		old: `		e.VMULPS(v, v, v)
		e.VADDPS(v, sum, sum)
`, new: `		e.VFMADD231PS(v, v, sum)
`,
		wrong: "squares are not rounded before the sum"},
	{name: "avx2/norm/order", file: amd64Norm, tests: normTests,
		old: `	for i, list := range parts {
		f := places[i].factor(list[0])
		for _, v := range list {
			e.VMULPS(f, v, v)
		}
	}
	for i, list := range parts {
		for j, v := range list {
			e.VMULPS(places[i].weights[j], v, v)
		}
	}
`, new: `	for i, list := range parts {
		f := places[i].factor(list[0])
		for j, v := range list {
			e.VMULPS(places[i].weights[j], v, v)
			e.VMULPS(f, v, v)
		}
	}
`,
		wrong: "the weight is multiplied before the inverse"},
	{name: "avx2/norm/lane", file: amd64Norm, tests: normTests,
		old: `e.VBROADCASTSS(from.Offset(4*i), v)`, new: `e.VBROADCASTSS(from.Offset(4*(i^1)), v)`,
		wrong: "a row takes the inverse of another"},
	{name: "avx2/norm/sum", file: amd64Norm, tests: normTests,
		old: `e.VSHUFPS(odds, pairs[1], pairs[0], odd)`, new: `e.VSHUFPS(evens, pairs[1], pairs[0], odd)`,
		wrong: "half of the squares count twice, half not at all"},
	{name: "avx2/norm/sum-of-one", file: amd64Norm, tests: normTests,
		old: `		e.VMOVHLPS(sum, sum, upper) // +2
		e.VADDPS(upper, sum, sum)
		e.VMOVSHDUP(sum, upper) // +1
`, new: `		e.VMOVSHDUP(sum, upper)
		e.VADDPS(upper, sum, sum)
		e.VMOVHLPS(sum, sum, upper)
`,
		wrong: "the sums of a single row in another order"},
	{name: "avx2/norm/epsilon", file: amd64Norm, tests: normTests,
		old: `	e.VADDPS(epsilon, sum, sum)
	e.VSQRTPS(sum, sum)
`, new: `	e.VSQRTPS(sum, sum)
	e.VADDPS(epsilon, sum, sum)
`,
		wrong: "epsilon is added after the root"},
	{name: "avx2/norm/tail", file: amd64Norm, tests: normTests,
		old: `		e.VMOVUPS(zero, tail.memory.Offset(32))
`, new: ``,
		wrong: "what was on the stack is added to the squares"},
	{name: "avx2/norm/stride", file: amd64Norm, tests: normTests,
		old: `e.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 2}, l.stride3)`, new: `e.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 1}, l.stride3)`,
		wrong: "the fourth row is taken for the third"},
	{name: "avx2/norm/scale-rows", file: amd64Norm, tests: normTests,
		old: `	e.ADDQ(stride, x)
	e.DECQ(count)
`, new: `	_ = stride
	e.DECQ(count)
`,
		wrong: "the first row is scaled again and again"},

	// add
	{name: "avx2/add/fma", file: amd64Add, tests: addTests,
		old: `		e.VMULPS(as(scale, x), x, x)
		e.VADDPS(y, x, x)
`, new: `		e.VFMADD213PS(y, as(scale, x), x)
`,
		wrong: "the product is not rounded before the sum"},
	{name: "avx2/add/stride", file: amd64Add, tests: addTests,
		old: `e.ADDQ(operand.U32(uint32(4*block.size)), from)`, new: `e.ADDQ(operand.U32(uint32(t.bytes()*block.size)), from)`,
		wrong: "y advances by the bytes of x"},
	{name: "avx2/add/tail", file: amd64Add, tests: addTests,
		old: `whole(4, 1)`, new: `whole(4)`,
		wrong: "the last elements are left out"},
	{name: "avx2/add/sign", file: amd64Add, tests: addTests,
		old: `e.VADDPS(y, x, x)`, new: `e.VSUBPS(y, x, x)`,
		wrong: "y is subtracted"},

	// bias
	{name: "avx2/bias/magnitude", file: amd64Bias, tests: biasTests,
		old: `e.VANDPS(lanesOf(magnitude, bias), bias, bias)`, new: ``,
		wrong: "a distance for its magnitude"},
	{name: "avx2/bias/sign-of-rest", file: amd64Bias, tests: biasTests,
		old: `e.VSUBPS(bias, v, bias)`, new: `e.VADDPS(v, bias, bias)`,
		wrong: "at the end of a row magnitudes are added"},
	{name: "avx2/bias/lane", file: amd64Bias, tests: biasTests,
		old: `counts[j/e.lanes()]`, new: `counts[0]`,
		wrong: "the vectors of a block have the same distances"},
	{name: "avx2/bias/fma", file: amd64Bias, tests: biasTests,
		old: `		e.VMULPS(lanesOf(slope, bias), bias, bias)
`, new: `		if !absolute && p.size > 1 {
			v := e.load(float32s, p, nil, to)
			e.VFMADD231PS(lanesOf(slope, bias), bias, v)
			return v
		}
		e.VMULPS(lanesOf(slope, bias), bias, bias)
`,
		wrong: "slope*distance is not rounded before the sum"},
	{name: "avx2/bias/stride", file: amd64Bias, tests: biasTests,
		old: `e.IMULQ(xStride, from)`, new: `e.LEAQ(operand.Mem{Base: xStride, Disp: 4}, xStride); e.IMULQ(xStride, from)`,
		wrong: "rows of x too far apart"},
	{name: "avx2/bias/number", file: amd64Bias, tests: biasTests,
		old: `e.MOVLQSX(operand.Mem{Base: ids`, new: `e.MOVLQZX(operand.Mem{Base: ids`,
		wrong: "negative numbers of rows are large ones"},
	{name: "avx2/bias/last", file: amd64Bias, tests: biasTests,
		old: `e.VADDPS(toLast, lanesOf(first, distances), distances)`, new: `e.VADDPS(toLast, lanesOf(at, distances), distances); e.VADDPS(lanesOf(step, distances), distances, distances)`,
		wrong: "the last vector has the distances of the next row"},
	{name: "avx2/bias/last-after", file: amd64Bias, tests: biasTests,
		old: `		last := row.last(vector, end(y, n, vector))
		e.spans(left, sizes, block)
`, new: `		e.spans(left, sizes, block)
		last := row.last(vector, end(y, n, vector))
`,
		wrong: "what the last vector shares with the one before is added twice"},
	{name: "avx2/bias/before", file: amd64Bias, tests: biasTests,
		old: `e.XORL(start.As32(), start.As32())`, new: `e.MOVQ(operand.I32(-e.lanes()), start)`,
		wrong: "vectors before x are read from it"},
	{name: "avx2/bias/beyond", file: amd64Bias, tests: biasTests,
		old: `Disp: -operation.ClampedEnds}`, new: `Disp: 15 - operation.ClampedEnds}`,
		wrong: "a vector that goes beyond x is read from it"},
	{name: "avx2/bias/clamped", file: amd64Bias, tests: biasTests,
		old: `e.moveIf("LT", limit, from)`, new: ``,
		wrong: "a last vector before x is read from there"},
	{name: "avx2/bias/clamped-step", file: amd64Bias, tests: biasTests,
		old: `e.ADDQ(step.Addr, first)`, new: `e.SUBQ(step.Addr, first)`,
		wrong: "rows go the other way through x"},
	{name: "avx2/bias/step", file: amd64Bias, tests: biasTests,
		old: `e.VADDPS(step, first, first)`, new: `e.VSUBPS(step, first, first)`,
		wrong: "distances go the other way from row to row"},
	{name: "avx2/bias/advance", file: amd64Bias, tests: biasTests,
		old: `math.Float32bits(float32(size))`, new: `math.Float32bits(float32(size+1))`,
		wrong: "a distance is left out after each block"},

	// product
	{name: "avx2/product/fma", file: amd64Product, tests: productTests,
		old: `			e.VMULPS(load(l.row(i, 4*j)), v, product)
			e.VADDPS(product, sum, sum)
`, new: `			_ = product
			e.VFMADD231PS(load(l.row(i, 4*j)), v, sum)
`,
		wrong: "products are not rounded before the sum"},
	{name: "avx2/product/lane", file: amd64Product, tests: productTests,
		old: `sums[i][j/e.lanes()]`, new: `sums[i][0]`,
		wrong: "the upper lanes are summed with the lower"},
	{name: "avx2/product/rest", file: amd64Product, tests: productTests,
		old: `e.TESTQ(operand.U32(8), r.count)`, new: `e.TESTQ(operand.U32(4), r.count)`,
		wrong: "eight of the last elements are left out"},
	{name: "avx2/product/fewer", file: amd64Product, tests: productTests,
		old: `operand.Mem{Base: at, Disp: 16}, more)`, new: `operand.Mem{Base: at, Disp: 12}, more)`,
		wrong: "the fourth of the last elements is taken for the fifth"},
	{name: "avx2/product/stride", file: amd64Product, tests: productTests,
		old: `e.LEAQ(operand.Mem{Base: vectors, Index: l.stride, Scale: uint8(l.count)}, vectors)`, new: `e.LEAQ(operand.Mem{Base: vectors, Index: l.stride, Scale: 1}, vectors)`,
		wrong: "the next vectors begin with the second of these"},
	{name: "avx2/product/no-rows", file: amd64Product, tests: productTests,
		old: `		e.TESTQ(rows, rows)
		e.JZ(operand.LabelRef(done))
		e.Label(row)
`, new: `		e.Label(row)
`,
		wrong: "no rows are as many as 2^64"},
	{name: "avx2/product/fma-multiple", file: amd64Product, tests: productTests,
		old: `			e.VMULPS(factor, v, v)
			e.VADDPS(v, sums[i], sums[i])
`, new: `			e.VFMADD231PS(factor, v, sums[i])
`,
		wrong: "multiples are not rounded before the sum"},
	{name: "avx2/product/factor", file: amd64Product, tests: productTests,
		old: `e.ADDQ(operand.Imm(4), factors)`, new: ``,
		wrong: "all vectors have the factor of the first"},
	{name: "avx2/product/no-vectors", file: amd64Product, tests: productTests,
		old: `	e.CMPQ(e.argument("count"), operand.Imm(0))
	e.JE(operand.LabelRef(done))
`, new: ``,
		wrong: "no vectors are as many as 2^64"},

	// fused
	{name: "avx2/fused/pairs", file: amd64Fused, tests: fusedTests,
		old: `f.e.rotatePairs(x[0][0], x[1][0], c, s)`, new: `f.e.rotatePairs(x[1][0], x[0][0], c, s)`,
		wrong: "the first of a pair is taken for the second"},
	{name: "avx2/fused/weights", file: amd64Fused, tests: fusedTests,
		old: `table(operand.Mem{Base: f.weight, Index: partner, Scale: 4})`, new: `table(operand.Mem{Base: f.weight})`,
		wrong: "the second of a pair has the weight of the first"},
	{name: "avx2/fused/rest", file: amd64Fused, tests: fusedTests,
		old: `		e.ADDQ(f.left, f.left)
`, new: ``,
		wrong: "elements beyond the row are normalized"},
	{name: "avx2/fused/stride", file: amd64Fused, tests: fusedTests,
		old: `f.left, 4, second.at)`, new: `f.left, 2, second.at)`,
		wrong: "partners advance by half an element"},

	// sinusoidal
	{name: "avx2/sinusoidal/sign", file: amd64Sinusoidal, tests: sinusoidalTests,
		old: `s.e.VFNMADD231PD(sinA, sinB, c)`, new: `s.e.VFMADD231PD(sinA, sinB, c)`,
		wrong: "cos(a-b) for cos(a+b)"},
	{name: "avx2/sinusoidal/fma", file: amd64Sinusoidal, tests: sinusoidalTests,
		old: `			e.VMULPS(to, s.scale, x)
			e.VADDPS(x, v, v)
`, new: `			_ = x
			e.VFMADD231PS(to, s.scale, v)
`,
		wrong: "the product is not rounded before the sum"},
	{name: "avx2/sinusoidal/no-ziv", file: amd64Sinusoidal, tests: sinusoidalTests,
		old: `s.e.JMP(operand.LabelRef(s.exit))`, new: `s.e.JMP(operand.LabelRef(certain))`,
		wrong: "the long test decides nothing"},
	{name: "avx2/sinusoidal/short-test", file: amd64Sinusoidal, tests: sinusoidalTests,
		old: `			s.e.VPMAXUD(t, most, most)
`, new: ``,
		wrong: "only some of the entries are tested"},
	{name: "avx2/sinusoidal/done", file: amd64Sinusoidal, tests: sinusoidalTests,
		old: `e.ADDQ(s.i, done)`, new: ``,
		wrong: "pairs before an undecided one are made twice"},
	{name: "avx2/sinusoidal/tail", file: amd64Sinusoidal, tests: sinusoidalTests,
		old: `		s.e.SUBQ(s.i, left)
`, new: ``,
		wrong: "pairs beyond the row are written"},
	{name: "avx2/sinusoidal/scaling", file: amd64Sinusoidal, tests: sinusoidalTests,
		old: `s.e.VMULPS(s.scaling, v, v)`, new: `_ = v`,
		wrong: "sines and cosines are not scaled"},

	// copy
	{name: "avx2/copy/order", file: amd64Copy, tests: pastTests,
		old: `e.VMOVNTPS(v, operand.Mem{Base: y, Disp: 32 * i})`, new: `e.VMOVNTPS(v, operand.Mem{Base: y, Disp: 32 * (i ^ 1) % (32 * vectors)})`,
		wrong: "neighbours of 32 bytes change places"},
	{name: "avx2/copy/last", file: amd64Copy, tests: pastTests,
		old: `e.JLT(operand.LabelRef(done))`, new: `e.JLE(operand.LabelRef(done))`,
		wrong: "the last 32 bytes are left out"},
	{name: "avx2/copy/too-far", file: amd64Copy, tests: pastTests,
		old: `e.CMPQ(n, operand.Imm(uint64(8*vectors)))`, new: `e.CMPQ(n, operand.Imm(uint64(8*vectors-8)))`,
		wrong: "128 bytes are copied where 104 are left"},
	{name: "generator/copy/upper-halves", file: amd64Copy, tests: assemblyText,
		old: `	e.VZEROUPPER()
`, new: ``,
		wrong: "the upper halves of registers are not cleared"},
	{name: "generator/copy/no-fence", file: amd64Copy, tests: assemblyText,
		old: `	e.fence()
	e.RET()
`, new: `	e.RET()
`,
		wrong: "FenceStores is no fence"},

	// control
	{name: "avx2/control/clear", file: amd64Control, tests: stateTests,
		old: `func clearUpperHalves(e *emitter) {
	e.VZEROUPPER()
`, new: `func clearUpperHalves(e *emitter) {
`,
		wrong: "upper halves stay in use before plain Go"},
}
