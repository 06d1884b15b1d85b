package posenc_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/testkit"

	"github.com/go-posenc/posenc/kernels"
)

// digestFile has a line for each case: its name, and the first half of the
// SHA-256 of its results.
const digestFile = "testdata/digests.txt"

var update = flag.Bool("update", false, "write "+digestFile+" anew")

// TestDigests compares the results of every public operation over fixed inputs
// with digests in the repository: they are the same on every implementation and
// every architecture.
//
//	go test -run '^TestDigests$' . -update
//
// writes the digests of generic. A new digest is right only for a new case, or
// where the documentation of the operation promises other bits than before, on
// purpose: never because an implementation, an architecture or a compiler has a
// digest of its own.
func TestDigests(t *testing.T) {
	cases := digestCases()
	if *update {
		writeDigests(t, cases)
	}
	want := readDigests(t)
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, c := range cases {
			if testkit.Float16TiesUp && impl != kernels.Generic && roundsFloat16Twice(c.name) {
				t.Logf("NOT TESTED: %s, for a tie of float16, which Bochs rounds up, is rounded again", c.name)
				continue
			}
			if got := c.digest(t, impl); got != want[c.name] {
				t.Errorf("%s is %s, want %s", c.name, got, want[c.name])
			}
		}
	})
	for _, c := range cases {
		delete(want, c.name)
	}
	for name := range want {
		t.Errorf("%s has a digest and is not tested", name)
	}
}

// roundsFloat16Twice reports whether the operation of a case goes on from results
// in float16.
func roundsFloat16Twice(name string) bool {
	return strings.HasPrefix(name, "RotateFused/type=float16") || strings.HasPrefix(name, "AddEmbeddings/type=float16")
}

// Every exported function and method of this package and of package frequency has
// a digest, but for Implementation, whose result is not the same everywhere.
func TestDigestsComplete(t *testing.T) {
	tested := map[string]bool{"Implementation": true}
	for _, c := range digestCases() {
		operation, _, _ := strings.Cut(c.name, "/")
		tested[operation] = true
	}
	found := map[string]bool{}
	for directory, prefix := range map[string]string{".": "", "frequency": "frequency."} {
		files, err := filepath.Glob(filepath.Join(directory, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Skip("NOT TESTED: there is no source here, only the test binary")
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
					if operation := prefix + receiverOf(f) + f.Name.Name; ast.IsExported(strings.TrimPrefix(operation, prefix)) {
						found[operation] = true
					}
				}
			}
		}
	}
	for name := range found {
		if !tested[name] {
			t.Errorf("%s has no digest", name)
		}
	}
	for name := range tested {
		if !found[name] {
			t.Errorf("%s has a digest and does not exist", name)
		}
	}
}

// receiverOf returns the type of a method and a point, or nothing for a function.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	x := f.Recv.List[0].Type
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.Ident:
			return y.Name + "."
		default:
			return "?."
		}
	}
}

func writeDigests(t *testing.T, cases []digestCase) {
	defer dispatch.Use(kernels.Generic)()
	var text bytes.Buffer
	for _, c := range cases {
		fmt.Fprintf(&text, "%s %s\n", c.name, c.digest(t, kernels.Generic))
	}
	if err := os.WriteFile(digestFile, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func readDigests(t *testing.T) map[string]string {
	text, err := os.ReadFile(digestFile)
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if digests[name] != "" {
			t.Fatalf("%s has two digests", name)
		}
		digests[name] = value
	}
	return digests
}

// digestCase is an operation, and after a slash what the inputs have in common.
type digestCase struct {
	name string
	run  func(d *digest)
}

// digest makes inputs and hashes results.
type digest struct {
	t      *testing.T
	name   string
	random uint64 // the state of the generator
	hash   hash.Hash

	halves, rounded []posenc.Float16 // results so far, and generic's to come, where float16TiesUp
}

func (c *digestCase) digest(t *testing.T, impl kernels.Implementation) string {
	t.Helper()
	run := func(rounded []posenc.Float16) *digest {
		name := fnv.New64a()
		name.Write([]byte(c.name))
		d := &digest{t: t, name: c.name, random: name.Sum64(), hash: sha256.New(), rounded: rounded}
		c.run(d)
		return d
	}
	var rounded []posenc.Float16
	if testkit.Float16TiesUp && impl != kernels.Generic && strings.Contains(c.name, "float16") {
		restore := dispatch.Use(kernels.Generic)
		rounded = run(nil).halves
		restore()
	}
	return fmt.Sprintf("%x", run(rounded).hash.Sum(nil)[:16])
}

// must ends the test where an operation fails.
func (d *digest) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatalf("%s: %v", d.name, err)
	}
}

