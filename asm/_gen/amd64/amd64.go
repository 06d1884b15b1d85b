// Package amd64 writes the AVX2 and AVX-512 kernels with avo. Both come from
// the same functions: what differs is the width of a vector and how a part of
// one is loaded and stored.
package amd64

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// kernels maps each operation, without its types, to the function that writes its
// body for the types of the emitter.
var kernels = map[string]func(*emitter){
	"RotateHalfSplit":                 rotateHalfSplit,
	"RotateInterleaved":               rotateInterleaved,
	"Convert":                         convert,
	"AddScaled":                       addScaled,
	"Deinterleave":                    deinterleave,
	"Interleave":                      interleave,
	"CosSinExact":                     cosSinExact,
	"CosSinSeed":                      cosSinSeed,
	"CosSinShift":                     func(e *emitter) { cosSinShift(e, false, nil) },
	"CosSinShiftNonTemporal":          func(e *emitter) { cosSinShift(e, true, nil) },
	"CosSinShiftRounded":              func(e *emitter) { cosSinShift(e, false, (*emitter).turn) },
	"CosSinShiftRounded3":             func(e *emitter) { cosSinShift(e, false, (*emitter).turn3) },
	"SinusoidalRowsInterleaved":       func(e *emitter) { sinusoidalRows(e, true, false) },
	"AddSinusoidalInterleaved":        func(e *emitter) { sinusoidalRows(e, true, true) },
	"AddSinusoidalHalfSplit":          func(e *emitter) { sinusoidalRows(e, false, true) },
	"CosSinFloat32":                   cosSinFloat32,
	"RMSNorm":                         rmsNorm,
	"ScaleRows":                       scaleRows,
	"RMSNormRotateHalfSplit":          func(e *emitter) { rmsNormRotate(e, (*fusion).rotateHalfSplit) },
	"RMSNormRotateInterleaved":        func(e *emitter) { rmsNormRotate(e, (*fusion).rotateInterleaved) },
	"DotProducts":                     dotProducts,
	"AddMultiples":                    addMultiples,
	"AddRows":                         addRows,
	"AddClamped":                      addClamped,
	"AddDistance":                     func(e *emitter) { addDistance(e, false) },
	"SubAbsoluteDistance":             func(e *emitter) { addDistance(e, true) },
	"Quantize":                        quantize,
	"QuantizeRow":                     quantizeRow,
	"QuantizeGroup":                   quantizeGroup,
	"Dequantize":                      dequantize,
	"QuantizeBlocks":                  quantizeBlocks,
	"DequantizeBlocks":                dequantizeBlocks,
	"RotateQuantizeHalfSplit":         func(e *emitter) { rotateQuantize(e, false) },
	"RotateQuantizeInterleaved":       func(e *emitter) { rotateQuantize(e, true) },
	"RotateQuantizeScaledHalfSplit":   func(e *emitter) { rotateScaled(e, false) },
	"RotateQuantizeScaledInterleaved": func(e *emitter) { rotateScaled(e, true) },
	"RotateQuantizeRowHalfSplit":      func(e *emitter) { rotateQuantize(e, false) },
	"RotateQuantizeRowInterleaved":    func(e *emitter) { rotateQuantize(e, true) },
	"Range":                           rangeOf,
	"RangeColumns":                    rangeColumns,
	"AffineScales":                    scalesOfRanges,
	"QuantizeAffine":                  func(e *emitter) { quantizeAffine(e, false) },
	"QuantizeAffineColumns":           func(e *emitter) { quantizeAffine(e, true) },
	"DequantizeAffine":                func(e *emitter) { dequantizeAffine(e, false) },
	"DequantizeAffineColumns":         func(e *emitter) { dequantizeAffine(e, true) },
	"PackNibbles":                     packNibbles,
	"UnpackNibbles":                   unpackNibbles,
	"Hadamard":                        hadamard,
	"CopyNonTemporal":                 copyNonTemporal,
	"FenceStores":                     fenceStores,
	"ClearUpperHalves":                clearUpperHalves,
	"SwapMXCSR":                       swapMXCSR,
	"UpperHalves":                     upperHalves,
	"UseUpperHalves":                  useUpperHalves,
	"Scale":                           func(e *emitter) { e.inPlace(e.VMULPS, "factor", false) },
	"ScalePrefetch":                   func(e *emitter) { e.inPlace(e.VMULPS, "factor", true) },
	"Add":                             func(e *emitter) { e.inPlace(e.VADDPS, "value", false) },
	"AddPrefetch":                     func(e *emitter) { e.inPlace(e.VADDPS, "value", true) },
	"Store":                           func(e *emitter) { store(e, false) },
	"StoreNonTemporal":                func(e *emitter) { store(e, true) },
	"StoreHalvesNonTemporal":          storeHalves,
	"LoadStoreNonTemporal":            func(e *emitter) { loadStore(e, false) },
	"LoadStoreNonTemporalPrefetch":    func(e *emitter) { loadStore(e, true) },
}

