package main

var (
	exactCosSinTests = tests{names: "TestCosSin.*|TestScaling", packages: "./generic"}
	narrowTests      = tests{names: "TestWiden|TestRound.*", packages: "./generic"}
	powerTests       = tests{names: "TestExp2.*", packages: "./generic"}
	pairTests        = tests{names: "TestRotate|TestLayout", packages: "./generic"}
	rootTests        = tests{names: "Test(Rotate|RotateIsLoopOverTables|RotateIsComplexMultiplication|RotateElements|Normalize|NormalizeAgainstReal|NormalizeAgainstTransformers|AddALiBi|AddRelativeShift|RelativeProducts|SinusoidalVectors|AddEmbeddingsVectors|TableUnequalHalves|PlainConversions)", packages: "."}
)

// genericMutants are of the definition of the operations in plain Go.
var genericMutants = []mutant{
	{name: "go/bfloat16/ties", file: "generic/bfloat16.go", tests: narrowTests,
		old: `bits + 0x7fff + bits>>16&1`, new: `bits + 0x8000`,
		wrong: "ties go up"},
	{name: "go/bfloat16/nan", file: "generic/bfloat16.go", tests: narrowTests,
		old: `uint16(bits>>16 | 0x40)`, new: `uint16(bits >> 16)`,
		wrong: "a signalling NaN becomes an infinity"},
	{name: "go/float16/ties", file: "generic/float16.go", tests: narrowTests,
		old: `magnitude + 0xfff + magnitude>>13&1`, new: `magnitude + 0x1000`,
		wrong: "ties go up"},
	{name: "go/float16/nan", file: "generic/float16.go", tests: narrowTests,
		old: `0x7e00 | magnitude>>13&0x3ff`, new: `0x7c00 | magnitude>>13&0x3ff`,
		wrong: "some NaNs become infinities"},
	{name: "go/float16/infinity", file: "generic/float16.go", tests: narrowTests,
		old: `magnitude >= 0x47800000`, new: `magnitude >= 0x47000000`,
		wrong: "the upper half of the numbers is infinite"},
	{name: "go/float16/subnormal", file: "generic/float16.go", tests: narrowTests,
		old: `magnitude >= 0x38800000`, new: `magnitude >= 0x38000000`,
		wrong: "the larger subnormal numbers are taken for normal ones"},
	{name: "go/float16/widen", file: "generic/float16.go", tests: narrowTests,
		old: `magnitude >= 0x0400`, new: `magnitude > 0x0400`,
		wrong:    "the smallest normal number is taken for a subnormal one",
		harmless: "its value is the same by that way"},
	{name: "go/cossin/quadrant", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `(quarter+1)&2 != 0`, new: `quarter&2 != 0`,
		wrong: "cosines are negated where sines are"},
	{name: "go/cossin/ziv", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `if cos == cosLow && sin == sinLow && sin != 0 {`, new: `if (cos == cosLow && sin == sinLow || true) && sin != 0 {`,
		wrong: "Ziv's test is not made"},
	{name: "go/cossin/ziv-sine", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `if cos == cosLow && sin == sinLow && sin != 0 {`, new: `if cos == cosLow && (sin == sinLow || true) && sin != 0 {`,
		wrong: "Ziv's test is made of cosines only"},
	{name: "go/cossin/margin", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `const Margin = 0x1p-49`, new: `const Margin = 0x1p-54`,
		wrong: "the error bound is below the error"},
	{name: "go/cossin/margin-size", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `m := Margin * min(1, angle)`, new: `m := Margin * min(1, angle*angle)`,
		wrong: "the error bound of small sines is below the error"},
	{name: "go/cossin/margin-cap", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `m := Margin * min(1, angle)`, new: `m := Margin * angle`,
		wrong:    "the error bound of a sine grows beyond 2^-49",
		harmless: "more is left to the exact way, with the same results"},
	{name: "go/cossin/margin-angle", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `angle >= MarginAngle ||`, new: ``,
		wrong: "large angles are left to float64"},
	{name: "go/cossin/tiny-angle", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `|| angle < 0x1p-1000 {`, new: `{`,
		wrong:    "tiny angles are left to float64",
		harmless: "their sine is 0 in float32, which is left to the exact way"},
	{name: "go/cossin/range", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `	if !(angle < maxAngle) {
`, new: `	if angle >= maxAngle {
`,
		wrong:    "a NaN is not told from numbers",
		harmless: "the exact way returns NaN for it"},
	{name: "go/cossin/reduction", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `	f = math.FMA(x, low, f)
`, new: ``,
		wrong: "2/pi without its low part"},
	{name: "go/cossin/two-over-pi", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `	low = math.FMA(invFreq, twoOverPi1, low)
`, new: ``,
		wrong: "2/pi without its second part"},
	{name: "go/cossin/coefficient", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `sin1 = -0x1.4abbce625be09p-1`, new: `sin1 = -0x1.4abbce625bc09p-1`,
		wrong: "a coefficient of the sine is off by 2^-43"},
	{name: "go/cossin/coefficient-bit", file: "generic/cossin.go", tests: proofTests,
		old: `cos2 = 0x1.03c1f081b0e01p-2`, new: `cos2 = 0x1.03c1f081b0e02p-2`,
		wrong: "a coefficient of the cosine is off by its last bit"},
	{name: "go/cossin/float32-infinity", file: "generic/cossin.go", tests: exactCosSinTests,
		old: `if math.IsInf(x, 0) || x != x {`, new: `if x != x {`,
		wrong: "infinite angles are left to the exact way"},
	{name: "go/product/below", file: "generic/cossin_product.go", tests: exactCosSinTests,
		old: `	if below {
		if quarter&1 == 0 {`, new: `	if below {
		if quarter&1 != 0 {`,
		wrong: "below a multiple of pi/2 the other sign changes"},
	{name: "go/product/terms", file: "generic/cossin_product.go", tests: exactCosSinTests,
		old: `const terms = 29`, new: `const terms = 7`,
		wrong: "Taylor's series ends too early"},
	{name: "go/product/carry", file: "generic/cossin_product.go", tests: exactCosSinTests,
		old: `sum[i], carry = bits.Add64(sum[i], high, carry)`, new: `sum[i], _ = bits.Add64(sum[i], high, carry)`,
		wrong: "a carry of the reduction is lost"},
	{name: "go/product/digits", file: "generic/cossin_product.go", tests: exactCosSinTests,
		old: `0xfc2757d1f534ddc0`, new: `0xfc2757d1f534ddc1`,
		wrong: "a digit of 2/pi"},
	{name: "go/product/sticky", file: "generic/cossin_product.go", tests: exactCosSinTests,
		old: `	if word<<53 != 0 {
		odd |= 1
	}
`, new: ``,
		wrong: "what lies beyond 53 bits is forgotten"},
	{name: "go/product/tiny", file: "generic/cossin_product.go", tests: exactCosSinTests,
		old: `const tinyProduct = 0x1p-45`, new: `const tinyProduct = 0x1p-10`,
		wrong: "sin(a) = a for angles that are not so small"},
	{name: "go/product/tiny-side", file: "generic/cossin_product.go", tests: exactCosSinTests,
		old: `product = math.Nextafter(product, 0)
	}
	return float32(math`, new: `}
	return float32(math`,
		wrong: "tiny sines are not below their angles"},
	{name: "go/product/integral", file: "generic/cossin_product.go", tests: exactCosSinTests,
		old: `math.Ldexp(w, exponent-31)`, new: `math.Ldexp(w, exponent-30)`,
		wrong: "fractional positions count twice"},
	{name: "go/product/float64-sticky", file: "generic/cossin_product.go", tests: exactCosSinTests,
		old: `			if rest != 0 {
				word |= 1 // far below the rounding bit
			}
`, new: `			_ = rest
`,
		wrong: "what lies beyond 64 bits is forgotten"},
	{name: "go/product/float64-tiny", file: "generic/cossin_float64.go", tests: exactCosSinTests,
		old: `rest != 0 && rest == (below-product)/2`, new: `rest != 0 && rest == below-product`,
		wrong: "a float64 sine from midway is rounded to the wrong side"},
	{name: "go/exp2/margin", file: "generic/exp2.go", tests: powerTests,
		old: `const margin = 0x1p-49`, new: `const margin = 0x1p-60`,
		wrong: "the error bound of powers is below the error"},
	{name: "go/exp2/low", file: "generic/exp2.go", tests: powerTests,
		old: `f := (high - k) + low`, new: `f := high - k`,
		wrong: "the low part of the exponent is left out"},
	{name: "go/exp2/coefficient", file: "generic/exp2.go", tests: powerTests,
		old: `/ 40320,`, new: `/ 40321,`,
		wrong: "a factorial is off by one"},
	{name: "go/exp2/overflow", file: "generic/exp2.go", tests: powerTests,
		old: `case high > 129:`, new: `case high > 127:`,
		wrong: "the largest powers are infinite"},
	{name: "go-arm64/rotate/fused-difference", file: "generic/rotate.go", tests: tests{names: "TestRotate", packages: "./generic"},
		old: `return float32(x1*c) - float32(x2*s),`, new: `return x1*c - x2*s,`,
		wrong: "the compiler fuses a product with the difference"},
	{name: "go-v3/rotate/fused-sum", file: "generic/rotate.go", tests: tests{names: "TestRotate", packages: "./generic"},
		old: `float32(x2*c) + float32(x1*s)`, new: `x2*c + x1*s`,
		wrong: "the compiler fuses a product with the sum"},
	{name: "go-arm64/matrix-product/fused", file: "generic/product.go", tests: tests{names: "TestNormKernels|TestProductKernels", packages: "."},
		old: `s[i%16] += float32(x * y)`, new: `s[i%16] += x * y`,
		wrong: "the compiler fuses a product with the sum"},
	{name: "go-arm64/matrix-product/fused-multiple", file: "generic/product.go", tests: tests{names: "TestProductKernels", packages: "."},
		old: `y[i] += float32(factor * x[i])`, new: `y[i] += factor * x[i]`,
		wrong: "the compiler fuses a multiple with the sum"},
	{name: "go-arm64/add/fused", file: "generic/add.go", tests: tests{names: "TestAdditionKernels", packages: "."},
		old: `float32(x*scale) + y`, new: `x*scale + y`,
		wrong: "the compiler fuses the product with the sum"},
	{name: "go-arm64/bias/fused", file: "generic/bias.go", tests: tests{names: "TestBiasKernels", packages: "."},
		old: `y[i] += float32(slope * float32(first+i))`, new: `y[i] += slope * float32(first+i)`,
		wrong: "the compiler fuses slope*distance with the sum"},
	{name: "go-arm64/bias/fused-magnitude", file: "generic/bias.go", tests: tests{names: "TestBiasKernels", packages: "."},
		old: `y[i] -= float32(slope * float32(max(d, -d)))`, new: `y[i] -= slope * float32(max(d, -d))`,
		wrong: "the compiler fuses slope*magnitude with the sum"},
	{name: "go/rotate/sign", file: "generic/rotate.go", tests: pairTests,
		old: `float32(x2*c) + float32(x1*s)`, new: `float32(x2*c) - float32(x1*s)`,
		wrong: "x2*c - x1*s"},
	{name: "go/rotate/float16", file: "generic/rotate.go", tests: pairTests,
		old: `func RotateHalfSplitF32ToF16(y1, y2 []uint16, x1, x2, cos, sin []float32) {
	n := len(x1)
	y1, y2, x2, cos, sin = y1[:n], y2[:n], x2[:n], cos[:n], sin[:n]
	for i, a := range x1 {
		a, b := rotate(a, x2[i], cos[i], sin[i])
		y1[i], y2[i] = Float32ToFloat16(a), Float32ToFloat16(b)`, new: `func RotateHalfSplitF32ToF16(y1, y2 []uint16, x1, x2, cos, sin []float32) {
	n := len(x1)
	y1, y2, x2, cos, sin = y1[:n], y2[:n], x2[:n], cos[:n], sin[:n]
	for i, a := range x1 {
		a, b := rotate(a, x2[i], cos[i], sin[i])
		y1[i], y2[i] = Float32ToFloat16(b), Float32ToFloat16(a)`,
		wrong: "the two of a float16 pair change places"},
	{name: "go/rotate/full-width", file: "generic/fullwidth.go", tests: rootTests,
		old: `rotate(x1[i], x2[i], cos[n+i], sin[n+i])`, new: `rotate(x1[i], x2[i], cos[n+i], sin[i])`,
		wrong: "the sine of the first of a pair for the second"},
	{name: "go/layout/odds", file: "generic/layout.go", tests: pairTests,
		old: `y[i], y[n+i] = x[2*i], x[2*i+1]`, new: `y[i], y[n+i] = x[2*i], x[2*i]`,
		wrong: "the even elements for the odd"},
	{name: "go/matrix-product/order", file: "generic/product.go", tests: rootTests,
		old: `s[l] += s[l+d]`, new: `s[l] += s[2*d-1-l]`,
		wrong: "sums of lanes are added in another order"},
	{name: "go/norm/epsilon", file: "generic/norm.go", tests: rootTests,
		old: `float64(mean+epsilon)`, new: `float64(mean)+float64(epsilon)`,
		wrong: "epsilon is added in float64"},
	{name: "go/norm/float16", file: "generic/norm.go", tests: rootTests,
		old: `Float32ToFloat16(float32(Float16ToFloat32(v)*inverse) * weight[i])`, new: `Float32ToFloat16(Float16ToFloat32(Float32ToFloat16(Float16ToFloat32(v)*inverse)) * weight[i])`,
		wrong: "float16 is rounded twice"},
	{name: "go/add/bfloat16", file: "generic/add.go", tests: tests{names: "TestSinusoidalAgainstPlain", packages: "."},
		old: `Float32ToBFloat16(addScaled(BFloat16ToFloat32(bits), y[i], scale))`, new: `Float32ToBFloat16(addScaled(BFloat16ToFloat32(bits), BFloat16ToFloat32(Float32ToBFloat16(y[i])), scale))`,
		wrong: "what is added to bfloat16 is rounded to it first"},
	{name: "go/bias/magnitude", file: "generic/bias.go", tests: rootTests,
		old: `max(d, -d)`, new: `min(d, -d)`,
		wrong: "minus the magnitude of a distance for it"},
	{name: "go/convert/float16", file: "generic/convert.go", tests: tests{names: "TestRotateInto|TestRotateElements|TestElementsAreRoundedOnce|TestCopyKernels", packages: "."},
		old: `y[i] = Float32ToFloat16(v)`, new: `y[i] = Float32ToBFloat16(v)`,
		wrong: "bfloat16 for float16"},
}
