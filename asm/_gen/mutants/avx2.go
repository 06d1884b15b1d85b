package main

// registryTests run over all operations.
const registryTests = "TestOperations|TestRounding|TestWidening|TestNothing|TestGuards|TestGuardHalves"

// The tests of the families of kernels.
var (
	rotateTests = tests{names: registryTests, operations: "Rotate.*"}
	cosSinTests = tests{names: "TestCosSinExactRow|TestCosSinExactRows|TestCosSinFloat32|TestGuards|TestUndecided|TestNearMidpoints|TestBeyondFloat32|TestShiftStops|TestSeedError",
		operations: "CosSin.*"}
	copyTests           = tests{names: registryTests, operations: "Convert.*|Interleave.*|Deinterleave.*"}
	nonTemporalTests    = tests{names: registryTests, operations: "CopyNonTemporal.*"}
	normTests           = tests{names: registryTests, operations: "RMSNorm(F|BF).*|ScaleRows.*"}
	addTests            = tests{names: registryTests, operations: "AddScaled.*"}
	biasTests           = tests{names: registryTests, operations: "AddRows.*|AddClamped.*|AddDistance.*|SubAbsoluteDistance.*"}
	productTests        = tests{names: registryTests, operations: "DotProducts.*|AddMultiples.*"}
	fusedTests          = tests{names: registryTests, operations: "RMSNormRotate.*"}
	sinusoidalTests     = tests{names: "TestSinusoidalRows|TestGuards", operations: "SinusoidalRows"}
	quantizeTests       = tests{names: registryTests + "|TestMagnitudes|TestQuotients|TestRounding8|TestWidening8|TestHardQuotients|TestScaleOfNaN|TestSmallScales", operations: "Quantize.*|Dequantize.*"}
	blocksTests         = tests{names: registryTests + "|TestMagnitudes|TestBlockTies", operations: "QuantizeBlocks.*|DequantizeBlocks.*"}
	fp4Tests            = tests{names: registryTests + "|TestFP4Ties|TestFP4Scales", operations: ".*FP4.*"}
	rotateQuantizeTests = tests{names: "TestOperations|TestLargestOfHeads", operations: "RotateQuantize.*"}
	affineTests         = tests{names: registryTests, operations: "Range.*|AffineScales.*|QuantizeAffine.*|DequantizeAffine.*|PackNibbles.*|UnpackNibbles.*"}
	hadamardTests       = tests{names: registryTests, operations: "Hadamard.*"}
	proofTests          = tests{names: "TestConstants", packages: "./generic/proof"}
	assemblyText        = tests{names: "TestWordsDecode|TestNonTemporalStoresAreFenced|TestUpperHalvesAreCleared|TestReservedRegisters", packages: ".", module: "asm/_gen"}
)

