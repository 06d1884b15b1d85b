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

// kernels maps each operation to the function that writes its body.
var kernels = map[string]func(*emitter){
	"RotateHalfSplitF32":           func(e *emitter) { rotateHalfSplit(e, float32s, float32s) },
	"RotateHalfSplitF16":           func(e *emitter) { rotateHalfSplit(e, float16s, float16s) },
	"RotateHalfSplitBF16":          func(e *emitter) { rotateHalfSplit(e, bfloat16s, bfloat16s) },
	"RotateHalfSplitF32ToF16":      func(e *emitter) { rotateHalfSplit(e, float16s, float32s) },
	"RotateHalfSplitF32ToBF16":     func(e *emitter) { rotateHalfSplit(e, bfloat16s, float32s) },
	"RotateInterleavedF32":         func(e *emitter) { rotateInterleaved(e, float32s, float32s) },
	"RotateInterleavedF16":         func(e *emitter) { rotateInterleaved(e, float16s, float16s) },
	"RotateInterleavedBF16":        func(e *emitter) { rotateInterleaved(e, bfloat16s, bfloat16s) },
	"RotateInterleavedF32ToF16":    func(e *emitter) { rotateInterleaved(e, float16s, float32s) },
	"RotateInterleavedF32ToBF16":   func(e *emitter) { rotateInterleaved(e, bfloat16s, float32s) },
	"ConvertF16ToF32":              func(e *emitter) { convert(e, float32s, float16s) },
	"ConvertBF16ToF32":             func(e *emitter) { convert(e, float32s, bfloat16s) },
	"ConvertF32ToF16":              func(e *emitter) { convert(e, float16s, float32s) },
	"ConvertF32ToBF16":             func(e *emitter) { convert(e, bfloat16s, float32s) },
	"AddScaledF32":                 func(e *emitter) { addScaled(e, float32s) },
	"AddScaledF16":                 func(e *emitter) { addScaled(e, float16s) },
	"AddScaledBF16":                func(e *emitter) { addScaled(e, bfloat16s) },
	"DeinterleaveB32":              func(e *emitter) { deinterleave(e, 4) },
	"DeinterleaveB16":              func(e *emitter) { deinterleave(e, 2) },
	"InterleaveB32":                func(e *emitter) { interleave(e, 4) },
	"InterleaveB16":                func(e *emitter) { interleave(e, 2) },
	"CosSinExactF32":               cosSinExact,
	"CosSinSeedF64":                cosSinSeed,
	"CosSinShiftF32":               func(e *emitter) { cosSinShift(e, false) },
	"CosSinShiftNonTemporalF32":    func(e *emitter) { cosSinShift(e, true) },
	"SinusoidalRowsInterleavedF32": func(e *emitter) { sinusoidalRows(e, true, false) },
	"AddSinusoidalInterleavedF32":  func(e *emitter) { sinusoidalRows(e, true, true) },
	"AddSinusoidalHalfSplitF32":    func(e *emitter) { sinusoidalRows(e, false, true) },
	"CosSinFloat32F32":             cosSinFloat32,
	"RMSNormF32":                   func(e *emitter) { rmsNorm(e, float32s) },
	"RMSNormF16":                   func(e *emitter) { rmsNorm(e, float16s) },
	"RMSNormBF16":                  func(e *emitter) { rmsNorm(e, bfloat16s) },
	"ScaleRowsF32":                 func(e *emitter) { scaleRows(e, float32s) },
	"ScaleRowsF16":                 func(e *emitter) { scaleRows(e, float16s) },
	"ScaleRowsBF16":                func(e *emitter) { scaleRows(e, bfloat16s) },
	"RMSNormRotateHalfSplitF32":    func(e *emitter) { rmsNormRotate(e, (*fusion).rotateHalfSplit) },
	"RMSNormRotateInterleavedF32":  func(e *emitter) { rmsNormRotate(e, (*fusion).rotateInterleaved) },
	"DotProductsF32":               dotProducts,
	"AddMultiplesF32":              addMultiples,
	"AddRowsF32":                   addRows,
	"AddClampedF32":                addClamped,
	"AddDistanceF32":               func(e *emitter) { addDistance(e, false) },
	"SubAbsoluteDistanceF32":       func(e *emitter) { addDistance(e, true) },
	"CopyNonTemporalB32":           copyNonTemporal,
	"FenceStores":                  fenceStores,
	"SwapMXCSR":                    swapMXCSR,
	"ScaleF32":                     func(e *emitter) { scale(e, false) },
	"ScalePrefetchF32":             func(e *emitter) { scale(e, true) },
	"AddF32":                       func(e *emitter) { addValue(e, false) },
	"AddPrefetchF32":               func(e *emitter) { addValue(e, true) },
	"StoreF32":                     func(e *emitter) { store(e, false) },
	"StoreNonTemporalF32":          func(e *emitter) { store(e, true) },
}

