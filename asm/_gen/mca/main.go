// Command mca prints what LLVM's machine code analyzer says of the inner loops of
// the kernels, as a Markdown table.
//
//	go run -C asm/_gen ./mca arm64
//	go run -C asm/_gen ./mca amd64
//
// It needs LLVM 19: Debian's package llvm-19.
//
// It helps to choose between two ways to write a loop, also for CPUs that are not at
// hand. It measures nothing. A cell has simulated cycles per element and, in
// parentheses, what the execution units would allow, each taken by itself (llvm-mca's
// block reciprocal throughput): a loop far above that waits for chains of dependent
// operations, as cosines and sines do. An element is a pair for the
// rotations but those fused with a norm, an entry of cosine and sine for the tables,
// a product for DotProducts and AddMultiples, and a number for all others. All data
// is in the first cache and no load waits for a store. Of a kernel those loops are
// shown that do the most in an iteration.
//
// What bounds the loops, by these models:
//
//   - Neoverse N1 and N2 have two vector units, V1 and V2 four, and a store occupies
//     one as well. Only half of them convert (FCVTL and FCVTN are two operations each)
//     or store, so that the bound in parentheses is too low there.
//   - Copies of registers occupy the vector units of Neoverse too: a constant that
//     FMLA adds to is better loaded anew for each use, by one LDR each, since an LDP
//     counts as three operations. LD2 and ST2 are as fast as LDP, UZP and ST2.
//   - Zen has four vector units, Intel three: bfloat16 on AVX2, 64 vector operations for
//     32 pairs, takes at least 16 cycles on the one and 21 on the other.
//   - The model of Sapphire Rapids has one unit for 512-bit products where the chip has
//     two, and lets a non-temporal store take many cycles.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	assembler  = "llvm-mc-19"
	analyzer   = "llvm-mca-19"
	iterations = 1000 // of a loop
)

// zen3 has no AVX-512.
const zen3 = "znver3"

// target says how LLVM names a GOARCH and some of its CPUs.
type target struct {
	triple string
	cpus   []string
}

var targets = map[string]target{
	"arm64": {"aarch64", []string{"neoverse-n1", "neoverse-n2", "neoverse-v1", "neoverse-v2"}},
	"amd64": {"x86_64", []string{"sapphirerapids", "znver4", zen3}},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 || targets[os.Args[1]].triple == "" {
		log.Fatal("usage: go run -C asm/_gen ./mca amd64|arm64")
	}
	goarch := os.Args[1]
	to := targets[goarch]
	files, bounds := must(filepath.Glob("../*_"+goarch+".s")), must(filepath.Glob("../../internal/test/bound/*_"+goarch+".s"))
	fmt.Printf("| kernel, loop | elements per iteration | %s |\n|---|---|%s\n", strings.Join(to.cpus, " | "), strings.Repeat("---|", len(to.cpus)))
	for _, file := range append(files, bounds...) {
		code := disassemble(file, goarch)
		for _, l := range innerLoops(string(must(os.ReadFile(file)))) {
			fmt.Printf("| %s, %s | %d |", l.symbol, l.label, l.elements())
			for _, cpu := range to.cpus {
				if cpu == zen3 && strings.HasSuffix(l.symbol, "AVX512") {
					fmt.Print(" |")
					continue
				}
				cycles, bound := analyze(l.encodings(code), to.triple, cpu)
				n := float64(l.elements())
				fmt.Printf(" %.2f (%.2f) |", cycles/n, bound/n)
			}
			fmt.Println()
		}
	}
}

// must ends the program where there is an error.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// loop is the lines of a source file from a label to a branch back to it.
type loop struct {
	symbol, label string
	first, last   int // counted from 1
	bytes         int // stored in an iteration
	products      int // made in an iteration
}

