package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/klauspost/cpuid/v2"
	"golang.org/x/arch/arm64/arm64asm"
)

func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

func generated() map[string][]byte { return must(generate(operation.Operations)) }

// The files in the repository are those that the generator writes.
func TestFilesAreUpToDate(t *testing.T) {
	first, second := generated(), generated()
	if !maps.EqualFunc(first, second, bytes.Equal) {
		t.Error("two runs differ")
	}
	for name, content := range first {
		onDisk, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(onDisk, content) {
			t.Errorf("%s is not what the generator writes: go run -C asm/_gen . -dir ..", name)
		}
	}
	// Nor does a file that it once wrote stay behind.
	for _, pattern := range []string{"../*.s", "../*.go", "../bound/*.s", "../bound/*.go", "../../kernels/*.go", "../../generic/*.go", "../../internal/testkit/*.go"} {
		names := must(filepath.Glob(pattern))
		for _, name := range names {
			content := must(os.ReadFile(name))
			name = must(filepath.Rel("..", name))
			if _, ok := first[name]; !ok && (bytes.HasPrefix(content, []byte(header)) || filepath.Ext(name) == ".s") {
				t.Errorf("%s is not among what the generator writes", name)
			}
		}
	}
}

// instruction is a WORD of an arm64 file with its comment in Arm syntax.
type instruction struct {
	encoding uint32
	syntax   string
}

var wordLine = regexp.MustCompile(`^WORD +\$0x([0-9a-f]{8}) // (.+)$`)

// words returns every different WORD of the arm64 files.
func words(t *testing.T) []instruction {
	t.Helper()
	all := map[instruction]bool{}
	for name, content := range generated() {
		if !strings.HasSuffix(name, "_arm64.s") {
			continue
		}
		for line := range strings.Lines(string(content)) {
			line = strings.TrimSpace(line)
			if !strings.Contains(line, "WORD") {
				continue
			}
			m := wordLine.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: %q is not a WORD with its Arm syntax", name, line)
				continue
			}
			encoding := must(strconv.ParseUint(m[1], 16, 32))
			all[instruction{uint32(encoding), m[2]}] = true
		}
	}
	list := slices.SortedFunc(maps.Keys(all), func(a, b instruction) int { return strings.Compare(a.syntax, b.syntax) })
	if len(list) == 0 {
		t.Fatal("no WORD in the arm64 files")
	}
	return list
}

// The comment of a WORD is what the word means: golang.org/x/arch decodes it.
func TestWordsDecode(t *testing.T) {
	list := words(t)
	for _, in := range list {
		decoded, err := arm64asm.Decode(binary.LittleEndian.AppendUint32(nil, in.encoding))
		if err != nil {
			t.Errorf("%#08x, %s: %v", in.encoding, in.syntax, err)
			continue
		}
		if got := arm64asm.GNUSyntax(decoded); normal(got) != normal(in.syntax) {
			t.Errorf("%#08x means %q, its comment is %q", in.encoding, got, in.syntax)
		}
	}
	t.Logf("%d different words", len(list))
}

// normal drops what is only style: case and spaces.
func normal(syntax string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(syntax, ",", ", ")), " "))
}

var encodingComment = regexp.MustCompile(`encoding: \[(0x[0-9a-f]{2}),(0x[0-9a-f]{2}),(0x[0-9a-f]{2}),(0x[0-9a-f]{2})\]`)

// A second witness: LLVM assembles the comment of a WORD to the word.
func TestWordsAssemble(t *testing.T) {
	const llvm = "llvm-mc-19"
	if _, err := exec.LookPath(llvm); err != nil {
		t.Skipf("NOT TESTED: %s (Debian package llvm-19) is not installed", llvm)
	}
	list := words(t)
	var source strings.Builder
	for _, in := range list {
		fmt.Fprintln(&source, in.syntax)
	}
	command := exec.Command(llvm, "-triple=aarch64", "-show-encoding")
	command.Stdin = strings.NewReader(source.String())
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	found := encodingComment.FindAllSubmatch(output, -1)
	if len(found) != len(list) {
		t.Fatalf("%s assembled %d of %d instructions:\n%s", llvm, len(found), len(list), output)
	}
	for i, m := range found {
		var encoding uint32
		for j, text := range m[1:] {
			b := must(strconv.ParseUint(string(text), 0, 8))
			encoding |= uint32(b) << (8 * j)
		}
		if encoding != list[i].encoding {
			t.Errorf("%s is %#08x, not %#08x", list[i].syntax, encoding, list[i].encoding)
		}
	}
}

// Every amd64 kernel says which CPU features it needs, by names that the gates
// of package posenc can be compared with.
func TestRequirementsParse(t *testing.T) {
	symbols := 0
	for name, content := range generated() {
		if !strings.HasSuffix(name, "_amd64.s") {
			continue
		}
		requirements := ""
		for line := range strings.Lines(string(content)) {
			if list, ok := strings.CutPrefix(line, "// Requires: "); ok {
				requirements = strings.TrimSpace(list)
			}
			if !strings.HasPrefix(line, "TEXT ") {
				continue
			}
			symbols++
			if strings.HasPrefix(line, "TEXT ·FenceStores") {
				continue // SFENCE is in every amd64
			}
			if requirements == "" {
				t.Errorf("%s: nothing required by %s", name, line)
			}
			for feature := range strings.SplitSeq(requirements, ", ") {
				if cpuid.ParseFeature(feature) == cpuid.UNKNOWN {
					t.Errorf("%s: cpuid does not know %q of %s", name, feature, line)
				}
			}
			requirements = ""
		}
	}
	if symbols == 0 {
		t.Error("no kernels in the amd64 files")
	}
	t.Logf("%d kernels", symbols)
}