// Assemble returns the .s file and the stubs of one family.
func Assemble(pkg, family string, operations []operation.Operation) (assembly, stubs []byte, err error) {
	c := build.NewContext()
	c.ConstraintExpr("!purego")
	constants := map[string]operand.Mem{}
	err = operation.Bodies("amd64", operations, kernels, func(op *operation.Operation, isa, name string, kernel func(*emitter)) error {
		c.Function(name)
		c.Doc(strings.Split(fmt.Sprintf(op.Doc, name), "\n")...)
		c.Pragma("noescape")
		c.SignatureExpr("func" + op.Signature())
		kernel(&emitter{Context: c, to: element(op.Types.To), from: element(op.Types.From), avx512: isa == "AVX512", constants: constants, lengths: op.Lengths})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	file, err := c.Result()
	if err != nil {
		return nil, nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, nil, err
	}
	if err := checkRegisters(file); err != nil {
		return nil, nil, err
	}
	broadcastConstants(file)
	joinData(file)
	config := printer.Config{Name: "asm/_gen", Pkg: pkg}
	if assembly, err = printer.NewGoAsm(config).Print(file); err != nil {
		return nil, nil, err
	}
	stubs, err = printer.NewStubs(config).Print(file)
	return assembly, stubs, err
}

// joinData writes data sections of smaller integers by 8 bytes.
func joinData(file *ir.File) {
	for _, section := range file.Sections {
		g, ok := section.(*ir.Global)
		if !ok || g.Size%8 != 0 {
			continue
		}
		words := make([]operand.U64, g.Size/8)
		for _, d := range g.Data {
			word, by := &words[d.Offset/8], d.Offset%8*8
			switch v := d.Value.(type) {
			case operand.U16:
				*word |= operand.U64(v) << by
			case operand.U32:
				*word |= operand.U64(v) << by
			case operand.U64:
				*word = v
			}
		}
		g.Data = nil
		for i, word := range words {
			g.Data = append(g.Data, ir.NewDatum(8*i, word))
		}
	}
}

// checkRegisters finds vector registers that AVX2 has not: avo gives them to kernels that
// need more than 16 at once.
func checkRegisters(file *ir.File) error {
	for _, f := range file.Functions() {
		if !strings.HasSuffix(f.Name, "AVX2") {
			continue
		}
		for _, i := range f.Instructions() {
			for _, r := range i.Registers() {
				if p, ok := r.(reg.Physical); ok && r.Kind() == reg.KindVector && p.PhysicalIndex() > 15 {
					return fmt.Errorf("%s needs register %s", f.Name, p.Asm())
				}
			}
		}
	}
	return nil
}

// emitter writes one kernel for one instruction set. Other structs hold it in a field e. If they embedded it, the
// compiler would write a wrapper for each of the 3,300 methods of avo's Context in each of them: 30 s more.
type emitter struct {
	*build.Context
	to, from      element // what the operation writes and reads
	avx512        bool
	constants     map[string]operand.Mem // data sections of the file
	lengths       []int                  // of rows, where there are no others
	deinterleaved bool                   // of four registers two have the first elements of pairs, and two the second: see rotatedPairs
	evenOdd       evenOddConstants
	labels        int
	rare          []func() // write what is seldom run, behind the rest
}

// vector returns a new register of the full width.
func (e *emitter) vector() reg.VecVirtual {
	if e.avx512 {
		return e.ZMM()
	}
	return e.YMM()
}

// half returns a new register of half the width: as many float32 as a vector
// has float64.
func (e *emitter) half() reg.VecVirtual {
	if e.avx512 {
		return e.YMM()
	}
	return e.XMM()
}

// lanes returns the float32 in a vector.
func (e *emitter) lanes() int {
	if e.avx512 {
		return 16
	}
	return 8
}

// fence orders non-temporal stores before what follows. avo counts SFENCE as an
// extension of MMX, but it came with SSE.
func (e *emitter) fence() { e.Instruction(&ir.Instruction{Opcode: "SFENCE"}) }

// ahead is how many bytes before it is used a line is fetched, where a kernel goes
// through memory once: one stream is bound by latency, as hardware prefetches some 20
// lines ahead and starts anew on each page. Zen 4, AVX-512, ps a byte of 64 MiB, 1024, 2048,
// 3072 and 4096 bytes: Rotate 58, 59, 61, 64, bfloat16 68, 73, 61, 61, Normalize 133, 115, 85,
// 77, AddSinusoidal 150, 113, 99, 93.
const ahead = 4096

const line = 64 // bytes that a cache fetches at once

// prefetch fetches a line into the second cache: on its way into the first it would take
// one of the few places where loads wait. Zen 4, AVX-512, ps a byte of 64 MiB, into the first
// cache, the second and no prefetch: Rotate 86, 59, 60, Normalize 118, 82, 167, AddSinusoidal
// 111, 96, 159, RotateInto to bfloat16 119, 97, 116; but bfloat16 in place 63, 69, 69 and
// Hadamard 57, 62, 51. avo counts PREFETCHT1 as an extension of MMX too.
func (e *emitter) prefetch(from operand.Mem) { e.prefetchInto("PREFETCHT1", from) }

// prefetchNear fetches a line into the first cache.
func (e *emitter) prefetchNear(from operand.Mem) { e.prefetchInto("PREFETCHT0", from) }

func (e *emitter) prefetchInto(opcode string, from operand.Mem) {
	e.Instruction(&ir.Instruction{Opcode: opcode, Operands: []operand.Op{from}, Inputs: []operand.Op{from}})
}

// prefetchAhead fetches the lines of some bytes from an address on, ahead of time. It
// is a hint, harmless where there is no memory.
func (e *emitter) prefetchAhead(from operand.Mem, bytes int) {
	if bytes < line/2 {
		return // those before it have fetched the line
	}
	e.prefetchLines(from.Offset(ahead), bytes)
}

// prefetchLines fetches the lines of some bytes from an address on.
func (e *emitter) prefetchLines(from operand.Mem, bytes int) {
	for at := 0; at < bytes; at += line {
		e.prefetch(from.Offset(at))
	}
}

// moveIf moves a general register under a condition. avo counts CMOV as an extension,
// but every amd64 has it.
func (e *emitter) moveIf(condition string, from, to reg.GPVirtual) {
	e.Instruction(&ir.Instruction{
		Opcode: "CMOVQ" + condition, Operands: []operand.Op{from, to},
		Inputs: []operand.Op{from, to}, Outputs: []operand.Op{to},
	})
}

func (e *emitter) label(name string) string {
	e.labels++
	return fmt.Sprintf("%s%d", name, e.labels)
}

// jumpIfZero branches where a register is 0, jumpUnless where a bit of it is.
func (e *emitter) jumpIfZero(r reg.GPVirtual, label string) {
	e.TESTQ(r, r)
	e.JZ(operand.LabelRef(label))
}

func (e *emitter) jumpUnless(r reg.GPVirtual, bit uint32, label string) {
	e.TESTQ(operand.U32(bit), r)
	e.JZ(operand.LabelRef(label))
}

// rows runs body for each of count rows, and returns.
func (e *emitter) rows(count reg.GPVirtual, body func()) {
	done, loop := e.label("done"), e.label("rows")
	e.jumpIfZero(count, done)
	e.Label(loop)
	body()
	e.DECQ(count)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.leave()
}

// leave returns from a kernel that used vectors.
func (e *emitter) leave() {
	e.VZEROUPPER()
	e.RET()
}

// argument loads a parameter into a general register.
func (e *emitter) argument(name string) reg.GPVirtual {
	return e.Load(e.Param(name), e.GP64()).(reg.GPVirtual)
}

// stride loads a parameter that counts float32, as bytes.
func (e *emitter) stride(name string) reg.GPVirtual {
	r := e.argument(name)
	e.SHLQ(operand.Imm(2), r)
	return r
}

// broadcast32 and broadcast64 load a float parameter into every lane.
func (e *emitter) broadcast32(name string, v reg.VecVirtual) reg.VecVirtual {
	e.VBROADCASTSS(e.parameter(name), v)
	return v
}

func (e *emitter) broadcast64(name string) reg.VecVirtual {
	v := e.vector()
	e.VBROADCASTSD(e.parameter(name), v)
	return v
}

// parameter returns the address of a parameter.
func (e *emitter) parameter(name string) operand.Mem {
	address, err := e.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return address.Addr
}

// wide returns the address of a float64 constant repeated over a full vector.
func (e *emitter) wide(name string, value float64) operand.Mem {
	return e.data(name, 8, math.Float64bits(value))
}

// wide32 returns the address of 32 bits repeated over a full vector.
func (e *emitter) wide32(name string, value uint32) operand.Mem {
	return e.data(name, 4, uint64(value))
}

func (e *emitter) data(name string, size int, value uint64) operand.Mem {
	if m, ok := e.constants[name]; ok {
		return m
	}
	m := e.StaticGlobal(name)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := 0; i < 64; i += size {
		if size == 8 {
			e.AddDatum(i, operand.U64(value))
		} else {
			e.AddDatum(i, operand.U32(uint32(value)))
		}
	}
	e.constants[name] = m
	return m
}

// constant returns a float64 constant as an operand: AVX-512 has the registers
// to keep it, AVX2 reads it from memory.
func (e *emitter) constant(name string, value float64) operand.Op {
	m := e.wide(name, value)
	if !e.avx512 {
		return m
	}
	v := e.vector()
	e.VMOVUPD(m, v)
	return v
}

// tailMask sets a mask to the lowest count lanes, count below 16.
func (e *emitter) tailMask(count reg.GPVirtual) reg.OpmaskVirtual {
	bits := e.GP64()
	e.MOVQ(operand.U64(^uint64(0)), bits)
	e.BZHIQ(count, bits, bits)
	k := e.K()
	e.KMOVW(bits.As32(), k)
	return k
}

// storeHalf stores the lowest count float32 of a half vector, count below its
// lanes, and leaves v changed.
func (e *emitter) storeHalf(v reg.VecVirtual, to operand.Mem, count reg.GPVirtual) {
	if e.avx512 {
		e.VMOVUPS(v, e.tailMask(count), to)
		return
	}
	single, done := e.label("single"), e.label("stored")
	at := e.GP64()
	e.LEAQ(to, at)
	e.jumpUnless(count, 2, single)
	e.VMOVLPS(v, operand.Mem{Base: at})
	e.VPSRLDQ(operand.Imm(8), v, v)
	e.ADDQ(operand.Imm(8), at)
	e.Label(single)
	e.jumpUnless(count, 1, done)
	e.VMOVSS(v, operand.Mem{Base: at})
	e.Label(done)
}

// loadHalf loads the lowest count float32 of a half vector, count below its
// lanes, and sets the others to zero.
func (e *emitter) loadHalf(v reg.VecVirtual, from operand.Mem, count reg.GPVirtual) {
	if e.avx512 {
		e.VMOVUPS_Z(from, e.tailMask(count), v)
		return
	}
	pair, done := e.label("pair"), e.label("loaded")
	at := e.GP64()
	e.LEAQ(from, at)
	e.VXORPS(v, v, v)
	e.jumpUnless(count, 1, pair)
	e.VMOVSS(operand.Mem{Base: at, Index: count, Scale: 4, Disp: -4}, v) // the last: a pair comes before it
	e.Label(pair)
	e.jumpUnless(count, 2, done)
	e.VPSLLDQ(operand.Imm(8), v, v)
	e.VMOVLPS(operand.Mem{Base: at}, v, v)
	e.Label(done)
}
