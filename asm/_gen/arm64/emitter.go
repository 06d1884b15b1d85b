package arm64

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
)

// vector and general number the registers V0-V31 and R0-R16. Go keeps the
// general registers from R18 on for itself; R17 is for addresses of constants
// and the like.
type (
	vector  uint32
	general uint32
)

func (v vector) String() string  { return fmt.Sprintf("V%d", uint32(v)) }
func (r general) String() string { return fmt.Sprintf("R%d", uint32(r)) }

// float is the name of a vector register where it is loaded or stored.
func (v vector) float() string { return fmt.Sprintf("F%d", uint32(v)) }

const (
	vectors  = 32
	generals = 17

	scratch general = 17 // for what lasts a few instructions
)

// emitter writes one kernel.
//
// Methods named by instructions take their operands in Arm's order, the
// destination first. The ending says the arrangement: 4s is four float32 or
// 32-bit integers, 2d two float64 or 64-bit integers, 16b all bits.
type emitter struct {
	text          bytes.Buffer
	block         [][2]string // mnemonics and operands since the last label
	frame         *frame
	constants     *constants // of the file
	to, from      element    // what the operation writes and reads
	lengths       []int      // of rows, where there are no others
	vectorInUse   [vectors]bool
	generalsInUse int
	locals        int // bytes of memory on the stack
	bfloat16      bfloat16
	deinterleaved bool // of four vectors the second and the fourth have the second elements of pairs: see firstBytes
	labels        int
}

// vector returns a free register.
func (e *emitter) vector() vector {
	for i, used := range e.vectorInUse {
		if !used {
			e.vectorInUse[i] = true
			return vector(i)
		}
	}
	panic("out of vector registers")
}

func (e *emitter) vectors(n int) []vector {
	list := make([]vector, n)
	for i := range list {
		list[i] = e.vector()
	}
	return list
}

// release says that registers are free again.
func (e *emitter) release(list ...vector) {
	for _, v := range list {
		if !e.vectorInUse[v] {
			panic(v.String() + " released twice")
		}
		e.vectorInUse[v] = false
	}
}

// neighbours returns the first of two free registers in a row.
func (e *emitter) neighbours() vector {
	for i := range vectors - 1 {
		if !e.vectorInUse[i] && !e.vectorInUse[i+1] {
			e.vectorInUse[i], e.vectorInUse[i+1] = true, true
			return vector(i)
		}
	}
	panic("no two vector registers in a row")
}

// temporary frees the registers that body took and still has.
func (e *emitter) temporary(body func()) {
	before := e.vectorInUse
	body()
	e.vectorInUse = before
}

// general returns a new register. Kernels never give one back.
func (e *emitter) general() general {
	if e.generalsInUse == generals {
		panic("out of general registers")
	}
	e.generalsInUse++
	return general(e.generalsInUse - 1)
}

// op writes one instruction of Go's assembler.
func (e *emitter) op(mnemonic, format string, operands ...any) {
	e.block = append(e.block, [2]string{mnemonic, fmt.Sprintf(format, operands...)})
}

// word writes an instruction that Go's assembler lacks, with its Arm syntax.
func (e *emitter) word(encoding uint32, format string, operands ...any) {
	e.op("WORD", "$0x%08x // %s", encoding, fmt.Sprintf(format, operands...))
}

// flush writes the block with its operands in one column.
func (e *emitter) flush() {
	width := 0
	for _, line := range e.block {
		width = max(width, len(line[0]))
	}
	for _, line := range e.block {
		fmt.Fprintf(&e.text, "\t%s\n", strings.TrimRight(fmt.Sprintf("%-*s %s", width, line[0], line[1]), " "))
	}
	e.block = nil
}

func (e *emitter) comment(text string) {
	e.flush()
	fmt.Fprintf(&e.text, "\n\t// %s\n", text)
}