// elements counts what an iteration stores, in the units of the symbol: pairs,
// entries of a table, or numbers; for sums of products these.
func (l loop) elements() int {
	if strings.HasPrefix(l.symbol, "DotProducts") || strings.HasPrefix(l.symbol, "AddMultiples") {
		return l.products
	}
	number := 4 // bytes
	switch {
	case sixteenBits.MatchString(l.symbol):
		number = 2
	case eightBits.MatchString(l.symbol):
		number = 1
	}
	switch {
	case fourBits.MatchString(l.symbol):
		return 2 * l.bytes
	case strings.Contains(l.symbol, "SeedF64"):
		return l.bytes / 24 // cosine, sine and error in float64
	case strings.HasPrefix(l.symbol, "Rotate"), strings.HasPrefix(l.symbol, "CosSin"):
		return l.bytes / (2 * number)
	default:
		return l.bytes / number
	}
}

// They match the kernels that write so many bits, beside others: IQ4_NL in memory on the stack.
var (
	sixteenBits = regexp.MustCompile(`(F16|B16)(AVX2|AVX512|NEON)$`)
	fourBits    = regexp.MustCompile(`To(Q[45]_[01]|MXFP4|NVFP4|U4)(AVX2|AVX512)$`)
	eightBits   = regexp.MustCompile(`To(Q8|I8|U8|E4M3|E5M2|IQ4_NL)(AVX2|AVX512|NEON)$`)
)

func (l loop) encodings(code map[int][]string) []string {
	var list []string
	for line := l.first; line <= l.last; line++ {
		list = append(list, code[line]...)
	}
	return list
}

var (
	textLine   = regexp.MustCompile(`^TEXT ·(\w+)\(SB\)`)
	labelLine  = regexp.MustCompile(`^(\w+):$`)
	branchLine = regexp.MustCompile(`^\t(?:B\w*|J\w+|CBN?Z|TBN?Z)\s+(?:.*, )?(\w+)$`)
	storeLine  = regexp.MustCompile(`^\t(?:` +
		`(?:VMOV(?:NTPS|UP[SD])\s+([XYZ])\d+, (?:K\d, )?[-\d]*\()` + // a whole register
		`|(?:(?:VCVTPS2PH\s+\$0x00|VEXTRACTI64X4\s+\$0x01), ([YZ])\d+, [-\d]*\()` + // half of its bytes
		`|(FSTPQ|VST2\.P.* 32\(|VPMOVWB\s+Z\d+, [-\d]*\(|WORD.*// stnp)` + // 32 bytes
		`|((?:VMOVQ|VPEXTRQ\s+\$0x01,)\s+X\d+, [-\d]*\()` + // 8 bytes
		`|(FMOVQ(?:\.P)?\s+F\d+, [-\d]*\(|VPMOVDB\s+Z\d+, [-\d]*\())`) // 16 bytes
	productLine = regexp.MustCompile(`^\t(?:VMULPS .*([XYZ])\d+$|WORD.*// fmul v\d+\.4s)`)
)

// mainLoops are the labels of loops that do the most. Others do what is left over, but
// for "part" of a kernel that has none of these.
var mainLoops = []string{"main", "block", "head", "loop", "products", "vectors", "numbers"}

var lanes = map[string]int{"": 4, "X": 4, "Y": 8, "Z": 16}

