package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// AVX2 rotates 8 pairs at a time, first elements in one register and second ones in another,
// by cosines and sines in memory: there are too few registers for a row. Interleaved, first
// elements are 4 pairs of each of two registers, 0, 1, 4, 5, 2, 3, 6, 7, and the
// cosines and sines are brought into that order before.

// arranged returns where cosines or sines of the pairs lie in the order of the rotation.
// Interleaved, that is to, where it writes them.
func (e *emitter) arranged(from, to operand.Mem, pairs int) operand.Mem {
	if !e.deinterleaved {
		return from
	}
	for i := 0; i < 4*pairs; i += 32 {
		v := e.vector()
		e.VPERMPD(operand.Imm(0xd8), from.Offset(i), v)
		e.VMOVUPS(v, to.Offset(i))
	}
	return to
}

// rotatedPairs returns pairs 8*j to 8*j+7 of a head at x, rotated. HalfSplit, x2 is where
// its second elements are.
func (e *emitter) rotatedPairs(j int, x, x2, cos, sin operand.Mem) (first, second reg.VecVirtual) {
	if e.deinterleaved {
		first, second = e.keep(x.Offset(64*j)), e.vector()
		other := x.Offset(64*j + 32)
		e.VSHUFPS(operand.U8(0xdd), other, first, second)
		e.VSHUFPS(operand.U8(0x88), other, first, first)
	} else {
		first, second = e.keep(x.Offset(32*j)), e.keep(x2.Offset(32*j))
	}
	e.rotatePairs(first, second, e.keep(cos.Offset(32*j)), e.keep(sin.Offset(32*j)))
	return first, second
}

// places returns the numbers of the two registers of rotatedPairs among the registers of a
// head, each four of which have 32 numbers, as inOrder takes them.
func (e *emitter) places(j, pairs int) (first, second int) {
	if e.deinterleaved {
		return j/2*4 + j%2, j/2*4 + j%2 + 2
	}
	return j, pairs/8 + j
}

// narrowRotator is newRotator on AVX2, by a row that is arranged.
func (e *emitter) narrowRotator(cos, sin operand.Mem, pairs int) rotator {
	return func(x, x2 operand.Mem) []reg.VecVirtual {
		list := make([]reg.VecVirtual, pairs/4)
		for j := range pairs / 8 {
			first, second := e.places(j, pairs)
			list[first], list[second] = e.rotatedPairs(j, x, x2, cos, sin)
		}
		return list
	}
}

// arrangeRow brings a new row into the order of the rotation.
func (g *headGroups) arrangeRow() {
	if !g.e.deinterleaved {
		return
	}
	g.e.arranged(operand.Mem{Base: g.e.argument("cos")}, g.memory(cosAt), g.pairs)
	g.e.arranged(operand.Mem{Base: g.e.argument("sin")}, g.memory(sinAt), g.pairs)
}

// narrowHeads is the headRotator of AVX2.
type narrowHeads struct {
	*headGroups
	cos, sin  operand.Mem
	magnitude reg.VecVirtual
}

func (g *headGroups) newNarrowHeads() *narrowHeads {
	n := &narrowHeads{headGroups: g, magnitude: g.e.keep(g.e.magnitudes())}
	if g.e.deinterleaved {
		n.cos, n.sin = g.memory(cosAt), g.memory(sinAt)
	} else {
		n.cos, n.sin = operand.Mem{Base: g.e.argument("cos")}, operand.Mem{Base: g.e.argument("sin")}
	}
	return n
}

func (n *narrowHeads) rotate(x, to operand.Mem) []reg.VecVirtual {
	blocks := make([]reg.VecVirtual, n.pairs/16)
	for j := range n.pairs / 8 {
		first, second := n.e.rotatedPairs(j, x, x.Offset(4*n.pairs), n.cos, n.sin)
		i, k := n.e.places(j, n.pairs)
		n.e.VMOVUPS(first, to.Offset(32*i))
		n.e.VMOVUPS(second, to.Offset(32*k))
		for _, m := range []struct {
			block int
			v     reg.VecVirtual
		}{{i / 4, first}, {k / 4, second}} {
			n.e.VPAND(n.magnitude, m.v, m.v)
			if largest := blocks[m.block]; largest == nil {
				blocks[m.block] = m.v
			} else {
				n.e.larger(m.v, largest, largest)
			}
		}
	}
	return blocks
}

// end does nothing: the largest of bits is NaN where a number is.
func (n *narrowHeads) end() {}
