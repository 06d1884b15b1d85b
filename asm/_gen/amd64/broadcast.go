package amd64

import (
	"regexp"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What reads a memory operand of one number into all lanes, by the bytes of the number.
var broadcasts = map[int]*regexp.Regexp{
	8: regexp.MustCompile(`^V(FN?M(ADD|SUB)[123]+|ADD|SUB|MUL|MIN|MAX|RANGE|AND|OR|XOR)PD$|^V(PAND|POR|PXOR|PTERNLOG|PADD)Q$`),
	4: regexp.MustCompile(`^V(FN?M(ADD|SUB)[123]+|ADD|SUB|MUL|DIV|MIN|MAX|RANGE)PS$|^V(PAND|POR|PXOR|PTERNLOG|PADD|PSUB)D$|^VP(MIN|MAX)UD$`),
}

var loads = regexp.MustCompile(`^VMOV(UP[SD]|AP[SD]|DQ[AU](32|64))$`)

// broadcastConstants lets AVX-512 read one number of a constant that repeats it. Go's linker
// aligns constants to 32 bytes: every other time all 64 would lie across lines of the cache,
// for which a load takes twice as long.
func broadcastConstants(file *ir.File) {
	repeated := map[string]int{} // bytes of the number
	for _, section := range file.Sections {
		g, ok := section.(*ir.Global)
		if !ok || g.Size != 64 {
			continue
		}
		size := g.Data[0].Value.Bytes()
		for _, d := range g.Data {
			if d.Value != g.Data[0].Value {
				size = 0
			}
		}
		repeated[g.Symbol.Name] = size
	}
	for _, f := range file.Functions() {
		if !strings.HasSuffix(f.Name, "AVX512") {
			continue
		}
		for _, i := range f.Instructions() {
			constant, wide := 0, false
			for _, op := range i.Operands {
				switch op := op.(type) {
				case operand.Mem:
					if op.Index == nil && op.Disp == 0 {
						constant = max(constant, repeated[op.Symbol.Name])
					}
				case reg.Register:
					wide = wide || op.Size() == 64
				}
			}
			switch {
			case constant == 0 || !wide:
			case loads.MatchString(i.Opcode) && len(i.Operands) == 2:
				i.Opcode = map[int]string{4: "VBROADCASTSS", 8: "VBROADCASTSD"}[constant]
			case broadcasts[constant].MatchString(i.Opcode):
				i.Suffixes = append(i.Suffixes, "BCST")
			}
		}
	}
}