// add hashes results: their bits, little endian, of which all NaNs have the same.
func (d *digest) add(results ...any) {
	for _, result := range results {
		switch s := result.(type) {
		case []float32:
			addFloats(d, s, math.Float32bits, math.Float32bits(float32(math.NaN())))
		case []float64:
			addFloats(d, s, math.Float64bits, math.Float64bits(math.NaN()))
		case []posenc.Float16:
			d.addBits(canonical(d.toEven(s), 0x7c00))
		case []posenc.BFloat16:
			d.addBits(canonical(s, 0x7f80))
		default:
			d.addBits(result)
		}
	}
}

func addFloats[F float32 | float64, B uint32 | uint64](d *digest, s []F, bits func(F) B, nan B) {
	words := make([]B, len(s))
	for i, x := range s {
		words[i] = bits(x)
		if x != x {
			words[i] = nan
		}
	}
	d.addBits(words)
}

// canonical returns the bits of elements, 0x7fff for every NaN.
func canonical[T posenc.Float16 | posenc.BFloat16](s []T, infinity uint16) []uint16 {
	words := make([]uint16, len(s))
	for i, x := range s {
		words[i] = uint16(x)
		if words[i]&0x7fff > infinity {
			words[i] = 0x7fff
		}
	}
	return words
}

// toEven returns results where float16TiesUp as generic rounds them: those that
// differ from its own as a tie does.
func (d *digest) toEven(s []posenc.Float16) []posenc.Float16 {
	if !testkit.Float16TiesUp {
		return s
	}
	s = slices.Clone(s)
	for i, x := range s {
		if at := len(d.halves) + i; at < len(d.rounded) && testkit.Float16Numbers.Same(uint16(x), uint16(d.rounded[at])) {
			s[i] = d.rounded[at]
		}
	}
	d.halves = append(d.halves, s...)
	return s
}

func (d *digest) addBits(x any) {
	if err := binary.Write(d.hash, binary.LittleEndian, x); err != nil {
		d.t.Fatal(err)
	}
}

// next returns 64 random bits: SplitMix64 (Steele, Lea and Flood 2014). No input
// comes from the library's or the language's own arithmetic of floats, lest it
// differ between machines.
func (d *digest) next() uint64 {
	d.random += 0x9e3779b97f4a7c15
	z := d.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (d *digest) below(n int) int { return int(d.next() >> 1 % uint64(n)) }

// positions returns n positions in runs from anywhere, up, down or standing still.
func (d *digest) positions(n int) []int32 {
	list := make([]int32, 0, n)
	for len(list) < n {
		p := int32(d.next()) >> d.below(32)
		if d.below(8) == 0 {
			p = []int32{math.MinInt32, math.MaxInt32 - 5, 0, -5, 31}[d.below(5)]
		}
		step := []int32{1, 1, 1, 0, -1}[d.below(5)]
		for range min(1+d.below(50), n-len(list)) {
			list = append(list, p)
			p += step // wraps
		}
	}
	return list
}

// indices returns n numbers below rows.
func (d *digest) indices(n, rows int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(d.below(rows))
	}
	return list
}

// frequency returns a number of a size that models have.
func (d *digest) frequency() float64 {
	return math.Float64frombits(uint64(1023-1-d.below(20))<<52 | d.next()>>12)
}