// innerLoops returns of a source, for every kernel and label of mainLoops, those loops
// without another inside that have the most elements.
func innerLoops(source string) []loop {
	var found []loop // of the kernel
	var all []loop
	finish := func() {
		var inner []loop
		for _, l := range found {
			contains := false
			for _, other := range found {
				contains = contains || l != other && l.first <= other.first && other.last <= l.last
			}
			if !contains && l.elements() > 0 {
				inner = append(inner, l)
			}
		}
		most := map[string]int{} // by label
		for _, l := range inner {
			most[l.label] = max(most[l.label], l.elements())
		}
		before := len(all)
		for _, labels := range [][]string{mainLoops, {"part"}} {
			for _, l := range inner {
				if slices.Contains(labels, l.label) && l.elements() == most[l.label] {
					all = append(all, l)
				}
			}
			if len(all) > before {
				break
			}
		}
		found = nil
	}
	symbol := ""
	labels := map[string]int{}
	var stored, multiplied []int // up to each line
	sum, products := 0, 0
	for i, line := range strings.Split(source, "\n") {
		if m := storeLine.FindStringSubmatch(line); m != nil {
			width := map[string]int{"X": 16, "Y": 32, "Z": 64}
			sum += width[m[1]] + width[m[2]]/2
			if m[3] != "" {
				sum += 32
			}
			if m[4] != "" {
				sum += 8
			}
			if m[5] != "" {
				sum += 16
			}
		}
		if m := productLine.FindStringSubmatch(line); m != nil {
			products += lanes[m[1]]
		}
		stored, multiplied = append(stored, sum), append(multiplied, products)
		if m := textLine.FindStringSubmatch(line); m != nil {
			finish()
			symbol, labels = m[1], map[string]int{}
		} else if m := labelLine.FindStringSubmatch(line); m != nil {
			labels[m[1]] = i
		} else if m := branchLine.FindStringSubmatch(line); m != nil {
			if start, ok := labels[m[1]]; ok {
				found = append(found, loop{symbol, strings.TrimRight(m[1], "0123456789"), start + 1, i + 1, sum - stored[start], products - multiplied[start]})
			}
		}
	}
	finish()
	return all
}

var objdumpLine = regexp.MustCompile(`^\s+\S+\.s:(\d+)\s+0x[0-9a-f]+\s+([0-9a-f]+)\s`)

// disassemble returns the encodings of the instructions of each line of a source
// file, as LLVM reads them.
func disassemble(file, goarch string) map[int][]string {
	folder := must(os.MkdirTemp("", "mca"))
	defer os.RemoveAll(folder)
	object := filepath.Join(folder, "kernels.o")
	headers := filepath.Join(strings.TrimSpace(run("", "go", "env", "GOROOT")), "pkg", "include")
	run("", "env", "GOARCH="+goarch, "go", "tool", "asm", "-p", "asm", "-I", headers, "-o", object, file)
	code := map[int][]string{}
	for text := range strings.Lines(run("", "go", "tool", "objdump", object)) {
		m := objdumpLine.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		line := must(strconv.Atoi(m[1]))
		var list []string
		for i := 0; i < len(m[2]); i += 2 {
			list = append(list, "0x"+m[2][i:i+2])
		}
		if goarch == "arm64" { // printed as a number
			list[0], list[1], list[2], list[3] = list[3], list[2], list[1], list[0]
		}
		code[line] = append(code[line], strings.Join(list, " "))
	}
	return code
}

var (
	totalCycles = regexp.MustCompile(`Total Cycles: +(\d+)`)
	throughput  = regexp.MustCompile(`Block RThroughput: +([\d.]+)`)
)

// analyze returns the cycles of an iteration, and what they would be if nothing but
// the execution units held them up.
func analyze(encodings []string, triple, cpu string) (cycles, bound float64) {
	text := run(strings.Join(encodings, "\n"), assembler, "-triple="+triple, "-mcpu="+cpu, "-disassemble")
	report := run(text, analyzer, "-mtriple="+triple, "-mcpu="+cpu, "-iterations="+strconv.Itoa(iterations))
	total, limit := totalCycles.FindStringSubmatch(report), throughput.FindStringSubmatch(report)
	if total == nil || limit == nil {
		log.Fatalf("%s said:\n%s", analyzer, report)
	}
	return must(strconv.ParseFloat(total[1], 64)) / iterations, must(strconv.ParseFloat(limit[1], 64))
}

// run returns what a program writes. Its complaints are for the reader.
func run(input, name string, arguments ...string) string {
	command := exec.Command(name, arguments...)
	command.Stdin, command.Stderr = strings.NewReader(input), os.Stderr
	output, err := command.Output()
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return string(output)
}