// Assemble returns the .s file and the stubs of one family.
func Assemble(pkg, family string, operations []operation.Operation) (assembly, stubs []byte, err error) {
	c := build.NewContext()
	c.ConstraintExpr("!purego")
	constants := map[string]operand.Mem{}
	for _, op := range operations {
		for _, isa := range operation.InstructionSets["amd64"] {
			if op.Only != "" && op.Only != isa {
				continue
			}
			c.Function(op.Name + isa)
			c.Doc(strings.Split(fmt.Sprintf(op.Doc, op.Name+isa), "\n")...)
			c.Pragma("noescape")
			c.SignatureExpr("func" + op.Signature)
			kernels[op.Name](&emitter{Context: c, avx512: isa == "AVX512", constants: constants})
		}
	}
	file, err := c.Result()
	if err != nil {
		return nil, nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, nil, err
	}
	config := printer.Config{Name: "asm/_gen", Pkg: pkg}
	if assembly, err = printer.NewGoAsm(config).Print(file); err != nil {
		return nil, nil, err
	}
	stubs, err = printer.NewStubs(config).Print(file)
	return assembly, stubs, err
}

// emitter writes one kernel for one instruction set.
type emitter struct {
	*build.Context
	avx512    bool
	constants map[string]operand.Mem // data sections of the file
	turns     turns
	labels    int
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

// prefetch fetches a line. avo counts PREFETCHT0 as an extension of MMX too.
func (e *emitter) prefetch(from operand.Mem) {
	e.Instruction(&ir.Instruction{Opcode: "PREFETCHT0", Operands: []operand.Op{from}, Inputs: []operand.Op{from}})
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
	address, err := e.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	e.VBROADCASTSS(address.Addr, v)
	return v
}

func (e *emitter) broadcast64(name string) reg.VecVirtual {
	address, err := e.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	v := e.vector()
	e.VBROADCASTSD(address.Addr, v)
	return v
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
	e.TESTQ(operand.U32(2), count)
	e.JZ(operand.LabelRef(single))
	e.VMOVLPS(v, operand.Mem{Base: at})
	e.VPSRLDQ(operand.Imm(8), v, v)
	e.ADDQ(operand.Imm(8), at)
	e.Label(single)
	e.TESTQ(operand.U32(1), count)
	e.JZ(operand.LabelRef(done))
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
	e.TESTQ(operand.U32(1), count)
	e.JZ(operand.LabelRef(pair))
	e.VMOVSS(operand.Mem{Base: at, Index: count, Scale: 4, Disp: -4}, v) // the last: a pair comes before it
	e.Label(pair)
	e.TESTQ(operand.U32(2), count)
	e.JZ(operand.LabelRef(done))
	e.VPSLLDQ(operand.Imm(8), v, v)
	e.VMOVLPS(operand.Mem{Base: at}, v, v)
	e.Label(done)
}