// newLabel returns a label that the kernel does not have yet.
func (e *emitter) newLabel(name string) string {
	e.labels++
	return fmt.Sprintf("%s%d", name, e.labels)
}

func (e *emitter) label(name string) {
	e.flush()
	fmt.Fprintf(&e.text, "\n%s:\n", name)
}

// branch writes a branch of Go's assembler that takes only a label.
func (e *emitter) branch(mnemonic, label string) { e.op(mnemonic, "%s", label) }

// constants are the read-only data of one file.
type constants struct {
	text  bytes.Buffer
	named map[string][]uint64
}

// data returns the symbol of read-only data.
func (c *constants) data(name string, words ...uint64) string {
	if before, ok := c.named[name]; ok && !slices.Equal(before, words) {
		panic(name + " has two values")
	} else if !ok {
		c.named[name] = words
		c.text.WriteByte('\n')
		for i, w := range words {
			fmt.Fprintf(&c.text, "DATA %s<>+%d(SB)/8, $0x%016x\n", name, 8*i, w)
		}
		fmt.Fprintf(&c.text, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", name, 8*len(words))
	}
	return name + "<>"
}

// Loops.

// parts runs body over n elements in parts of the given sizes, from the most to the
// least. The labels of its loops have a name.
func (e *emitter) parts(name string, n general, sizes []int, body func(size int)) {
	for _, size := range sizes {
		loop, next := e.newLabel(name), e.newLabel("next")
		e.cmp(n, size)
		e.branch("BLT", next)
		e.label(loop)
		e.temporary(func() { body(size) })
		e.sub(n, size)
		e.cmp(n, size)
		e.branch("BGE", loop)
		e.label(next)
	}
}

// rows runs body for each of count rows, unless one of needed is 0, and returns.
func (e *emitter) rows(count general, body func(), needed ...general) {
	done, loop := e.newLabel("done"), e.newLabel("rows")
	for _, r := range append(needed, count) {
		e.cbz(r, done)
	}
	e.label(loop)
	body()
	e.subs(count, 1)
	e.branch("BNE", loop)
	e.label(done)
	e.ret()
}

// Arguments and results.

// argument loads an argument of 8 bytes.
func (e *emitter) argument(name string) general {
	r := e.general()
	e.loadArgument(r, name)
	return r
}

func (e *emitter) loadArgument(r general, name string) {
	e.op("MOVD", "%s, %s", e.frame.address(name), r)
}

// stride loads an argument that counts float32, as bytes.
func (e *emitter) stride(name string) general {
	r := e.argument(name)
	e.op("LSL", "$2, %s", r)
	return r
}

// local returns the address of new memory on the stack.
func (e *emitter) local(name string, bytes int) general {
	r := e.general()
	e.locals += bytes
	e.op("MOVD", "$%s-%d(SP), %s", name, e.locals, r)
	return r
}

// flags returns the flags of the function. NOSPLIT leaves out the check for room on the stack, as
// Go allows for up to some 800 bytes.
func (e *emitter) flags() string {
	const most = 512
	if e.locals > most {
		return "0"
	}
	return "NOSPLIT"
}

// broadcast loads a float argument into every lane.
func (e *emitter) broadcast(name string) vector {
	v := e.vector()
	if e.frame.sizes[name] == 4 {
		e.op("FMOVS", "%s, %s", e.frame.address(name), v.float())
		e.op("VDUP", "%s.S[0], %s.S4", v, v)
	} else {
		e.op("FMOVD", "%s, %s", e.frame.address(name), v.float())
		e.op("VDUP", "%s.D[0], %s.D2", v, v)
	}
	return v
}

func (e *emitter) result(r general, name string) { e.op("MOVD", "%s, %s", r, e.frame.address(name)) }

// General registers.

func (e *emitter) movGeneral(d, n general)       { e.op("MOVD", "%s, %s", n, d) }
func (e *emitter) clearGeneral(d general)        { e.op("MOVD", "$0, %s", d) }
func (e *emitter) add(d general, n int)          { e.op("ADD", "$%d, %s", n, d) }
func (e *emitter) addGeneral(d, n general)       { e.op("ADD", "%s, %s", n, d) }
func (e *emitter) subGeneral(d, n general)       { e.op("SUB", "%s, %s", n, d) }
func (e *emitter) mul(d, n, m general)           { e.op("MUL", "%s, %s, %s", m, n, d) }
func (e *emitter) sub(d general, n int)          { e.op("SUB", "$%d, %s", n, d) }
func (e *emitter) subs(d general, n int)         { e.op("SUBS", "$%d, %s", n, d) }
func (e *emitter) cmp(r general, n int)          { e.op("CMP", "$%d, %s", n, r) }
func (e *emitter) cmpGeneral(n, m general)       { e.op("CMP", "%s, %s", m, n) }
func (e *emitter) cbz(r general, label string)   { e.op("CBZ", "%s, %s", r, label) }
func (e *emitter) cbnz(r general, label string)  { e.op("CBNZ", "%s, %s", r, label) }
func (e *emitter) symbol(d general, name string) { e.op("MOVD", "$%s(SB), %s", name, d) }
func (e *emitter) ret()                          { e.op("RET", "") }

// addShifted sets d to n + m<<by.
func (e *emitter) addShifted(d, n, m general, by int) { e.op("ADD", "%s<<%d, %s, %s", m, by, n, d) }

// next moves an address by a stride, an argument that counts elements.
func (e *emitter) next(address general, stride string, t element) {
	e.loadArgument(scratch, stride)
	e.addShifted(address, address, scratch, t.log2())
}

// scvtf sets every lane to the float32 nearest to an integer.
func (e *emitter) scvtf(d vector, n general) {
	e.op("SCVTFS", "%s, %s", n, d.float())
	e.broadcastLane(d, d, 0)
}

// broadcastLane sets every lane of d to one of n.
func (e *emitter) broadcastLane(d, n vector, lane int) {
	e.op("VDUP", "%s.S[%d], %s.S4", n, lane, d)
}

// tbz branches where a bit of r is 0.
func (e *emitter) tbz(r general, bit int, label string) { e.op("TBZ", "$%d, %s, %s", bit, r, label) }

// Loads and stores. The offset of a pair is a multiple of 16 from -1024 to 1008.

func offset(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (e *emitter) ldr(d vector, base general, at int) { e.loadOne("FMOVQ", d, base, at) }
func (e *emitter) str(v vector, base general, at int) { e.storeOne("FMOVQ", v, base, at) }

// ldr32 and ldr64 set the other lanes to zero.
func (e *emitter) ldr32(d vector, base general, at int) { e.loadOne("FMOVS", d, base, at) }
func (e *emitter) ldr64(d vector, base general, at int) { e.loadOne("FMOVD", d, base, at) }
func (e *emitter) str32(v vector, base general, at int) { e.storeOne("FMOVS", v, base, at) }
func (e *emitter) str64(v vector, base general, at int) { e.storeOne("FMOVD", v, base, at) }

func (e *emitter) loadOne(mnemonic string, d vector, base general, at int) {
	e.op(mnemonic, "%s(%s), %s", offset(at), base, d.float())
}

func (e *emitter) storeOne(mnemonic string, v vector, base general, at int) {
	e.op(mnemonic, "%s, %s(%s)", v.float(), offset(at), base)
}

func (e *emitter) ldp(d1, d2 vector, base general, at int) {
	e.op("FLDPQ", "%s(%s), (%s, %s)", offset(at), base, d1.float(), d2.float())
}

func (e *emitter) stp(v1, v2 vector, base general, at int) {
	e.op("FSTPQ", "(%s, %s), %s(%s)", v1.float(), v2.float(), offset(at), base)
}

// ldpNext loads a pair and moves the address behind it.
func (e *emitter) ldpNext(d1, d2 vector, base general) {
	e.op("FLDPQ.P", "32(%s), (%s, %s)", base, d1.float(), d2.float())
}

// moveElement moves 4 or 2 bytes.
func (e *emitter) moveElement(bytes int, to, from general, toAt, fromAt int) {
	mnemonic := map[int]string{4: "MOVWU", 2: "MOVHU"}[bytes]
	e.op(mnemonic, "%s(%s), %s", offset(fromAt), from, scratch)
	e.op(mnemonic, "%s, %s(%s)", scratch, offset(toAt), to)
}

// loadFloats and storeFloats move a multiple of 8 float32, 4, or 1.
func (e *emitter) loadFloats(base general, n int) []vector        { return e.loadBytes(base, 4*n) }
func (e *emitter) storeFloats(list []vector, base general, n int) { e.storeBytes(list, base, 4*n) }

// loadBytes and storeBytes move a multiple of 32 bytes, 16, 8, 4, 2 or 1.
func (e *emitter) loadBytes(base general, n int) []vector {
	list := e.vectors(max(1, n/16))
	switch n {
	case 1:
		e.ld1r(8, list[0], base)
	case 2:
		e.ld1r(16, list[0], base)
	case 4:
		e.ldr32(list[0], base, 0)
	case 8:
		e.ldr64(list[0], base, 0)
	case 16:
		e.ldr(list[0], base, 0)
	default:
		for i := 0; i < len(list); i += 2 {
			e.ldp(list[i], list[i+1], base, 16*i)
		}
	}
	return list
}

func (e *emitter) storeBytes(list []vector, base general, n int) {
	switch n {
	case 1:
		e.st1(8, list[0], 0, base)
	case 2:
		e.st1(16, list[0], 0, base)
	case 4:
		e.str32(list[0], base, 0)
	case 8:
		e.str64(list[0], base, 0)
	case 16:
		e.str(list[0], base, 0)
	default:
		for i := 0; i < len(list); i += 2 {
			e.stp(list[i], list[i+1], base, 16*i)
		}
	}
}

// load returns a register with the bits of low and high in its two lanes.
func (e *emitter) load(name string, low, high uint64) vector {
	d := e.vector()
	e.symbol(scratch, e.constants.data(name, low, high))
	e.ldr(d, scratch, 0)
	return d
}

func (e *emitter) load64(name string, value float64) vector {
	bits := math.Float64bits(value)
	return e.load(name, bits, bits)
}

func (e *emitter) load32(name string, bits uint32) vector {
	both := uint64(bits)<<32 | uint64(bits)
	return e.load(name, both, both)
}

// whole loads a whole number as float32.
func (e *emitter) whole(n int) vector {
	return e.load32(fmt.Sprint("float", n), math.Float32bits(float32(n)))
}

// ld2 and st2 move pairs of elements of the given bits and the address: the
// register has the even ones, the one after it the odd ones.
func (e *emitter) ld2(even vector, base general, pairs, bits int) {
	a := lanes(pairs, bits)
	e.op("VLD2.P", "%d(%s), [%s.%s, %s.%s]", pairs*bits/4, base, even, a, even+1, a)
}

func (e *emitter) st2(even vector, base general, pairs, bits int) {
	a := lanes(pairs, bits)
	e.op("VST2.P", "[%s.%s, %s.%s], %d(%s)", even, a, even+1, a, pairs*bits/4, base)
}

// ld1r loads an element of the given bits into every lane, st1 stores the element of one lane.
func (e *emitter) ld1r(bits int, d vector, base general) {
	e.op("VLD1R", "(%s), [%s.%s]", base, d, arrangement(bits))
}

func (e *emitter) st1(bits int, v vector, lane int, base general) {
	e.op("VST1", "%s.%c[%d], (%s)", v, arrangement(bits)[0], lane, base)
}

// Instructions on whole vectors that Go's assembler has.

func (e *emitter) clear(d vector) { e.op("VEOR", "%s.B16, %s.B16, %s.B16", d, d, d) }

func (e *emitter) eor16b(d, n, m vector)  { e.op("VEOR", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) and16b(d, n, m vector)  { e.op("VAND", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) orr16b(d, n, m vector)  { e.op("VORR", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) uzp14s(d, n, m vector)  { e.op("VUZP1", "%s.S4, %s.S4, %s.S4", m, n, d) }
func (e *emitter) uzp18h(d, n, m vector)  { e.op("VUZP1", "%s.H8, %s.H8, %s.H8", m, n, d) }
func (e *emitter) uzp28h(d, n, m vector)  { e.op("VUZP2", "%s.H8, %s.H8, %s.H8", m, n, d) }
func (e *emitter) trn18h(d, n, m vector)  { e.op("VTRN1", "%s.H8, %s.H8, %s.H8", m, n, d) }
func (e *emitter) trn28h(d, n, m vector)  { e.op("VTRN2", "%s.H8, %s.H8, %s.H8", m, n, d) }
func (e *emitter) zip18h(d, n, m vector)  { e.op("VZIP1", "%s.H8, %s.H8, %s.H8", m, n, d) }
func (e *emitter) zip28h(d, n, m vector)  { e.op("VZIP2", "%s.H8, %s.H8, %s.H8", m, n, d) }
func (e *emitter) umax8h(d, n, m vector)  { e.op("VUMAX", "%s.H8, %s.H8, %s.H8", m, n, d) }
func (e *emitter) fmla2d(d, n, m vector)  { e.op("VFMLA", "%s.D2, %s.D2, %s.D2", m, n, d) }
func (e *emitter) fmls2d(d, n, m vector)  { e.op("VFMLS", "%s.D2, %s.D2, %s.D2", m, n, d) }
func (e *emitter) upperHalf(d, n vector)  { e.op("VEXT", "$8, %s.B16, %s.B16, %s.B16", n, n, d) }
func (e *emitter) zip116b(d, n, m vector) { e.op("VZIP1", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) zip216b(d, n, m vector) { e.op("VZIP2", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) uzp116b(d, n, m vector) { e.op("VUZP1", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) uzp216b(d, n, m vector) { e.op("VUZP2", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) sub16b(d, n, m vector)  { e.op("VSUB", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) cmeq16b(d, n, m vector) { e.op("VCMEQ", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) umax4s(d, n, m vector)  { e.op("VUMAX", "%s.S4, %s.S4, %s.S4", m, n, d) }
func (e *emitter) umin4s(d, n, m vector)  { e.op("VUMIN", "%s.S4, %s.S4, %s.S4", m, n, d) }
func (e *emitter) fmla4s(d, n, m vector)  { e.op("VFMLA", "%s.S4, %s.S4, %s.S4", m, n, d) }
func (e *emitter) fmls4s(d, n, m vector)  { e.op("VFMLS", "%s.S4, %s.S4, %s.S4", m, n, d) }
func (e *emitter) rev644s(d, n vector)    { e.op("VREV64", "%s.S4, %s.S4", n, d) }
func (e *emitter) lane0To2(d, n vector)   { e.op("VMOV", "%s.S[0], %s.S[2]", n, d) }
func (e *emitter) zip12d(d, n, m vector)  { e.op("VZIP1", "%s.D2, %s.D2, %s.D2", m, n, d) }
func (e *emitter) zip22d(d, n, m vector)  { e.op("VZIP2", "%s.D2, %s.D2, %s.D2", m, n, d) }
func (e *emitter) umov(d general, n vector, lane int) {
	e.op("VMOV", "%s.D[%d], %s", n, lane, d)
}

// bsl16b sets each bit of d to the bit of n where it is 1, to the bit of m where it is 0.
func (e *emitter) bsl16b(d, n, m vector) { e.op("VBSL", "%s.B16, %s.B16, %s.B16", m, n, d) }

// bit16b copies the bits of n to d where m is 1, bif16b where it is 0.
func (e *emitter) bit16b(d, n, m vector) { e.op("VBIT", "%s.B16, %s.B16, %s.B16", m, n, d) }
func (e *emitter) bif16b(d, n, m vector) { e.op("VBIF", "%s.B16, %s.B16, %s.B16", m, n, d) }

// cmtst sets lanes to ones where n and m share a bit, to zeros elsewhere.
func (e *emitter) cmtst(bits int, d, n, m vector) {
	a := arrangement(bits)
	e.op("VCMTST", "%s.%s, %s.%s, %s.%s", m, a, n, a, d, a)
}

func (e *emitter) ushr(bits int, d, n vector, by int) { e.shift("VUSHR", bits, d, n, by) }
func (e *emitter) shl(bits int, d, n vector, by int)  { e.shift("VSHL", bits, d, n, by) }

// sli shifts n left and keeps the bits of d below.
func (e *emitter) sli(bits int, d, n vector, by int) { e.shift("VSLI", bits, d, n, by) }

// usra adds n, shifted right.
func (e *emitter) usra(bits int, d, n vector, by int) { e.shift("VUSRA", bits, d, n, by) }

func (e *emitter) shift(mnemonic string, bits int, d, n vector, by int) {
	a := arrangement(bits)
	e.op(mnemonic, "$%d, %s.%s, %s.%s", by, n, a, d, a)
}

// arrangement is Go's name of lanes that fill a vector.
func arrangement(bits int) string { return lanes(128/bits, bits) }

// lanes is Go's name of n lanes.
func lanes(n, bits int) string {
	return fmt.Sprintf("%c%d", map[int]rune{8: 'B', 16: 'H', 32: 'S', 64: 'D'}[bits], n)
}

// Instructions that Go's assembler lacks.

func (e *emitter) three(base uint32, name, lanes string, d, n, m vector) {
	e.word(base|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s, v%d.%s", name, d, lanes, n, lanes, m, lanes)
}

func (e *emitter) two(base uint32, name string, d vector, dLanes string, n vector, nLanes string) {
	e.word(base|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s", name, d, dLanes, n, nLanes)
}

func (e *emitter) fadd4s(d, n, m vector) { e.three(0x4e20d400, "fadd", "4s", d, n, m) }
func (e *emitter) fsub4s(d, n, m vector) { e.three(0x4ea0d400, "fsub", "4s", d, n, m) }
func (e *emitter) fmul4s(d, n, m vector) { e.three(0x6e20dc00, "fmul", "4s", d, n, m) }
func (e *emitter) fdiv4s(d, n, m vector) { e.three(0x6e20fc00, "fdiv", "4s", d, n, m) }
func (e *emitter) fmin4s(d, n, m vector) { e.three(0x4ea0f400, "fmin", "4s", d, n, m) }
func (e *emitter) fsqrt4s(d, n vector)   { e.two(0x6ea1f800, "fsqrt", d, "4s", n, "4s") }
func (e *emitter) fabs4s(d, n vector)    { e.two(0x4ea0f800, "fabs", d, "4s", n, "4s") }
func (e *emitter) fneg4s(d, n vector)    { e.two(0x6ea0f800, "fneg", d, "4s", n, "4s") }
func (e *emitter) fadd2d(d, n, m vector) { e.three(0x4e60d400, "fadd", "2d", d, n, m) }
func (e *emitter) fsub2d(d, n, m vector) { e.three(0x4ee0d400, "fsub", "2d", d, n, m) }
func (e *emitter) fmul2d(d, n, m vector) { e.three(0x6e60dc00, "fmul", "2d", d, n, m) }
func (e *emitter) fmin2d(d, n, m vector) { e.three(0x4ee0f400, "fmin", "2d", d, n, m) }
func (e *emitter) fneg2d(d, n vector)    { e.two(0x6ee0f800, "fneg", d, "2d", n, "2d") }
func (e *emitter) fabs2d(d, n vector)    { e.two(0x4ee0f800, "fabs", d, "2d", n, "2d") }

// faddp4s sets d to the sums of neighbours in n, then those in m.
func (e *emitter) faddp4s(d, n, m vector) { e.three(0x6e20d400, "faddp", "4s", d, n, m) }

// umaxp4s sets d to the larger of neighbours in n, then of those in m.
func (e *emitter) umaxp4s(d, n, m vector) { e.three(0x6ea0a400, "umaxp", "4s", d, n, m) }

// fcvtas4s rounds to integers, halves away from zero.
func (e *emitter) fcvtas4s(d, n vector) { e.two(0x4e21c800, "fcvtas", d, "4s", n, "4s") }

// facgt4s sets lanes to ones where |n| > |m|, to zeros elsewhere and for NaN.
func (e *emitter) facgt4s(d, n, m vector) { e.three(0x6ea0ec00, "facgt", "4s", d, n, m) }

// cmhi16b sets bytes to ones where n > m, to zeros elsewhere.
func (e *emitter) cmhi16b(d, n, m vector) { e.three(0x6e203400, "cmhi", "16b", d, n, m) }

// sshr16b shifts signed bytes right.
func (e *emitter) sshr16b(d, n vector, by int) {
	e.word(0x4f000400|uint32(16-by)<<16|uint32(n)<<5|uint32(d), "sshr v%d.16b, v%d.16b, #%d", d, n, by)
}

// orn16b sets d to n or not m, bic16b to n and not m.
func (e *emitter) orn16b(d, n, m vector) { e.three(0x4ee01c00, "orn", "16b", d, n, m) }
func (e *emitter) bic16b(d, n, m vector) { e.three(0x4e601c00, "bic", "16b", d, n, m) }

// uqsub8h and sqadd8h saturate.
func (e *emitter) uqsub8h(d, n, m vector) { e.three(0x6e602c00, "uqsub", "8h", d, n, m) }
func (e *emitter) sqadd8h(d, n, m vector) { e.three(0x4e600c00, "sqadd", "8h", d, n, m) }

// fcvtl4s and fcvtl24s widen the lower and the upper four float16, fcvtn4h and
// fcvtn28h round four float32 into them.
func (e *emitter) fcvtl4s(d, n vector)  { e.two(0x0e217800, "fcvtl", d, "4s", n, "4h") }
func (e *emitter) fcvtl24s(d, n vector) { e.two(0x4e217800, "fcvtl2", d, "4s", n, "8h") }
func (e *emitter) fcvtn4h(d, n vector)  { e.two(0x0e216800, "fcvtn", d, "4h", n, "4s") }
func (e *emitter) fcvtn28h(d, n vector) { e.two(0x4e216800, "fcvtn2", d, "8h", n, "4s") }

// fcvtl and fcvtl2 widen the lower and the upper two float32, fcvtn and fcvtn2
// round two float64 into the lower and the upper two float32.
func (e *emitter) fcvtl(d, n vector)  { e.two(0x0e617800, "fcvtl", d, "2d", n, "2s") }
func (e *emitter) fcvtl2(d, n vector) { e.two(0x4e617800, "fcvtl2", d, "2d", n, "4s") }
func (e *emitter) fcvtn(d, n vector)  { e.two(0x0e616800, "fcvtn", d, "2s", n, "2d") }
func (e *emitter) fcvtn2(d, n vector) { e.two(0x4e616800, "fcvtn2", d, "4s", n, "2d") }

// stnp is a non-temporal stp.
func (e *emitter) stnp(v1, v2 vector, base general, at int) {
	address := fmt.Sprintf("[x%d, #%d]", base, at)
	if at == 0 {
		address = fmt.Sprintf("[x%d]", base)
	}
	e.word(0xac000000|uint32(at/16&0x7f)<<15|uint32(v2)<<10|uint32(base)<<5|uint32(v1), "stnp q%d, q%d, %s", v1, v2, address)
}