// Every amd64 function that touches the upper halves of registers clears them
// before it returns: VZEROUPPER comes before every RET, and no label between the
// two lets a jump pass it.
func TestUpperHalvesAreCleared(t *testing.T) {
	wide := regexp.MustCompile(`\b[YZ]([0-9]|[12][0-9]|3[01])\b`)
	label := regexp.MustCompile(`^\w+:`)
	functions := 0
	for name, content := range generated() {
		if !strings.HasSuffix(name, "_amd64.s") {
			continue
		}
		for _, function := range strings.Split(string(content), "TEXT ")[1:] {
			symbol, _, _ := strings.Cut(function, "(")
			if !wide.MatchString(function) || strings.HasPrefix(symbol, "·UseUpperHalves") { // for tests
				continue
			}
			functions++
			cleared, returns := false, 0
			for line := range strings.Lines(function) {
				instruction := strings.TrimSpace(line)
				switch {
				case strings.HasPrefix(instruction, "VZEROUPPER"):
					cleared = true
				case label.MatchString(instruction) || wide.MatchString(instruction):
					cleared = false
				case instruction == "RET":
					returns++
					if !cleared {
						t.Errorf("%s: %s returns without VZEROUPPER", name, symbol)
					}
				}
			}
			if returns == 0 {
				t.Errorf("%s: %s has no RET", name, symbol)
			}
		}
	}
	if functions == 0 {
		t.Error("no function touches them")
	}
	t.Logf("%d functions", functions)
}

// beyondAVX2 are registers that an assembler takes for AVX2 instructions too, which then
// are ones of AVX-512.
var beyondAVX2 = regexp.MustCompile(`\b[XYZ](1[6-9]|2[0-9]|3[01])\b`)

func symbolOf(function string) string {
	symbol, _, _ := strings.Cut(function, "(")
	return symbol
}

// No function changes a register that Go keeps for itself. On amd64 the assembler saves
// BP where a function has a frame, and wrappers of Go restore the others.
func TestReservedRegisters(t *testing.T) {
	reserved := map[string]*regexp.Regexp{"amd64": regexp.MustCompile(`\bBP\b`), "arm64": regexp.MustCompile(`\b(R18(_PLATFORM)?|R2[6-9]|R30|g)\b`)}
	functions := 0
	for name, content := range generated() {
		goarch := strings.TrimSuffix(name[strings.LastIndexByte(name, '_')+1:], ".s")
		if reserved[goarch] == nil || filepath.Ext(name) != ".s" {
			continue
		}
		for _, function := range strings.Split(string(content), "TEXT ")[1:] {
			functions++
			_, code, _ := strings.Cut(function, "\n")
			code = regexp.MustCompile(`//.*`).ReplaceAllString(code, "")
			if found := beyondAVX2.FindString(code); found != "" && strings.Contains(symbolOf(function), "AVX2") {
				t.Errorf("%s: %s uses %s, which only AVX-512 has", name, symbolOf(function), found)
			}
			if goarch == "amd64" && !strings.Contains(function, "$0-") {
				continue
			}
			if found := reserved[goarch].FindString(code); found != "" {
				t.Errorf("%s: %s uses %s", name, symbolOf(function), found)
			}
		}
	}
	t.Logf("%d functions", functions)
	if functions == 0 {
		t.Error("no functions")
	}
}

// Non-temporal stores are fenced once for a public call, by FenceStores, and not by each
// kernel; the bounds are calls by themselves. The tests of public calls know the kernels
// that have such stores by their names.
func TestNonTemporalStoresAreFenced(t *testing.T) {
	found := 0
	for name, content := range generated() {
		if !strings.HasSuffix(name, "_amd64.s") {
			continue
		}
		for text := range strings.SplitSeq(string(content), "\nTEXT ·") {
			symbol, body, _ := strings.Cut(text, "(")
			fence := strings.HasPrefix(symbol, "FenceStores")
			if !fence && !strings.Contains(body, "VMOVNT") {
				continue
			}
			found++
			if !fence && !strings.Contains(symbol, "NonTemporal") {
				t.Errorf("%s: %s has non-temporal stores, and not NonTemporal in its name", name, symbol)
			}
			fenced := regexp.MustCompile(`\tSFENCE\n(\tVZEROUPPER\n)?(\tMOVQ .*\n)?\tRET\n`).MatchString(body)
			if want := fence || strings.Contains(name, "bound"); fenced != want {
				t.Errorf("%s: %s ends with a fence: %t, want %t", name, symbol, fenced, want)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d kernels with non-temporal stores or fences", found)
	}
}
