package main

// The tests of parts of the package posenc and of package kernels.
var (
	kernelsTests  = tests{names: "Test.*", packages: "./kernels"}
	exactTests    = tests{names: "TestCosSinExactRowKernels|TestCosSinExactRowsKernels|TestCosSinExactRowsNonTemporal|TestCosSinFloat32Kernels|TestRowsAgree", packages: "."}
	gateTests     = tests{names: "TestGatesCoverKernels|TestGatesAskTwice|TestChoose|TestSupported|TestEnvironment|TestKernelsAreHit|TestOperationsHaveRows", packages: "."}
	viewTests     = tests{names: "TestView.*|TestSequences.*|TestRotateErrors|TestRotateAccepts|TestRotate|TestElementEdges|TestLastPosition", packages: "."}
	rotationTests = tests{names: "TestRotate.*|TestLayout.*|TestShift.*|TestSequences.*|TestNewRotary.*", packages: "."}
	intoTests     = tests{names: "TestRotateInto.*", packages: "."}
	axesTests     = tests{names: "TestAxes.*|TestXPos.*|TestCosSinFractional.*|TestRowsAgree|TestLastPosition|TestNewRotary.*", packages: "."}
	tableTests    = tests{names: "TestTable.*|TestTabulate.*|TestExtend.*", packages: "."}
	scoresTests   = tests{names: "TestAdd.*|TestALiBi.*|TestT5.*|TestDeBERTa.*|TestRelative.*|TestShaw.*|TestTransformerXL.*|TestSumShaw|TestSwin.*|TestTile.*", packages: "."}
	rowTests      = tests{names: "TestNorm.*|TestRotateFused.*|TestQueryScales|TestLogarithm|TestScale.*|TestNewRMSNorm.*", packages: "."}
	absoluteTests = tests{names: "TestSinusoidal.*|TestAddEmbeddings.*|TestInterpolate.*|TestLearned.*|TestShiftMatrix.*", packages: "."}
	positionTests = tests{names: "TestRaggedPositions.*|TestDualChunk.*|TestPermuteWeights.*", packages: "."}
	cosSinCalls   = tests{names: "TestCosSin.*|TestRotaryCosSin|TestScalingMultiplies|TestFloat32AnglesArePlain", packages: "."}
)

