package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quantizeGroup is quantizeRow with scales by a rule. A scale may be as small as 2^-126, and what a product by its
// inverse is too large by would be subnormal: both the scale and the numbers are multiplied by the
// power of two that brings the scale to 1 or above, below 2.
func quantizeGroup(e *emitter) {
	e.quantizeRows(func(amax reg.VecVirtual) []reg.VecVirtual {
		scale := e.ruledScales(amax)
		exponent, power, normal := e.like(amax), e.like(amax), e.like(amax)
		e.and(e.wide32("exponent32", infinity32), scale, exponent)
		e.VMOVUPS(e.wide32("twiceOne32", 2*0x3f800000), power)
		e.VPSUBD(exponent, power, power)
		e.VPSUBD(exponent, scale, normal)
		e.VPADDD(e.wide32("one32", 0x3f800000), normal, normal)
		return []reg.VecVirtual{e.inverse(normal), normal, power, scale}
	}, func(of []reg.VecVirtual, numbers []operand.Op) (list []reg.VecVirtual) {
		for _, x := range numbers {
			v := e.vector()
			e.VMULPS(x, of[2], v)
			list = append(list, e.quotients([]operand.Op{v}, of[1], of[0])...)
		}
		return list
	})
}

// ruledScales returns the scales of rows with the given largest magnitudes. Scales that are not finite
// stay as they are where others become powers of two.
func (e *emitter) ruledScales(amax reg.VecVirtual) reg.VecVirtual {
	parameter := func(name string) reg.VecVirtual { return e.broadcast32(name, e.like(amax)) }
	scale, power, fraction := e.like(amax), e.like(amax), parameter("fraction")
	e.VPMAXUD(parameter("leastAmax"), amax, scale)
	e.VDIVPS(e.wide32("largestE4M3", float8s[e4m3s].largest), scale, scale)
	e.VPMAXUD(parameter("leastScale"), scale, scale)
	e.VPMINUD(e.wide32("nan32", 0x7fc00000), scale, scale)
	e.VPADDD(fraction, scale, power)
	if e.avx512 {
		e.VPANDND(power, fraction, power)
	} else {
		e.VPANDN(power, fraction, power)
	}
	e.VPMINUD(e.wide32("exponent32", infinity32), power, power)
	e.VPMAXUD(power, scale, scale)
	return scale
}