// frequencies returns n of them, with strange ones among them now and then.
func (d *digest) frequencies(n int) []float64 {
	strange := d.below(3) == 0
	list := make([]float64, n)
	for i := range list {
		list[i] = d.frequency()
		if strange && d.below(4) == 0 {
			sign := d.next() << 63
			list[i] = math.Float64frombits(sign | uint64(1023-170+d.below(187))<<52 | d.next()>>12)
			if d.below(4) == 0 {
				list[i] = math.Float64frombits(sign | []uint64{0, 1, 0x3ff << 52, (1023 - 149) << 52, (1023 - 150) << 52}[d.below(5)])
			}
		}
	}
	return list
}

// hardFrequencies have, at the positions given, a cosine or a sine so close to the
// middle between two float32 that float64 arithmetic cannot round it.
var hardFrequencies = []struct {
	position int32
	invFreq  float64
}{
	{1, 0x1.7d2f42525c15p+00}, {-7, -0x1.223601b0c9792p-03}, {33, 0x1.608c0162b5a1p-05}, {1000, 0x1.b616f76efaec5p-10},
	{131071, 0x1.2dbb7d17e1117p-17}, {-1048577, -0x1.f5833d6721fcdp-24}, {math.MaxInt32, 0x1.f6500e545dc7ep-31}, {math.MinInt32, -0x1.bd2f6943b340ap-35},
}

// numbersOf returns n elements: ordinary ones, of magnitudes from 2^-7 to 2.
func numbersOf[T posenc.Element](d *digest, n int) []T { return fillNumbers(d, make([]T, n), false) }

// anyOf returns n elements, an eighth of which have any bits, and another the bits
// of zeros, infinities, NaNs, and the first and the last numbers, normal and
// subnormal.
func anyOf[T posenc.Element](d *digest, n int) []T { return fillNumbers(d, make([]T, n), true) }

func fillNumbers[T posenc.Element](d *digest, s []T, any bool) []T {
	exponentBits, fractionBits := formatOf[T]()
	for i := range s {
		r := uint32(d.next())
		sign, exponent, fraction := r>>31, uint32(1)<<(exponentBits-1)-8+uint32(d.below(8)), r&(1<<fractionBits-1)
		if any {
			switch last := uint32(1)<<exponentBits - 1; d.below(8) {
			case 0:
				exponent = uint32(d.next()) & last
			case 1:
				exponent = []uint32{0, 1, last - 1, last}[d.below(4)]
				fraction = []uint32{0, 1, 1 << (fractionBits - 1), 1<<fractionBits - 1}[d.below(4)]
			}
		}
		bits := sign<<(exponentBits+fractionBits) | exponent<<fractionBits | fraction
		s[i] = testkit.OfBits[T](bits << (31 - exponentBits - fractionBits))
	}
	return s
}

func formatOf[T posenc.Element]() (exponentBits, fractionBits int) {
	switch any(*new(T)).(type) {
	case posenc.Float16:
		return 5, 10
	case posenc.BFloat16:
		return 8, 7
	default:
		return 8, 23
	}
}

// digestView is a View and the memory in which it lies.
type digestView[T posenc.Element] struct {
	posenc.View[T]
	memory []T
}

const digestShapes = 5

// viewOf returns a view of one of the shapes over elements that fill makes.
func viewOf[T posenc.Element](d *digest, fill func(*digest, int) []T, shape, tokens, heads, dim int) digestView[T] {
	v := posenc.View[T]{Heads: heads}
	gap := d.below(6)
	switch shape % digestShapes {
	case 0: // [tokens][heads][dim]
	case 1: // packed QKV
		v.TokenStride = (heads+2)*dim + gap
	case 2: // [heads][tokens][dim]
		v.TokenStride, v.HeadStride = dim, tokens*dim+gap
	case 3: // gaps
		v.HeadStride = dim + 1 + gap
		v.TokenStride = heads*v.HeadStride + gap
	case 4: // [batch][heads][tokens][dim]
		v.SequenceTokens = tokens
		if tokens%2 == 0 {
			v.SequenceTokens = tokens / 2
		}
		v.TokenStride, v.HeadStride = dim, v.SequenceTokens*dim+gap
		v.SequenceStride = heads*v.HeadStride + gap
	}
	start, n := d.below(16), testkit.ReachOf(&v, tokens, dim)
	memory := fill(d, start+n+8)
	v.Data = memory[start : start+n]
	return digestView[T]{v, memory}
}