var avx2Mutants = []group{
	{"avx2/rotate", "asm/_gen/amd64/rotate.go", rotateTests, []fault{
		{"sign", "x1*c + x2*s", `e.VSUBPS(x2s, x1, x1)`, `e.VADDPS(x2s, x1, x1)`},
		{"cosine-for-sine", "x2*c for x2*s", `e.VMULPS(s, x2, x2s)`, `e.VMULPS(c, x2, x2s)`},
		{"fma", "x1*c is not rounded before the difference", `e.VMULPS(c, x1, x1); e.VMULPS(c, x2, x2); e.VSUBPS(x2s, x1, x1)`, `e.VMULPS(c, x2, x2); e.VFMSUB132PS(c, x2s, x1)`},
		{"lanes", "elements change places with those of the next pair", `e.VPERMILPS(operand.Imm(0xb1), v, swapped)`, `e.VPERMILPS(operand.Imm(0x4e), v, swapped)`},
		{"both-sums", "the first of a pair is a sum", `e.VADDSUBPS(swapped, v, v)`, `e.VADDPS(swapped, v, v)`},
		{"head-stride", "the stride of x in elements of y", `e.step(r.x, xHeadStride, b.x)`, `e.step(r.x, xHeadStride, b.y)`},
		{"token-stride", "tokens of x are as far apart as those of y", `e.nextToken("x", "xTokenStride", b.x)`, `e.nextToken("x", "yTokenStride", b.x)`},
		{"token-units", "the stride of tokens of y in elements of x", `e.nextToken("y", "yTokenStride", b.y)`, `e.nextToken("y", "yTokenStride", b.x)`},
		{"last-token", "a token after the last is rotated", `e.DECQ(e.parameter("tokens")); e.JZ(operand.LabelRef(done))`, `e.DECQ(e.parameter("tokens")); e.JLT(operand.LabelRef(done))`},
		{"table-stride", "sines are half as far apart from token to token", `e.nextToken("sin", "tableStride", float32s)`, `e.nextToken("sin", "tableStride", bfloat16s)`},
		{"table-block", "after a block sines advance by those of its elements", `e.ADDQ(operand.U32(uint32(4*block.size)), r.sin)`, `e.ADDQ(operand.U32(uint32(4*b.elements*block.size)), r.sin)`},
		{"block", "x advances by the bytes of y", `e.ADDQ(operand.U32(uint32(bytes)), x)`, `e.ADDQ(operand.U32(uint32(b.y.bytes()*b.elements*block.size)), x)`},
		{"heads-again", "a block begins where the heads of the one before end", `e.MOVQ(y, r.y)`, `e.LEAQ(operand.Mem{Base: r.y}, r.y); _ = y`},
		{"sizes", "the last pairs are left out", `sizes: whole(16, 4, 2, 1)`, `sizes: whole(16, 4, 2)`},
		{"double", "the second sines of a block twice as far away", `e.double(p, operand.Mem{Base: r.sin, Disp: 2 * p.size * j})`, `e.double(p, operand.Mem{Base: r.sin, Disp: 4 * p.size * j})`},
		{"double-pair", "two pairs have the table entries of the first", `e.VUNPCKLPS(v, v, v)`, `e.VMOVSLDUP(v, v)`},
		{"partner", "16-bit partners twice as far away", `second.Index, second.Scale = partner, uint8(t.bytes())`, `second.Index, second.Scale = partner, 4`},
		{"no-tokens", "no tokens are one", `[]string{"heads", "pairs", "tokens"}`, `[]string{"heads", "pairs"}`},
		{"nan-bits", "a NaN of a table keeps bits that carry over", `if x == bfloat16s && len(c) == 2 {`, `if false {`},
		{"no-heads", "no heads are as many as 2^64", `[]string{"heads", "pairs", "tokens"}`, `[]string{"pairs", "tokens"}`},
	}},
	{"avx2/cossin", "asm/_gen/amd64/cossin.go", cosSinTests, []fault{
		{"quadrant", "no sine becomes a cosine", `e.VBLENDVPS(odd, c, s, sin)`, `e.VMOVUPS(s, sin)`},
		{"quadrant-bit", "sines become cosines by another bit of the quarter turns", `e.VPSLLD(operand.Imm(31), q, odd)`, `e.VPSLLD(operand.Imm(30), q, odd)`},
		{"cosine-sign", "cosines have the signs of sines", `{{cos, t.cosineSigns}, {sin, t.sineSigns}}`, `{{cos, t.sineSigns}, {sin, t.sineSigns}}`},
		{"sine-signs", "sines are negated in the second quadrant too", `return q >> 1 << 31`, `return (q + 1) >> 1 << 31`},
		{"narrow", "two vectors of quadrants in the order of their lanes", `e.VPERMQ(operand.Imm(0xd8), narrow, narrow)`, ``},
		{"narrow-bits", "the upper bits of the quarter turns for the lower", `e.VSHUFPS(operand.Imm(0x88), q[j+1], q[j], narrow)`, `e.VSHUFPS(operand.Imm(0xdd), q[j+1], q[j], narrow)`},
		{"narrow-one", "the upper quadrants of a vector before the lower", `e.VSHUFPS(operand.Imm(0x88), narrow, q[j].AsX(), narrow)`, `e.VSHUFPS(operand.Imm(0x88), q[j].AsX(), narrow, narrow)`},
		{"joined", "the second of two vectors before the first", `e.joined(c, e.round32(v.c[j+1]))`, `e.joined(e.round32(v.c[j+1]), c)`},
		{"seed-quadrant", "no sine of a seed becomes a cosine", `e.VBLENDVPD(odd, c, s, sin)`, `e.VMOVUPD(s, sin)`},
		{"seed-sign", "cosines of a seed are negated in the last quadrant only", `e.VPXOR(odd, negateSin, negateCos); e.VBLENDVPD(odd, s, c, cos)`, `e.VPAND(odd, negateSin, negateCos); e.VBLENDVPD(odd, s, c, cos)`},
		{"reduction", "2/pi without its low part", `e.VFMADD231PD(a.low, a.x, f[j])`, `_, _ = a.low, j`},
		{"horner", "a coefficient is left out", `for i := 5; i >= 0; i-- {`, `for i := 4; i >= 0; i-- {`},
		{"zero-sign", "the sine of the float32 -0 is +0", `t := e.newQuarterTurns(4, false)`, `t := e.newQuarterTurns(4, true)`},
		{"seed-reach", "the error bound of a seed forgets the position", `e.VMULPD(at(margin, j), reach, error)`, `e.VMOVUPD(at(margin, j), error); _ = reach`},
		{"seed-cap", "the error bound of a seed grows beyond 2^-49: right, slow", `e.VMINPD(bound, error, error); e.VMOVUPD(cos, at(cosTo, j))`, `e.VMOVUPD(cos, at(cosTo, j)); _ = bound`},
		{"margin-size", "the error bound of a sine forgets the position", `e.VMULPD(rows[j].at(margin, 8), error, error)`, `e.VMOVUPD(rows[j].at(margin, 8), error)`},
		{"margin-row", "all vectors have the error bounds of the first", `e.VMULPD(rows[j].at(margin, 8), error, error)`, `e.VMULPD(rows[0].at(margin, 8), error, error)`},
		{"margin-cap", "the error bound of a sine grows beyond 2^-49: right, slow", `e.VMINPD(z.margin, error, error)`, ``},
		{"float32-limit", "float32 angles up to 2^52 are not left to plain Go", `e.wide32("below50", 0x587fffff)`, `e.wide32("below50", 0x597fffff)`},
		{"float32-largest", "no angle is left to plain Go", `e.VPMAXUD(other, v, v)`, `e.VMOVUPS(other, v)`},
		{"float32-sign", "negative angles are left to plain Go: right, slow", `e.VANDPS(magnitude, angle, v)`, `_ = magnitude; e.VMOVUPS(angle, v)`},
		{"float32-halves", "the angles of a vector change places", `[]operand.Op{angle.AsX(), upper}`, `[]operand.Op{upper, angle.AsX()}`},
		{"float32-plain", "the angles of a vector that nothing multiplies change places", `rows[0].at(invFreq, 4), rows[1].at(invFreq, 4)`, `rows[1].at(invFreq, 4), rows[0].at(invFreq, 4)`},
		{"float32-factors", "only the position decides whether something is multiplied", `e.factors("position", "scaleCos", "scaleSin")`, `e.factors("position")`},
		{"scale", "sines are scaled as cosines are", `s.multiply("scaleSin", s.sin, sin[j])`, `s.multiply("scaleCos", s.sin, sin[j])`},
		{"ahead", "further frequencies of an iteration at half the distance", `Disp: r.ahead * size}`, `Disp: r.ahead * 4}`},
		{"last-part", "a last whole part is taken for no part", `e.SUBQ(entries, r.n); e.JLT(operand.LabelRef(next))`, `e.SUBQ(entries, r.n); e.JLE(operand.LabelRef(next))`},
		{"last-group", "the last group is that before it", `e.end(r, rows, v, s); e.ADDQ(entries, r.i)`, `e.end(r, rows, v, s)`},
		{"next-group", "a group has the quadrants of the one before", `e.VMOVAPS(following[j].quadrant[k], v.quadrant[k])`, `_ = k`},
		{"next-group-begins", "a group is begun again", `following := append(begun[1:ahead:ahead], begin(ahead))`, `following := append(begun[1:ahead:ahead], begin(ahead-1))`},
	}},
	{"avx2/cossin", "asm/_gen/amd64/ziv.go", cosSinTests, []fault{
		{"no-ziv", "what the long test notes is forgotten", `e.VORPD(lower, undecided, undecided)`, ``},
		{"one-sided", "Ziv's interval has no lower half", `e.VSUBPD(bound, v, lower)`, `e.VMOVAPD(v, lower)`},
		{"ziv-half", "Ziv's test looks for another midpoint", `e.data("half29", 8, 1<<28)`, `e.data("half29", 8, 1<<27)`},
		{"ziv-mask", "Ziv's test misses the last bit of a float32", `^uint64(1<<29-1)`, `^uint64(1<<30-1)`},
		{"short-test", "only some of the entries are tested", `e.VPMAXUD(t, most, most)`, ``},
		{"only-cosines", "the short test leaves out sines", `[]reg.VecVirtual{cos[j], sin[j]}`, `[]reg.VecVirtual{cos[j]}`},
		{"short-margin", "the short test supposes half of the error", `math.Ldexp(bound, 52-exponent+3)`, `math.Ldexp(bound, 52-exponent+2)`},
		{"short-least", "entries too small for the short test take it", `-uint32((1023+exponent)<<21)`, `-uint32((1023+exponent-20)<<21)`},
		{"no-long", "the long test is not taken", `e.JNZ(operand.LabelRef(long))`, ``},
		{"long-sine", "the long test leaves out sines", `undecided = z.doubt(undecided, sin[j], bound(j))`, `_ = bound`},
		{"goes-on", "the long test decides nothing", `e.JMP(operand.LabelRef(exit))`, `e.JMP(operand.LabelRef(certain))`},
	}},
	{"avx2/cossin", "asm/_gen/amd64/shift.go", cosSinTests, []fault{
		{"shift-sign", "cos(a-b) for cos(a+b)", `e.VFNMADD231PD(sinA, sinB, c)`, `e.VFMADD231PD(sinA, sinB, c)`},
		{"shift-swap", "a sine for a cosine in the shift", `e.VMULPD(sinA, cosB, v)`, `e.VMULPD(sinA, sinB, v)`},
		{"shift-row", "rows of the shift half as far apart", `e.ADDQ(operand.U32(2*plane), s.shift)`, `e.ADDQ(operand.U32(plane), s.shift)`},
		{"shift-stride", "rows one element apart", `e.ADDQ(stride, to)`, `_ = stride; e.ADDQ(operand.Imm(4), to)`},
		{"shift-bound", "small sines with the error bound of large ones: right, slow", `return at(s.seed, j, 2)`, `return s.ziv.margin`},
		{"shift-scale", "no row is scaled", `e.JZ(operand.LabelRef(unscaled))`, `e.JMP(operand.LabelRef(unscaled))`},
		{"shift-factors", "only the factor of cosines decides whether rows are scaled", `for _, name := range names {`, `for _, name := range names[:1] {`},
		{"shift-loops", "rows that are scaled are also written without", `e.JMP(operand.LabelRef(rest))`, ``},
		{"shift-last", "a last whole vector is taken for a part", `e.SUBQ(width, left); e.JGE(operand.LabelRef(label))`, `e.SUBQ(width, left); e.JG(operand.LabelRef(label))`},
		{"shift-order", "the two halves of a vector of sines change places", `e.joined(e.round32(sin[0]), e.round32(sin[1]))}`, `e.joined(e.round32(sin[1]), e.round32(sin[0]))}`},
		{"non-temporal", "sines over cosines where stores are non-temporal", `e.VMOVNTPS(v, at(to[j]))`, `e.VMOVNTPS(v, at(to[0]))`},
		{"shift-upper", "the fifth entry of a last part is the first", `e.VEXTRACTF128(operand.Imm(1), v, part)`, `e.VEXTRACTF128(operand.Imm(0), v, part)`},
	}},
	{"avx2/cossin", "asm/_gen/amd64/amd64.go", cosSinTests, []fault{
		{"store-half", "the third entry of a last part is the second", `e.VPSRLDQ(operand.Imm(8), v, v)`, `e.VPSRLDQ(operand.Imm(4), v, v)`},
		{"load-half", "a frequency beyond the last is loaded", `Index: count, Scale: 4, Disp: -4}`, `Index: count, Scale: 4}`},
	}},
	{"avx2/cossin", "kernels/cossin.go", cosSinTests, []fault{
		{"aligned", "rows are misaligned for their non-temporal stores", `address%64 == 0`, `address%4 == 0`},
		{"aligned-rows", "rows but the first are misaligned for their non-temporal stores", `(stride|n)%16 == 0`, `n%16 == 0`},
	}},
	{"avx2/cossin", "asm/_gen/operation/constants.go", cosSinTests, []fault{
		{"coefficient", "a coefficient of the cosine is off by 2^-43", `-0x1.3bd3cc9be459dp+0`, `-0x1.3bd3cc9be479dp+0`},
	}},
	{"generator/constants", "asm/_gen/operation/constants.go", proofTests, []fault{
		{"bit", "a coefficient of the cosine is off by its last bit", `0x1.03c1f081b0e01p-2`, `0x1.03c1f081b0e02p-2`},
	}},
	{"avx2/convert", "asm/_gen/amd64/convert.go", copyTests, []fault{
		{"signalling-nan", "a signalling NaN becomes an infinity", `range list { // makes NaNs quiet`, `range list[:1] { //`},
		{"signalling-nan-tail", "a signalling NaN at the end of a row becomes an infinity", `if y == bfloat16s {; for`, `if y == bfloat16s && p.size > 1 { for`},
		{"stride", "x advances by the bytes of y", `uint32(x.bytes()*block.size)`, `uint32(y.bytes()*block.size)`},
	}},
	{"avx2/convert", "asm/_gen/amd64/element.go", copyTests, []fault{
		{"bfloat16-shift", "a bfloat16 is widened to another place", `e.VPSLLD(operand.Imm(16), v, v)`, `e.VPSLLD(operand.Imm(15), v, v)`},
		{"float16-truncated", "float16 is truncated, not rounded", `const nearest = operand.U8(0)`, `const nearest = operand.U8(3)`},
		{"float16-current-rounding", "float16 is rounded as the thread rounds", `const nearest = operand.U8(0)`, `const nearest = operand.U8(4)`},
		{"bfloat16-ties", "ties of bfloat16 go to odd", `e.VPANDN(e.evenOdd.one, upper, words[i])`, `e.VPAND(e.evenOdd.one, upper, words[i])`},
		{"bfloat16-nan", "the negative NaN of ones becomes a zero", `e.VPMAXUW(uppers[i], up, up)`, ``},
		{"bfloat16-carry", "the NaN of ones becomes -0", `e.VPADDSW(up, uppers[i], up)`, `e.VPADDW(up, uppers[i], up)`},
		{"bfloat16-borrow", "a number without lower bits is rounded up", `e.VPSUBUSW(up, lowers[i], up)`, `e.VPSUBW(up, lowers[i], up)`},
		{"store-too-far", "the last 16 bits are stored as 32", `e.VPEXTRW(operand.Imm(0), v, to)`, `e.VMOVD(v, to)`},
		{"load-too-far", "the last float32 is loaded as two", `e.VMOVSS(from, v)`, `e.VMOVSD(from, v)`},
		{"one-upper-lanes", "beside a single number lies another", `e.VPXOR(v, v, v); e.VPINSRW`, `e.VPXOR(v, v, v); e.VPINSRW(operand.Imm(1), from, v, v); e.VPINSRW`},
		{"span", "the last of the single elements is left out", `e.JGE(operand.LabelRef(loop))`, `e.JG(operand.LabelRef(loop))`},
	}},
	{"avx2/convert", "asm/_gen/amd64/element.go", rotateTests, []fault{
		{"load-four-too-far", "four times 16 bits are loaded as eight", `e.VMOVQ(from, v); default:`, `e.VMOVUPS(from, v); default:`},
	}},
	{"avx2/convert", "asm/_gen/amd64/norm.go", copyTests, []fault{
		{"tail", "the last elements are left out", `sizes := whole(8, 4, 1)`, `sizes := whole(8, 4)`},
	}},
	{"avx2/layout", "asm/_gen/amd64/layout.go", copyTests, []fault{
		{"odds", "the even elements for the odd", `l.e.VSHUFPS(operand.U8(0xdd), high, low, odd)`, `l.e.VSHUFPS(operand.U8(0x88), high, low, odd)`},
		{"words", "two words change places", `[]uint16{0, 2, 4, 6, 1, 3, 5, 7}`, `[]uint16{0, 2, 4, 6, 1, 3, 7, 5}`},
		{"lanes", "two times 16 bytes change places", `l.e.VPERM2F128(operand.U8(0x31), odd, even, high)`, `l.e.VPERM2F128(operand.U8(0x13), odd, even, high)`},
		{"second-half", "the second vector is stored over the first", `Disp: l.bytes * l.width}`, `Disp: l.bytes * l.width / 2}`},
		{"store-too-far", "the last 16 bits are stored as 32", `l.e.MOVW(v.As16(), to)`, `l.e.MOVL(v, to)`},
		{"load-too-far", "the last 16 bits are loaded as 32", `l.e.MOVWLZX(from, v)`, `l.e.MOVL(from, v)`},
	}},
	{"avx2/layout", "asm/_gen/amd64/element.go", copyTests, []fault{
		{"quarters", "the last 16 bytes are not read", `from.Offset(48)`, `from.Offset(32)`},
	}},
	{"avx2/norm", "asm/_gen/amd64/norm.go", normTests, []fault{
		{"fma", "squares are not rounded before the sum", `e.VMULPS(v, v, v); e.VADDPS(v, sum, sum)`, `e.VFMADD231PS(v, v, sum)`},
		{"order", "the weight is multiplied before the inverse", `for _, v := range list {; e.VMULPS(f, v, v); }; }; for i, list := range parts {; for j, v := range list {; e.VMULPS(places[i].weights[j], v, v)`, `for j, v := range list { e.VMULPS(places[i].weights[j], v, v); e.VMULPS(f, v, v)`},
		{"lane", "a row takes the inverse of another", `e.VBROADCASTSS(from.Offset(4*i), v)`, `e.VBROADCASTSS(from.Offset(4*(i^1)), v)`},
		{"sum", "half of the squares count twice, half not at all", `e.VSHUFPS(odds, pairs[1], pairs[0], odd)`, `e.VSHUFPS(evens, pairs[1], pairs[0], odd)`},
		{"sum-of-one", "the sums of a single row in another order", `e.VMOVHLPS(sum, sum, upper) // +2; e.VADDPS(upper, sum, sum); e.VMOVSHDUP(sum, upper) // +1`, `e.VMOVSHDUP(sum, upper); e.VADDPS(upper, sum, sum); e.VMOVHLPS(sum, sum, upper)`},
		{"epsilon", "epsilon is added after the root", `e.VADDPS(epsilon, sum, sum); e.VSQRTPS(sum, sum)`, `e.VSQRTPS(sum, sum); e.VADDPS(epsilon, sum, sum)`},
		{"tail", "where a row has no elements are ones", `e.VXORPS(zero, zero, zero)`, `e.VMOVUPS(e.wide32("one32", 0x3f800000), zero)`},
		{"stride", "the fourth row is taken for the third", `e.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 2}, l.stride3)`, `e.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 1}, l.stride3)`},
		{"scale-rows", "the first row is scaled again and again", `e.ADDQ(stride, x); e.DECQ(count)`, `_ = stride; e.DECQ(count)`},
	}},
	{"avx2/add", "asm/_gen/amd64/add.go", addTests, []fault{
		{"fma", "the product is not rounded before the sum", `e.VMULPS(lanesOf(scale, v), v, v); e.VADDPS(added[j], v, v)`, `e.VFMADD213PS(added[j], lanesOf(scale, v), v)`},
		{"stride", "y advances by the bytes of x", `e.ADDQ(operand.U32(uint32(4*block.size)), from)`, `e.ADDQ(operand.U32(uint32(t.bytes()*block.size)), from)`},
		{"sign", "y is subtracted", `e.VADDPS(added[j], v, v)`, `e.VSUBPS(added[j], v, v)`},
	}},
	{"avx2/add", "asm/_gen/amd64/norm.go", addTests, []fault{
		{"tail", "the last elements are left out", `sizes := whole(8, 4, 1)`, `sizes := whole(8, 4)`},
	}},
	{"avx2/bias", "asm/_gen/amd64/bias.go", biasTests, []fault{
		{"magnitude", "a distance for its magnitude", `e.VANDPS(lanesOf(magnitude, bias), bias, bias)`, ``},
		{"sign-of-rest", "at the end of a row magnitudes are added", `e.VSUBPS(bias, v, bias)`, `e.VADDPS(v, bias, bias)`},
		{"lane", "the vectors of a block have the same distances", `counts[j/e.lanes()]`, `counts[0]`},
		{"fma", "slope*distance is not rounded before the sum", `e.VMULPS(lanesOf(slope, bias), bias, bias)`, `if !absolute && p.size > 1 { v := e.load(float32s, p, nil, to); e.VFMADD231PS(lanesOf(slope, bias), bias, v); return v }; e.VMULPS(lanesOf(slope, bias), bias, bias)`},
		{"stride", "rows of x too far apart", `e.IMULQ(xStride, from)`, `e.LEAQ(operand.Mem{Base: xStride, Disp: 4}, xStride); e.IMULQ(xStride, from)`},
		{"number", "negative numbers of rows are large ones", `e.MOVLQSX(operand.Mem{Base: ids`, `e.MOVLQZX(operand.Mem{Base: ids`},
		{"last", "the last vector has the distances of the next row", `e.VADDPS(toLast, lanesOf(first, distances), distances)`, `e.VADDPS(toLast, lanesOf(first, distances), distances); e.VADDPS(lanesOf(step, distances), distances, distances)`},
		{"last-after", "what the last vector shares with the one before is added twice", `last := row.last(vector, end(y, n, vector)); e.spans(left, sizes, block)`, `e.spans(left, sizes, block); last := row.last(vector, end(y, n, vector))`},
		{"last-of-some", "rows of an odd multiple of 4 have no last vector", `e.TESTQ(operand.U32(uint32(vector.size-1)), n)`, `e.TESTQ(operand.U32(uint32(vector.size/2-1)), n)`},
		{"last-distances", "the last vector has the distances of one after it", `e.LEAQ(operand.Mem{Base: n, Disp: -e.lanes()}, before)`, `e.LEAQ(operand.Mem{Base: n}, before)`},
		{"clamped-last", "the last vector of a row is not stored", `e.VMOVUPS(last, end(y, n, vector))`, `_ = last`},
		{"before", "vectors before x are read from it", `e.XORL(start.As32(), start.As32())`, `e.MOVQ(operand.I32(-e.lanes()), start)`},
		{"beyond", "a vector that goes beyond x is read from it", `Disp: -operation.ClampedEnds}`, `Disp: 15 - operation.ClampedEnds}`},
		{"clamped", "a last vector before x is read from there", `e.moveIf("LT", limit, from)`, ``},
		{"clamped-step", "rows go the other way through x", `e.ADDQ(step, first)`, `e.SUBQ(step, first)`},
		{"step", "distances go the other way from row to row", `e.VADDPS(step, first, first)`, `e.VSUBPS(step, first, first)`},
		{"advance", "a distance is left out after each block", `math.Float32bits(float32(size))`, `math.Float32bits(float32(size+1))`},
	}},
	{"avx2/product", "asm/_gen/amd64/product.go", productTests, []fault{
		{"fma", "products are not rounded before the sum", `e.VMULPS(load(l.row(i, 4*j)), v, product); e.VADDPS(product, sum, sum)`, `_ = product; e.VFMADD231PS(load(l.row(i, 4*j)), v, sum)`},
		{"lane", "the upper lanes are summed with the lower", `sums[i][j/e.lanes()]`, `sums[i][0]`},
		{"rest", "eight of the last elements are left out", `e.jumpUnless(r.count, 8, short)`, `e.jumpUnless(r.count, 4, short)`},
		{"fewer", "the fourth of the last elements is taken for the fifth", `operand.Mem{Base: at, Disp: 16}, more)`, `operand.Mem{Base: at, Disp: 12}, more)`},
		{"stride", "the next vectors begin with the second of these", `e.LEAQ(operand.Mem{Base: vectors, Index: l.stride, Scale: uint8(l.count)}, vectors)`, `e.LEAQ(operand.Mem{Base: vectors, Index: l.stride, Scale: 1}, vectors)`},
		{"no-rows", "no rows are as many as 2^64", `e.jumpIfZero(rows, done); e.Label(row)`, `e.Label(row)`},
		{"fma-multiple", "multiples are not rounded before the sum", `e.VMULPS(factor, v, v); e.VADDPS(v, sums[i], sums[i])`, `e.VFMADD231PS(factor, v, sums[i])`},
		{"factor", "all vectors have the factor of the first", `e.ADDQ(operand.Imm(4), factors)`, ``},
		{"no-vectors", "no vectors are as many as 2^64", `e.CMPQ(e.argument("count"), operand.Imm(0)); e.JE(operand.LabelRef(done))`, ``},
	}},
	{"avx2/fused", "asm/_gen/amd64/fused.go", fusedTests, []fault{
		{"pairs", "the first of a pair is taken for the second", `f.e.rotatePairs(x[0][0], x[1][0], c, s)`, `f.e.rotatePairs(x[1][0], x[0][0], c, s)`},
		{"weights", "the second of a pair has the weight of the first", `table(operand.Mem{Base: f.weight, Index: partner, Scale: 4})`, `table(operand.Mem{Base: f.weight})`},
		{"rest", "elements beyond the row are normalized", `e.ADDQ(f.left, f.left)`, ``},
		{"stride", "partners advance by half an element", `f.left, 4, second.at)`, `f.left, 2, second.at)`},
	}},
	{"avx2/sinusoidal", "asm/_gen/amd64/sinusoidal.go", sinusoidalTests, []fault{
		{"fma", "the product is not rounded before the sum", `e.VMULPS(to, s.scale, x); e.VADDPS(x, v, v)`, `_ = x; e.VFMADD231PS(to, s.scale, v)`},
		{"done", "pairs before an undecided one are made twice", `e.ADDQ(s.i, done)`, ``},
		{"tail", "pairs beyond the row are written", `s.e.SUBQ(s.i, left)`, ``},
		{"scaling", "sines and cosines are not scaled", `s.e.VMULPS(s.scaling, v, v)`, `_ = v`},
	}},
	{"avx2/sinusoidal", "asm/_gen/amd64/shift.go", sinusoidalTests, []fault{
		{"sign", "cos(a-b) for cos(a+b)", `e.VFNMADD231PD(sinA, sinB, c)`, `e.VFMADD231PD(sinA, sinB, c)`},
	}},
	{"avx2/sinusoidal", "asm/_gen/amd64/ziv.go", sinusoidalTests, []fault{
		{"no-ziv", "the long test decides nothing", `e.JMP(operand.LabelRef(exit))`, `e.JMP(operand.LabelRef(certain))`},
		{"short-test", "only some of the entries are tested", `e.VPMAXUD(t, most, most)`, ``},
	}},
	{"avx2/quantize", "asm/_gen/amd64/quantize.go", quantizeTests, []fault{
		{"halves", "halves go to even", `q.e.VPOR(q.lastBit, v, v)`, ``},
		{"zero", "a block of zeros has codes of what is not finite", `q.e.JEQ(operand.LabelRef(rare))`, ``},
		{"finite", "the inverse of a d of 0 is infinite", `q.e.VPAND(finite, inverse, inverse)`, ``},
		{"canonical", "a NaN keeps bits as the d of a block", `q.e.VPMINUD(q.e.wide32("nan32", 0x7fc00000), d, canonical)`, `q.e.VMOVUPS(d, canonical)`},
		{"headers", "all blocks have the scale of the first", `q.e.VPEXTRW(operand.Imm(uint64(i)), halves`, `q.e.VPEXTRW(operand.Imm(0), halves`},
		{"copied-headers", "all blocks of a group have the scale of the first", `q.e.MOVWLZX(halves.Offset(2*i), half)`, `q.e.MOVWLZX(halves, half)`},
		{"groups", "the first and second group of 16 bytes change places", `even, odd := uint64(0x20), uint64(0x31)`, `even, odd := uint64(0x02), uint64(0x13)`},
		{"these", "blocks have the factors of the next", `q.write(y, x, 4, q.factors.Idx(block, 4))`, `e.VMOVUPS(next, q.factors); q.write(y, x, 4, q.factors.Idx(block, 4))`},
		{"pairs", "the fourth row is left out of a maximum", `e.VPUNPCKHQDQ(pairs[1], pairs[0], high)`, `e.VPUNPCKHQDQ(pairs[0], pairs[0], high)`},
		{"least-scale", "a row of zeros has the scale 0", `e.VPMAXUD(e.wide32("leastScale", least), scale, scale)`, `_ = least`},
		{"not-finite", "rows that are not finite are written as others", `e.JCC(operand.LabelRef(rare))`, `_ = rare`},
		{"quotient", "the product by the inverse is not corrected", `e.VFNMADD231PS(inverse, x, q)`, `_ = x`},
		{"minus-zero", "the quotient -0 becomes 0", `e.VFMSUB231PS(scale, q, x); e.VFNMADD231PS(inverse, x, q)`, `e.VFNMADD231PS(scale, q, x); e.VFMADD231PS(inverse, x, q)`},
		{"row-tail", "of the last numbers of a row the second eight are left out of a maximum", `range e.first(left, step) {`, `range e.first(left, step)[:1] {`},
		{"tail", "numbers beyond a row are loaded", `e.VMASKMOVPS(from, these.bits, v)`, `e.VMOVUPS(from, v)`},
		{"code", "codes are too large by 2", `(beyond&^1-f.excess())&0xffff`, `(beyond&^1-f.excess()+2)&0xffff`},
		{"ties", "ties go to odd", `beyond&1<<(f.shift-16)<<16 | (beyond&^1-f.excess())&0xffff`, `(beyond - f.excess()) & 0xffff`},
		{"beyond", "codes stay larger than they are", `c.e.VPSUBB(c.beyond, v, v)`, ``},
		{"subnormal", "subnormal codes have an exponent", `c.e.VPMAXUD(c.leastNormal, sum, sum)`, ``},
		{"nan", "NaN is any number", `c.e.JNZ(operand.LabelRef(found)); c.e.Label(done)`, `_ = found; c.e.Label(done)`},
		{"nan-pairs", "a NaN between others is not found", `i < len(numbers)/2`, `i < 1`},
		{"order", "bytes stay in the order of 16 bytes", `return 4*(i%groups) + i/groups`, `return i + 0*groups`},
		{"e4m3-nan", "the NaN of E4M3 is 480", `e.VPOR(carry, words, words)`, ``},
		{"e4m3-sign", "a negative E4M3 number has a further bit", `0xbf80bf80`, `0xff80ff80`},
		{"scale", "all vectors have the scale of the first", `e.step(scales, e.argument("scaleStride"), float32s); sizes := whole`, `sizes := whole`},
	}},
	{"avx2/rotatequantize", "asm/_gen/amd64/rotatequantize_avx2.go", rotateQuantizeTests, []fault{
		{"odd", "second elements are the first", `operand.U8(0xdd)`, `operand.U8(0x88)`},
		{"row-order", "cosines and sines stay in order", `operand.Imm(0xd8)`, `operand.Imm(0xe4)`},
		{"magnitude", "negative numbers are larger than positive ones", `n.e.VPAND(n.magnitude, m.v, m.v)`, ``},
		{"larger", "a block has the largest magnitude of its first 8 numbers", `n.e.larger(m.v, largest, largest)`, ``},
		{"second", "the second half of a head is the first", `x.Offset(4*n.pairs), n.cos`, `x, n.cos`},
	}},
	{"avx2/rotatequantize", "asm/_gen/amd64/rotatequantize.go", rotateQuantizeTests, []fault{
		{"row", "interleaved, all tokens have the cosines of the first", `4*g.pairs); }; g.arrangeRow()`, `4*g.pairs); }`},
		{"heads", "of eight short heads the last four have the scales of the first", `fours[0], fours[len(fours)-1]`, `fours[0], fours[0]`},
		{"partner", "the second half of a long head follows 32 numbers", `second = operand.Mem{Base: r.y, Index: b.partner, Scale: 1}`, ``},
	}},
	{"avx2/rotatequantize", "asm/_gen/amd64/quantize.go", rotateQuantizeTests, []fault{
		{"together", "interleaved, first and second elements change places", `i%8 | (8+i%8)<<8`, `8 + i%8 | i%8<<8`},
	}},
	{"avx2/quantize", "asm/_gen/amd64/norm.go", quantizeTests, []fault{
		{"up-to-byte", "after two bytes the first of them", `if bytes == 1 {`, `if false {`},
	}},
	{"avx2/blocks", "asm/_gen/amd64/blocks.go", blocksTests, []fault{
		{"first", "of equal magnitudes the positive one counts", `q.e.JCC(operand.LabelRef(usual)) // it has the same sign`, `q.e.JMP(operand.LabelRef(usual))`},
		{"zeros", "a block of -0 has the scale of -0", `q.e.VADDPS(zero, v, v) // of zeros the positive one`, `_ = v`},
		{"least-zero", "the least of zeros of both signs is any", `doubt = q.e.where(equal, zero, chosen)`, `doubt = q.e.where(below, chosen, chosen)`},
		{"finite", "the inverse of a d of 0 is infinite", `q.e.choose(q.e.where(below, infinity, d), inverse, zero, inverse)`, ``},
		{"nan", "a NaN is not seen", `q.e.VMOVMSKPS(list[0], any)`, `q.e.XORL(any, any)`},
		{"largest", "a code beyond the largest carries", `q.e.VPMINUB(q.e.wide32("largestCodes"+operation.Element(q.e.to).String(), largest*0x01010101), codes, codes)`, ``},
		{"fifth", "the fourth bits for the fifth", `q.e.VPSLLW(operand.Imm(3), codes, bits)`, `q.e.VPSLLW(operand.Imm(4), codes, bits)`},
		{"bit", "two numbers have the same fifth bit", `return i / 4 * 0x0101`, `return i / 8 * 0x0101`},
	}},
	{"avx2/fp4", "asm/_gen/amd64/fp4.go", fp4Tests, []fault{
		{"rounded-down", "a sixth that is rounded down to 2^-127 is not", `q.e.VPCMPEQD(q.e.wide32("roundedDown32", 0x01400001), a, scale)`, `q.e.clear(scale)`},
		{"least-scale", "the scale of a small block is a large one", `q.e.VPSUBUSW, q.e.wide32("two32", 2)`, `q.e.VPSUBD, q.e.wide32("two32", 2)`},
		{"least", "the least of two roundings", `q.e.VPMINUD(halves, ones, ones)`, ``},
	}},
	{"avx2/blocklevels", "asm/_gen/amd64/blocklevels.go", blocksTests, []fault{
		{"first", "of equal magnitudes the last counts", `q.e.where(above, amax, m)`, `q.e.where(atLeast, amax, m)`},
		{"midpoint", "a tie takes the lower level", `q.subtract1(q.e.where(atLeast, midpoint, y), twice)`, `q.subtract1(q.e.where(above, midpoint, y), twice)`},
		{"upper", "a tie in the middle takes the lower level", `upper := q.e.where(atLeast, q.tables[0], y)`, `upper := q.e.where(above, q.tables[0], y)`},
		{"levels", "upper levels are the lower ones", `q.e.VPERMPS(q.values[1], code, y)`, `q.e.VPERMPS(q.values[0], code, y)`},
		{"sum", "the second sum has the first one's products", `q.e.VADDPS(product, b, b)`, `q.e.VADDPS(v, b, b)`},
		{"ordered", "a d that is NaN keeps bits", `q.e.choose(q.e.where(ordered, a, a), a, nan, a)`, ``},
		{"finite", "a block that is not finite has codes", `q.e.choose(finite, codes, zero, codes)`, ``},
		{"small", "a small block has codes", `q.e.choose(large, codes, zero, codes)`, ``},
	}},
	{"avx2/affine", "asm/_gen/amd64/affine.go", affineTests, []fault{
		{"nan", "a NaN has the least code", `e.VMINPS(lanesOf(largest, v), v, v)`, `e.VMINPS(v, lanesOf(largest, v), v)`},
		{"fma", "a product is rounded before the sum", `e.VFMADD213PS(scales[1].of(v, i), scales[0].of(v, i), v)`, `e.VMULPS(scales[0].of(v, i), v, v); e.VADDPS(scales[1].of(v, i), v, v)`},
		{"least", "codes are not less the least", `e.VPSUBSW(least, w, w)`, `_ = w`},
		{"scale-stride", "all vectors have the scales of the first", `e.step(s.next, e.argument("scaleStride"), float32s)`, ``},
		{"extremes", "the largest number is a negative one", `{e.VPMAXUD, e.VPMAXSD, e.VPMINUD}`, `{e.VPMAXUD, e.VPMAXUD, e.VPMINUD}`},
	}},
	{"avx2/groups", "asm/_gen/amd64/groups.go", quantizeTests, []fault{
		{"amax", "the largest magnitude has no floor", `e.VPMAXUD(parameter("leastAmax"), amax, scale)`, `e.VMOVUPS(amax, scale)`},
		{"scale", "a scale has no floor", `e.VPMAXUD(parameter("leastScale"), scale, scale)`, ``},
		{"up", "a power of two may be below the scale", `e.VPADDD(fraction, scale, power)`, `e.VMOVUPS(scale, power)`},
		{"nan", "the scale of a NaN has its bits", `e.VPMINUD(e.wide32("nan32", 0x7fc00000), scale, scale)`, ``},
		{"finite", "a NaN has the scale -0", `e.VPMINUD(e.wide32("exponent32", infinity32), power, power)`, ``},
		{"numbers", "the scale is brought near 1, and numbers are not", `e.VMULPS(x, of[2], v)`, `e.VMOVUPS(x, v)`},
	}},
	{"avx2/hadamard", "asm/_gen/amd64/hadamard.go", hadamardTests, []fault{
		{"sign", "differences the other way round", `h.e.VSUBPS(b, a, b)`, `h.e.VSUBPS(a, b, b)`},
		{"halves", "the third stage meets the same half", `h.e.VPERM2F128(operand.U8(1), v, v, met)`, `h.e.VPERM2F128(operand.U8(0), v, v, met)`},
		{"factor", "rows are not scaled", `h.e.VMULPS(from, h.factor, v)`, `h.e.VMOVUPS(from, v)`},
		{"parts", "the last part of a long row stays as it is", `uint32(length/h.numbers)), left)`, `uint32(length/h.numbers-1)), left)`},
		{"lengths", "rows of 512 are not transformed", `length <= 512`, `length < 512`},
	}},
	{"avx2/control", "asm/_gen/amd64/control.go", tests{names: "TestUpperHalvesInUse"}, []fault{
		{"clear", "ClearUpperHalves clears nothing", `e.VZEROUPPER(); e.RET()`, `e.RET()`},
	}},
	{"avx2/copy", "asm/_gen/amd64/copy.go", nonTemporalTests, []fault{
		{"order", "neighbours of 32 bytes change places", `e.VMOVNTPS(v, operand.Mem{Base: y, Disp: 32 * i})`, `e.VMOVNTPS(v, operand.Mem{Base: y, Disp: 32 * (i ^ 1) % (32 * vectors)})`},
		{"last", "the last 32 bytes are left out", `e.JLT(operand.LabelRef(done))`, `e.JLE(operand.LabelRef(done))`},
		{"too-far", "128 bytes are copied where 104 are left", `e.CMPQ(n, operand.Imm(uint64(8*vectors)))`, `e.CMPQ(n, operand.Imm(uint64(8*vectors-8)))`},
	}},
	{"generator/copy", "asm/_gen/amd64/copy.go", assemblyText, []fault{
		{"upper-halves", "the upper halves of registers are not cleared", `e.VZEROUPPER()`, ``},
		{"no-fence", "FenceStores is no fence", `e.fence(); e.RET()`, `e.RET()`},
	}},
}