// goMutants are of the plain Go around the kernels.
var goMutants = []mutant{
	// Which implementation runs.
	{name: "go/gate/avx512-vl", file: "dispatch_amd64.go", tests: gateTests,
		old: `cpuid.AVX512VL, cpuid.AVX512DQ, cpuid.AVX512BW}`, new: `cpuid.AVX512DQ, cpuid.AVX512BW}`,
		wrong: "the gate of AVX-512 does not ask for VL"},
	{name: "go/gate/avx512-dq", file: "dispatch_amd64.go", tests: gateTests,
		old: `cpuid.AVX512DQ, cpuid.AVX512BW}`, new: `cpuid.AVX512BW}`,
		wrong: "the gate of AVX-512 does not ask for DQ"},
	{name: "go/gate/bmi2", file: "dispatch_amd64.go", tests: gateTests,
		old: `cpuid.BMI2, cpuid.AVX512F`, new: `cpuid.AVX512F`,
		wrong: "the gate of AVX-512 does not ask for BMI2"},
	{name: "go/gate/f16c", file: "dispatch_amd64.go", tests: gateTests,
		old: `[]cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.FMA3, cpuid.F16C},`, new: `[]cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.FMA3},`,
		wrong: "the gate of AVX2 does not ask for F16C"},
	{name: "go/gate/godebug", file: "dispatch_amd64.go", tests: gateTests,
		old: `[]*bool{&cpu.X86.HasAVX, &cpu.X86.HasAVX2, &cpu.X86.HasFMA, &cpu.X86.HasF16C},`, new: `[]*bool{&cpu.X86.HasAVX, &cpu.X86.HasAVX2, &cpu.X86.HasFMA},`,
		wrong: "GODEBUG=cpu.f16c=off is not obeyed"},
	{name: "go/gate/x-sys-cpu", file: "dispatch_amd64.go", tests: gateTests,
		old: `		if !*enabled {
			return false
		}
`, new: `		_ = enabled
`,
		wrong: "only one of the two detections is asked"},
	{name: "go/gate/raised", file: "dispatch.go", tests: gateTests,
		old: `	return kernels.Generic
`, new: `	return available[0]
`,
		wrong: "an unknown POSENC_IMPL means the fastest"},
	{name: "go/bind/generic", file: "kernels/bind_amd64.go", tests: gateTests,
		old:   `asm.RotateHalfSplitF32AVX2(unsafe.SliceData(y), unsafe.SliceData(x), unsafe.SliceData(cos), unsafe.SliceData(sin), r.Pairs, r.Partner, r.Tokens, r.YTokenStride, r.XTokenStride, r.Heads, r.YHeadStride, r.XHeadStride, r.TableStride)`,
		new:   `rotateHalfSplitF32Generic(y, x, cos, sin, r)`,
		wrong: "AVX2 runs the plain Go"},
	{name: "go/bind/other-type", file: "kernels/bind_amd64.go", tests: rotateTests,
		old: `asm.RotateHalfSplitF16AVX2(`, new: `asm.RotateHalfSplitBF16AVX2(`,
		wrong: "float16 by the kernel of bfloat16"},
	{name: "go/bind/strides", file: "kernels/bind_amd64.go", tests: rotateTests,
		old:   `asm.RotateHalfSplitF32ToF16AVX2(unsafe.SliceData(y), unsafe.SliceData(x), unsafe.SliceData(cos), unsafe.SliceData(sin), r.Pairs, r.Partner, r.Tokens, r.YTokenStride, r.XTokenStride,`,
		new:   `asm.RotateHalfSplitF32ToF16AVX2(unsafe.SliceData(y), unsafe.SliceData(x), unsafe.SliceData(cos), unsafe.SliceData(sin), r.Pairs, r.Partner, r.Tokens, r.XTokenStride, r.YTokenStride,`,
		wrong: "the token strides of x and y change places"},

	// kernels
	{name: "go/kernels/ziv-ignored", file: "kernels/cossin.go", tests: exactTests,
		old:   `if !b.certain(magnitude, magnitude) || !cosSinExact(impl, cos, sin, position, b, scaleCos, scaleSin) {`,
		new:   `if !b.certain(magnitude, magnitude) || !cosSinExact(impl, cos, sin, position, b, scaleCos, scaleSin) && false {`,
		wrong: "what Ziv's test says of a row is ignored"},
	{name: "go/kernels/subnormal", file: "kernels/cossin.go", tests: exactTests,
		old: `least*b.smallest >= 0x1p-120 && `, new: ``,
		wrong: "sines that are subnormal are left to the kernels"},
	{name: "go/kernels/large", file: "kernels/cossin.go", tests: exactTests,
		old: `most*b.largest < generic.MarginAngle`, new: `most*b.largest < 1<<50`,
		wrong: "large angles are left to the kernels"},
	{name: "go/kernels/negative-frequency", file: "kernels/cossin.go", tests: exactTests,
		old: `generic.Margin * math.Abs(w)`, new: `generic.Margin * w`,
		wrong: "a negative frequency has a negative error bound"},
	{name: "go/kernels/run", file: "kernels/cossin.go", tests: kernelsTests,
		old: `shiftRows-int(positions[0]&(shiftRows-1))`, new: `shiftRows`,
		wrong: "a run leaves its block of 32 positions"},
	{name: "go/kernels/reach", file: "kernels/cossin.go", tests: exactTests,
		old: `reach := math.Abs(base) + shiftRows`, new: `reach := math.Abs(base)`,
		wrong: "the error bound of a seed does not reach its rows"},
	{name: "go/kernels/shift-start", file: "kernels/cossin.go", tests: exactTests,
		old: `shift[first+done:]`, new: `shift[first:]`,
		wrong: "after an undecided row the shift starts anew"},
	{name: "go/kernels/repeated", file: "kernels/cossin.go", tests: exactTests,
		old: `copy(sin[at:at+n], sin[at-stride:])`, new: `copy(sin[at:at+n], sin[at-n:])`,
		wrong: "the row before is sought without the stride"},
	{name: "go/kernels/aligned", file: "kernels/cossin.go", tests: kernelsTests,
		old: `address%32 == 0`, new: `address%16 == 0`,
		wrong: "16 bytes are enough for stores past the caches"},
	{name: "go/kernels/beyond", file: "kernels/cossin.go", tests: exactTests,
		old: `a > -0x1p50 && a < 0x1p50`, new: `a < 0x1p50`,
		wrong: "float32 angles of -2^50 and below are not written anew"},
	{name: "go/kernels/norm-rows", file: "kernels/norm.go", tests: normTests,
		old: `generic.RMSNormF16(x[i*l.Stride:][:l.Len], weight, epsilon)`, new: `generic.RMSNormF16(x[i*l.Len:][:l.Len], weight, epsilon)`,
		wrong: "rows of float16 lie one after another"},
	{name: "go/kernels/rotate-rows", file: "kernels/rotate.go", tests: rotateTests,
		old: `t*r.YTokenStride+h*r.YHeadStride, t*r.XTokenStride+h*r.XHeadStride, t*r.TableStride`, new: `t*r.YTokenStride+h*r.YHeadStride, t*r.XTokenStride+h*r.XHeadStride, t*r.Pairs`,
		wrong: "rows of tables lie one after another"},
	{name: "go/kernels/tile-rows", file: "kernels/bias.go", tests: biasTests,
		old: `generic.SubAbsoluteDistanceF32(y[r*t.Stride:][:t.Len], slope, first+r*step)`, new: `generic.SubAbsoluteDistanceF32(y[r*t.Stride:][:t.Len], slope, first-r*step)`,
		wrong: "distances go the other way from row to row"},

	{name: "go/kernels/within", file: "kernels/bias.go", tests: biasTests,
		old: `max(first, last) >= end-t.Len`, new: `max(first, last) >= end`,
		wrong: "kernels count distances beyond 2^24"},
	{name: "go/kernels/sinusoid-rest", file: "kernels/sinusoidal.go", tests: sinusoidalTests,
		old: `frequencies()[i%Width:]`, new: `frequencies()`,
		wrong: "after an undecided pair come those of other frequencies"},
	{name: "go/kernels/sinusoid-row", file: "kernels/sinusoidal.go", tests: sinusoidalTests,
		old: `t == 0 || p != positions[t-1]`, new: `t == 0 || p > positions[t-1]`,
		wrong: "an earlier position takes the row of the one before"},

	// Views.
	{name: "go/view/extent", file: "view.go", tests: viewTests,
		old: `multiply(g.heads-1, g.headStride)`, new: `multiply(max(g.heads-2, 0), g.headStride)`,
		wrong: "the last head is not counted"},
	{name: "go/view/overflow", file: "view.go", tests: viewTests,
		old: `ok0 && ok1 && ok2 && tokens`, new: `ok0 && ok1 && tokens`,
		wrong: "a product of heads and stride overflows"},
	{name: "go/view/overflow-sum", file: "view.go", tests: viewTests,
		old: `tokens >= 0 && rows >= 0 && sum >= 0`, new: `tokens >= 0 && rows >= 0`,
		wrong: "a sum of extents overflows"},
	{name: "go/view/packed-length", file: "view.go", tests: viewTests,
		old: `	case packed && len(v.Data) != need:
		return wrongLength
	case`, new: `	case`,
		wrong: "packed data may be too long"},
	{name: "go/view/short", file: "view.go", tests: viewTests,
		old: `case len(v.Data) < need:`, new: `case len(v.Data) < need-1:`,
		wrong: "strided data may lack the last element"},
	{name: "go/view/self-overlap", file: "view.go", tests: viewTests,
		old: `!packed && g.selfOverlaps()`, new: `false`,
		wrong: "rows of a view may overlap"},
	{name: "go/view/nested", file: "view.go", tests: viewTests,
		old: `if level.stride < reach {`, new: `if level.stride < dim {`,
		wrong: "every stride of a row is enough"},
	{name: "go/view/meets", file: "view.go", tests: viewTests,
		old: `d < g.dim && -d < g.dim`, new: `d < g.dim-1 && -d < g.dim-1`,
		wrong: "rows may share one element"},
	{name: "go/view/meets-too-much", file: "view.go", tests: viewTests,
		old: `d < g.dim && -d < g.dim`, new: `d <= g.dim && -d < g.dim`,
		wrong: "rows side by side are said to overlap"},
	{name: "go/view/nearest", file: "view.go", tests: viewTests,
		old: `[3]int{nearest - 1, nearest, nearest + 1}`, new: `[1]int{nearest}`,
		wrong: "only one difference of tokens is tried"},
	{name: "go/view/heads", file: "view.go", tests: viewTests,
		old: `dh := -(g.heads - 1)`, new: `dh := 0`,
		wrong: "heads are compared one way only"},
	{name: "go/view/views-overlap", file: "view.go", tests: viewTests,
		old: `if delta >= endA || -delta >= endB {`, new: `if delta >= endB || -delta >= endA {`,
		wrong: "the ends of two views change places"},
	{name: "go/view/negative-stride", file: "view.go", tests: viewTests,
		old: `	case v.HeadStride < 0:
		return negativeHeadStride
`, new: ``,
		wrong: "a negative stride is taken"},
	{name: "go/view/uneven", file: "view.go", tests: viewTests,
		old: `if tokens%v.SequenceTokens != 0 {`, new: `if false {`,
		wrong: "a part of a sequence is taken"},
	{name: "go/view/sentinel", file: "errors.go", tests: viewTests,
		old: `want %s: %w"`, new: `want %s: %v"`,
		wrong: "errors wrap nothing"},

	// Rotation.
	{name: "go/rotate/inverse", file: "rotate.go", tests: rotationTests,
		old: `return manner{r.out, r.in, r.scaling, -1}`, new: `return manner{r.out, r.in, r.scaling, 1}`,
		wrong: "the inverse turns the same way"},
	{name: "go/rotate/inverse-layout", file: "rotate.go", tests: rotationTests,
		old: `return manner{r.out, r.in, r.scaling, -1}`, new: `return manner{r.in, r.out, r.scaling, -1}`,
		wrong: "the inverse reads what Rotate reads"},
	{name: "go/rotate/shift-scaling", file: "rotate.go", tests: rotationTests,
		old: `return manner{r.out, r.out, 1, 1}`, new: `return manner{r.out, r.out, r.scaling, 1}`,
		wrong: "a shift scales once more"},
	{name: "go/rotate/overlap-check", file: "rotate.go", tests: viewTests,
		old: `if viewsOverlap(&xs[j], &xs[i], tokens, dim) {`, new: `if false {`,
		wrong: "views may share elements"},
	{name: "go/rotate/offset", file: "rotate.go", tests: rotationTests,
		old: `start := r.offset + column`, new: `start := column`,
		wrong: "the rotated slice starts with the head"},
	{name: "go/rotate/column", file: "rotate.go", tests: rotationTests,
		old: `		start += column
`, new: ``,
		wrong: "the second part of a wide row starts half as far"},
	{name: "go/rotate/row", file: "rotate.go", tests: rotationTests,
		old: `row := (first + t) * table.stride`, new: `row := t * table.stride`,
		wrong: "tokens of the second sequence take rows of the first"},
	{name: "go/rotate/repeated", file: "rows.go", tests: rotationTests,
		old: `		if p != positions[0] {
			return false
		}
	}
	return true
}

// rows is`, new: `		if p == positions[0] {
			return true
		}
	}
	return true
}

// rows is`,
		wrong: "all tokens take the row of the first"},
	{name: "go/rotate/sequence", file: "rotate.go", tests: rotationTests,
		old: `t%o.sequenceTokens*o.tokenStride`, new: `t*o.tokenStride`,
		wrong: "tokens of a sequence are counted from the first of all"},
	{name: "go/rotate/together", file: "rotate.go", tests: rotationTests,
		old: `return min(n, o.sequenceTokens-t%o.sequenceTokens)`, new: `return n`,
		wrong: "a call of a kernel goes beyond its sequence"},
	{name: "go/rotate/heads", file: "rotate.go", tests: rotationTests,
		old: `k.Heads = min(heads, x.heads-h)
			launch`, new: `k.Heads = heads
			launch`,
		wrong: "the last call of a kernel has heads too many"},
	{name: "go/rotate/streams", file: "rotate.go", tests: rotationTests,
		old: `k.Tokens = min(tokens, n-t)`, new: `k.Tokens = tokens`,
		wrong: "the last call of a kernel has tokens too many"},
	{name: "go/rotate/scratch", file: "rotate.go", tests: rotationTests,
		old: `reorder(&ordered, x, i*dim, from, dim/2, m.in, m.out)`, new: `reorder(&ordered, x, i*dim, from, dim/2, m.out, m.in)`,
		wrong: "pairs are brought into the other order"},
	{name: "go/rotate/angles", file: "rotary.go", tests: axesTests,
		old: `if len(invFreq) != dim/2 {`, new: `if len(invFreq) < dim/2 {`,
		wrong: "frequencies too many are taken"},
	{name: "go/rotate/dimension", file: "rotary.go", tests: axesTests,
		old: `dim%2 != 0 || `, new: ``,
		wrong: "an odd RotaryDim is taken"},
	{name: "go/rotate/offset-check", file: "rotary.go", tests: axesTests,
		old: `cfg.Offset > cfg.HeadDim-dim`, new: `cfg.Offset > cfg.HeadDim`,
		wrong: "a slice beyond the head is taken"},

	// Rows, axes and decay.
	{name: "go/axes/repeated-row", file: "rows.go", tests: axesTests,
		old: `copy(sin[at:at+pairs], sin[at-stride:])`, new: `copy(sin[at:at+pairs], sin[at-pairs:])`,
		wrong: "the row before is sought without the stride"},
	{name: "go/axes/alike", file: "rows.go", tests: axesTests,
		old: `if part.alike(r.axisCount) {`, new: `if true {`,
		wrong: "all axes take the positions of the first"},
	{name: "go/axes/row-before", file: "rows.go", tests: axesTests,
		old: `copy(row.sin, before.sin)`, new: ``,
		wrong: "sines of an axis that does not move are missing"},
	{name: "go/axes/moved", file: "rows.go", tests: axesTests,
		old: `t == 0 || positions[t] != positions[t-1]`, new: `t == 0 || positions[t] > positions[t-1]`,
		wrong: "an axis that moves back does not move"},
	{name: "go/axes/copied", file: "rows.go", tests: axesTests,
		old: `last-first == len(a.pairs)-1`, new: `last-first <= 2*len(a.pairs)`,
		wrong: "pairs of an axis are taken for neighbours"},
	{name: "go/axes/decay-center", file: "rows.go", tests: axesTests,
		old: `(float64(p) - float64(d.center))`, new: `float64(p)`,
		wrong: "xPos without its center"},
	{name: "go/axes/decay-rest", file: "rows.go", tests: axesTests,
		old: `math.FMA(distance, high, -exponent)+float64(distance*low)`, new: `0*low`,
		wrong: "the exponent of xPos without its low part"},
	{name: "go/axes/decay-keys", file: "rotary.go", tests: axesTests,
		old: `r.decay.direction = -1`, new: `r.decay.direction = 1`,
		wrong: "keys of xPos decay as queries do"},
	{name: "go/axes/last-position", file: "rows.go", tests: axesTests,
		old: `if largest < 1<<18 {`, new: `if largest < 1<<19 {`,
		wrong: "angles of 2^50 and more are taken"},
	{name: "go/axes/last-position-rounded", file: "rows.go", tests: axesTests,
		old: `int64(math.Nextafter(maxAngle/largest, 0))`, new: `int64(maxAngle / largest)`,
		wrong: "an angle of 2^50 is taken"},
	{name: "go/axes/negative-position", file: "rows.go", tests: axesTests,
		old: `int64(p) > last || int64(p) < -last`, new: `int64(p) > last`,
		wrong: "negative positions are not checked"},
	{name: "go/axes/nan", file: "rows.go", tests: axesTests,
		old: `!(m <= largest)`, new: `m > largest`,
		wrong: "a NaN among the frequencies is not seen"},

	// RotateInto.
	{name: "go/into/run", file: "into.go", tests: intoTests,
		old: `if slot(t+i) != at+i {`, new: `if slot(t+i) < at+i {`,
		wrong: "slots with a gap are taken for a run"},
	{name: "go/into/dropped", file: "into.go", tests: intoTests,
		old: `if at < 0 {
					t++`, new: `if at < 0 {
					t += 2`,
		wrong: "the token after a dropped one is dropped too"},
	{name: "go/into/overlap", file: "into.go", tests: intoTests,
		old: `	if y.overlaps(&x) {
`, new: `	if false {
`,
		wrong: "dst may share memory with src"},
	{name: "go/into/reach", file: "into.go", tests: intoTests,
		old: `reach = int(largest) + 1`, new: `reach = int(largest)`,
		wrong: "dst may lack the last slot"},
	{name: "go/into/alignment", file: "into.go", tests: intoTests,
		old: `int(uintptr(y.data)%32))%32 == 0`, new: `int(uintptr(y.data)%16))%16 == 0`,
		wrong: "16 bytes are enough for stores past the caches"},
	{name: "go/into/rest", file: "into.go", tests: intoTests,
		old: `if column == 0 {
						r.copyRest`, new: `if column != 0 {
						r.copyRest`,
		wrong: "elements beside the rotated slice are not copied"},
	{name: "go/into/fence", file: "into.go", tests: intoTests,
		old: `	if past {
		kernels.FenceStores(implementation)
	}
`, new: ``,
		wrong:    "no fence after stores past the caches",
		harmless: "to tests: what hands the data to another goroutine is a fence on x86, in all that Go has for it"},

	// Tables.
	{name: "go/table/taken-twice", file: "table.go", tests: tableTests,
		old: `if n == 0 || !p.used.CompareAndSwap(int64(used), int64(used+n)) {`, new: `if n == 0 {`,
		wrong: "two Rotarys write the rest of one page"},
	{name: "go/table/clip", file: "table.go", tests: tableTests,
		old: `slices.Clip(r.table.pages)`, new: `r.table.pages[:len(r.table.pages):cap(r.table.pages)]`,
		wrong: "two Rotarys share a list of pages"},
	{name: "go/table/negative-row", file: "table.go", tests: tableTests,
		old: `int(p) >= t.count || p < 0`, new: `int(p) >= t.count`,
		wrong: "negative numbers of rows are not checked"},
	{name: "go/table/last-row", file: "table.go", tests: tableTests,
		old: `int(p) >= t.count || p < 0`, new: `int(p) > t.count || p < 0`,
		wrong: "a row beyond the last is taken"},
	{name: "go/table/page", file: "table.go", tests: tableTests,
		old: `s.rowOf(i) == row+i && t.page(row+i) == p`, new: `s.rowOf(i) == row+i`,
		wrong: "rows of two pages are taken for neighbours"},
	{name: "go/table/inverse", file: "table.go", tests: tableTests,
		old: `sin[k] = -v`, new: `sin[k] = v`,
		wrong: "the inverse by a table turns the same way"},
	{name: "go/table/stride", file: "table.go", tests: tableTests,
		old: `(len(t.Cos)-width)/stride + 1`, new: `len(t.Cos) / stride`,
		wrong: "the last row of a strided table is not counted"},
	{name: "go/table/overlap", file: "rotate.go", tests: tableTests,
		old: `r.table.overlaps(&x) {`, new: `false {`,
		wrong: "what is rotated may share memory with the table"},
	{name: "go/table/zero-sign", file: "fullwidth.go", tests: tableTests,
		old: `math.Float32bits(a[i]) != math.Float32bits(b[i])`, new: `a[i] != b[i] && !math.IsNaN(float64(a[i]))`,
		wrong: "zeros of both signs are taken for equal"},

	// Scores.
	{name: "go/scores/distance", file: "scores.go", tests: scoresTests,
		old: `t.firstKey + b.key - t.firstQuery - b.query`, new: `t.firstKey + b.key - t.firstQuery + b.query`,
		wrong: "queries count the wrong way"},
	{name: "go/scores/first-head", file: "alibi.go", tests: scoresTests,
		old: `slopes[t.firstHead+b.head]`, new: `slopes[b.head]`,
		wrong: "a tile takes the slopes of the first heads"},
	{name: "go/scores/blocks", file: "scores.go", tests: scoresTests,
		old: `b.key += b.Len`, new: `b.key += blockKeys`,
		wrong: "the last keys are not the end of a row"},
	{name: "go/scores/overlap", file: "scores.go", tests: scoresTests,
		old: `!packed && g.selfOverlaps()`, new: `false`,
		wrong: "rows of keys may overlap"},
	{name: "go/scores/range", file: "scores.go", tests: scoresTests,
		old: `s.FirstKey > endOfPositions-s.Keys`, new: `s.FirstKey > endOfPositions`,
		wrong: "positions beyond 2^30 are taken"},
	{name: "go/scores/head-range", file: "scores.go", tests: scoresTests,
		old: `s.Heads > modelHeads-s.FirstHead`, new: `s.Heads > modelHeads`,
		wrong: "heads beyond those of the model are taken"},
	{name: "go/scores/pieces", file: "scores.go", tests: scoresTests,
		old: `x, first+r*step, step, &piece)`, new: `x, first, step, &piece)`,
		wrong: "the second call of a kernel starts anew"},
	{name: "go/alibi/slopes", file: "alibi.go", tests: scoresTests,
		old: `2*(h-power)+1`, new: `2*(h-power)+2`,
		wrong: "slopes beyond a power of two are those of other heads"},
	{name: "go/alibi/key", file: "alibi.go", tests: scoresTests,
		old: `slope, t.firstKey+b.key, 0, &b.Tile)`, new: `slope, b.key, 0, &b.Tile)`,
		wrong: "keys of a tile count from 0"},
	{name: "go/t5/edge", file: "t5.go", tests: scoresTests,
		old: `power(exact, side-exact))) >= 0`, new: `power(exact, side-exact))) > 0`,
		wrong: "a distance at the edge of a bucket is in the one before"},
	{name: "go/t5/order", file: "t5.go", tests: scoresTests,
		old: `first+before+bias.reach+t5Rows, -1`, new: `first+before+bias.reach+t5Rows+1, -1`,
		wrong: "biases of distances greater by one"},
	{name: "go/deberta/edge", file: "deberta.go", tests: scoresTests,
		old: `power(middle, middle-1))) > 0`, new: `power(middle, middle-1))) >= 0`,
		wrong: "a distance at the edge of a bucket is in the next"},
	{name: "go/deberta/last", file: "deberta.go", tests: scoresTests,
		old: `min(max(bucket+b.span, 0), 2*b.span-1)`, new: `min(max(bucket+b.span, 0), 2*b.span-2)`,
		wrong: "the last position is never taken"},
	{name: "go/relative-shift/step", file: "transformerxl.go", tests: scoresTests,
		old: `products.RowStride-1`, new: `products.RowStride`,
		wrong: "rows are not shifted"},
	{name: "go/relative-shift/end", file: "transformerxl.go", tests: scoresTests,
		old: `columns-(column-r)`, new: `columns-(column-r)+1`,
		wrong: "a key beyond the columns takes one"},
	{name: "go/shaw/clip", file: "shaw.go", tests: scoresTests,
		old: `min(max(maxDistance+1-first, before), b.Len)`, new: `min(max(maxDistance-first, before), b.Len)`,
		wrong:    "distances of maxDistance are taken for ones beyond",
		harmless: "both take the last column"},
	{name: "go/shaw/column", file: "shaw.go", tests: scoresTests,
		old: `row[first+before+maxDistance:]`, new: `row[first+before+maxDistance+1:]`,
		wrong: "vectors of distances greater by one"},
	{name: "go/products/short", file: "products.go", tests: scoresTests,
		old: `case len(p.Data) < need:`, new: `case len(p.Data) < need-1:`,
		wrong: "the last product may be missing"},
	{name: "go/products/bias", file: "products.go", tests: scoresTests,
		old: `rows, bias, h*headDim, 0, &tile)`, new: `rows, bias, 0, 0, &tile)`,
		wrong: "all heads have the bias of the first"},
	{name: "go/products/vectors", file: "products.go", tests: scoresTests,
		old: `	if to.heads == 1 {
		to.headStride = 0
	}
`, new: ``,
		wrong: "heads do not share the vectors"},
	{name: "go/products/sequence", file: "products.go", tests: scoresTests,
		old: `m.Rows = min(most, from.together(t, tokens-t))`, new: `m.Rows = min(most, tokens-t)`,
		wrong: "a call of a kernel reaches into the next sequence"},
	{name: "go/products/apart", file: "products.go", tests: scoresTests,
		old: `	if err := products.checkApart(function, "products", x.Heads, tokens, columns); err != nil {
		return err
	}
`, new: ``,
		wrong: "products may overlap each other"},

	// Norms and scales.
	{name: "go/norm/heads", file: "norm.go", tests: rowTests,
		old: `if x.tokenStride == heads*x.headStride {`, new: `if x.tokenStride >= heads*x.headStride {`,
		wrong: "tokens with gaps are taken for packed ones"},
	{name: "go/norm/calls", file: "norm.go", tests: rowTests,
		old: `from := at + done*stride`, new: `from := at`,
		wrong: "the second call of a kernel starts anew"},
	{name: "go/norm/unit-offset", file: "norm.go", tests: rowTests,
		old: `n.weight[i]++`, new: `n.weight[i] = 1`,
		wrong: "weights with an offset are 1"},
	{name: "go/norm/reference", file: "norm.go", tests: rowTests,
		old: `append([]float32(nil), weight...)`, new: `weight`,
		wrong: "the weights of the caller are kept"},
	{name: "go/norm/scale-calls", file: "norm.go", tests: rowTests,
		old: `at + head*x.headStride + column`, new: `at + head*x.headStride`,
		wrong: "a long head is scaled at its start only"},
	{name: "go/fused/first", file: "fused.go", tests: rowTests,
		old: `if column == 0 {
					xs[i].normalize`, new: `if true {
					xs[i].normalize`,
		wrong: "wide heads are normalized twice"},
	{name: "go/fused/last", file: "fused.go", tests: rowTests,
		old: `if column+pairs == r.rotaryDim/2 {`, new: `if column == 0 {`,
		wrong: "wide heads are scaled before their last part is rotated"},
	{name: "go/query-scale/step", file: "queryscale.go", tests: rowTests,
		old: `k := 1 + uint64(int64(p)+int64(offset))/uint64(length)`, new: `k := 1 + uint64(int64(p)+int64(offset)+1)/uint64(length)`,
		wrong: "scales change one position too early"},
	{name: "go/query-scale/margin", file: "queryscale.go", tests: rowTests,
		old: `const margin = 0x1p-49`, new: `const margin = 0x1p-56`,
		wrong: "the error bound of a scale is below the error"},

	// Absolute encodings.
	{name: "go/sinusoidal/order", file: "sinusoidal.go", tests: absoluteTests,
		old: `		return s.pairs + k, k
`, new: `		return k, s.pairs + k
`,
		wrong: "sines come first in every order"},
	{name: "go/sinusoidal/padding", file: "sinusoidal.go", tests: absoluteTests,
		old: `s.padded && position == float64(s.padding)`, new: `position == float64(s.padding)`,
		wrong: "position 0 is padding where there is none"},
	{name: "go/sinusoidal/rest", file: "sinusoidal.go", tests: absoluteTests,
		old: `clear(row[rest:])`, new: ``,
		wrong: "elements beyond the frequencies are not zero"},
	{name: "go/sinusoidal/axis", file: "sinusoidal.go", tests: absoluteTests,
		old: `		for axis := range s.axes {
			part := positions[axis*tokens+first:][:count]
`, new: `		for axis := range s.axes {
			part := positions[first:][:count]
`,
		wrong: "all axes take the positions of the first"},
	{name: "go/learned/offset", file: "learned.go", tests: absoluteTests,
		old: `first := (e.Offset + int(e.IDs[t])) * dim`, new: `first := int(e.IDs[t]) * dim`,
		wrong: "16-bit tables are read without the offset"},
	{name: "go/learned/last-row", file: "learned.go", tests: absoluteTests,
		old: `int64(id) >= int64(rows-e.Offset)`, new: `int64(id) > int64(rows-e.Offset)`,
		wrong: "a row beyond the last is taken"},
	{name: "go/learned/centre", file: "learned.go", tests: absoluteTests,
		old: `int64(2*i+1)*int64(n)-int64(m)`, new: `int64(2*i)*int64(n)`,
		wrong: "corners are aligned, not centres"},
	{name: "go/learned/cubic", file: "learned.go", tests: absoluteTests,
		old: `const a = -0.75`, new: `const a = -0.5`,
		wrong: "another cubic"},

	// Positions and weights.
	{name: "go/positions/overlap", file: "positions.go", tests: positionTests,
		old: `if overlap(positions, starts) {`, new: `if false {`,
		wrong: "positions may share elements with starts"},
	{name: "go/positions/overflow", file: "positions.go", tests: positionTests,
		old: `int64(offsets[b])+int64(end-start)-1 > math.MaxInt32`, new: `int64(offsets[b])+int64(end-start)-2 > math.MaxInt32`,
		wrong: "the last position may overflow"},
	{name: "go/positions/dual-chunk", file: "positions.go", tests: positionTests,
		old: `min(p+length, d.ChunkSize)`, new: `p + length`,
		wrong: "successive chunks are not bounded"},
	{name: "go/permute/in-place", file: "permute.go", tests: positionTests,
		old: `			copy(scratch, from)
			from = scratch
`, new: `			_ = scratch
`,
		wrong: "rows are read after they were written"},
	{name: "go/permute/rest", file: "permute.go", tests: positionTests,
		old: `copy(dst[last:end], src[last:end])`, new: ``,
		wrong: "rows behind the rotated ones are not copied"},

	// Tables of cosines and sines.
	{name: "go/cossin-calls/overlap", file: "cossin.go", tests: cosSinCalls,
		old: `	if overlap(sin, angles) {
`, new: `	if false {
`,
		wrong: "sines may share elements with the angles"},
	{name: "go/cossin-calls/length", file: "cossin.go", tests: cosSinCalls,
		old: `if table.len != want {`, new: `if table.len < want {`,
		wrong: "tables may be too long"},
	{name: "go/cossin-calls/column", file: "cossin.go", tests: cosSinCalls,
		old: `at := t*stride + column`, new: `at := t*len(invFreq) + column`,
		wrong: "rows of several blocks lie one after another"},
	{name: "go/cossin-calls/largest", file: "cossin.go", tests: cosSinCalls,
		old: `	if !(largest < maxAngle) {
`, new: `	if largest > maxAngle {
`,
		wrong: "a frequency of NaN or 2^50 is taken"},
	{name: "go/cossin-calls/overlap-end", file: "cossin.go", tests: cosSinCalls,
		old: `startA < startB+size*uintptr(len(b))`, new: `startA+size < startB+size*uintptr(len(b))`,
		wrong: "slices may share one element"},
}
