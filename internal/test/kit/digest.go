package kit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// DigestFile has a line for each label: the label, and the first half of the SHA-256 of
// the results.
const DigestFile = "testdata/digests.txt"

var Update = flag.Bool("update", false, "write "+DigestFile+" anew, and in modelconfig the tables of docs/models.md, docs/traps.md and docs/keys.md")

// AddDigest adds a digest: its label, and what makes inputs and hashes results. The
// label seeds the inputs, so that it stays where a function is renamed.
type AddDigest func(label string, run func(d *Digest))

// Types adds a digest for elements of every type.
func (add AddDigest) Types(label string, float32s, float16s, bfloat16s func(d *Digest)) {
	add(label+"/type=float32", float32s)
	add(label+"/type=float16", float16s)
	add(label+"/type=bfloat16", bfloat16s)
}

// Pairs adds a digest for two types of elements each.
func (add AddDigest) Pairs(label, first, second string, runs [3][3]func(d *Digest)) {
	names := [3]string{"float32", "float16", "bfloat16"}
	for i, row := range runs {
		for j, run := range row {
			add(fmt.Sprintf("%s/%s=%s/%s=%s", label, first, names[i], second, names[j]), run)
		}
	}
}

type labelled struct {
	label       string
	run         func(d *Digest)
	roundsTwice bool // float16
}

func (c *Case) digests() (list []labelled) {
	if c.Digests != nil {
		c.Digests(func(label string, run func(d *Digest)) {
			list = append(list, labelled{label, run, c.RoundsTwice && strings.Contains(label, "/type=float16")})
		})
	}
	return list
}

// checkDigests compares the results of every operation over fixed inputs with digests in
// the repository: they are the same on every implementation and every architecture.
//
//	go test -run '^TestCases$/^digests$' . -update
//
// writes the digests of generic. A new digest is right only for a new label, or where the
// documentation of the operation promises other bits than before, on purpose: never
// because an implementation, an architecture or a compiler has a digest of its own.
func checkDigests(t *testing.T) {
	var list []labelled
	for _, c := range sortedCases() {
		list = append(list, c.digests()...)
	}
	slices.SortStableFunc(list, func(a, b labelled) int { return strings.Compare(a.label, b.label) })
	if *Update {
		writeDigests(t, list)
	}
	want := ReadDigests(t)
	EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, l := range list {
			if Bochs && impl != kernels.Generic && l.roundsTwice {
				t.Logf("NOT TESTED: %s, for a tie of float16, which Bochs rounds up, is rounded again", l.label)
				continue
			}
			if got := l.digest(t, impl); got != want[l.label] {
				t.Errorf("%s is %s, want %s", l.label, got, want[l.label])
			}
		}
	})
	for _, l := range list {
		delete(want, l.label)
	}
	for label := range want {
		t.Errorf("%s has a digest and is not tested", label)
	}
}

func writeDigests(t *testing.T, list []labelled) {
	defer dispatch.Use(kernels.Generic)()
	var text bytes.Buffer
	for _, l := range list {
		fmt.Fprintf(&text, "%s %s\n", l.label, l.digest(t, kernels.Generic))
	}
	NoError(t, os.WriteFile(DigestFile, text.Bytes(), 0o666))
}

// ReadDigests returns the digests of the labels.
func ReadDigests(t *testing.T) map[string]string {
	text := Must(os.ReadFile(DigestFile))
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

// Digest makes inputs and hashes results.
type Digest struct {
	T      testing.TB
	label  string
	random uint64 // the state of the generator
	hash   hash.Hash

	halves, rounded []posenc.Float16 // results so far, and generic's to come, in Bochs
}

func (l *labelled) digest(t *testing.T, impl kernels.Implementation) string {
	t.Helper()
	run := func(rounded []posenc.Float16) *Digest {
		seed := fnv.New64a()
		seed.Write([]byte(l.label))
		d := &Digest{T: t, label: l.label, random: seed.Sum64(), hash: sha256.New(), rounded: rounded}
		l.run(d)
		return d
	}
	var rounded []posenc.Float16
	if Bochs && impl != kernels.Generic && strings.Contains(l.label, "float16") {
		restore := dispatch.Use(kernels.Generic)
		rounded = run(nil).halves
		restore()
	}
	return fmt.Sprintf("%x", run(rounded).hash.Sum(nil)[:16])
}

// Must ends the test where an operation fails.
func (d *Digest) Must(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatalf("%s: %v", d.label, err)
	}
}

// Add hashes results: their bits, little endian, of which all NaNs have the same.
func (d *Digest) Add(results ...any) {
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

func addFloats[F float32 | float64, B uint32 | uint64](d *Digest, s []F, bits func(F) B, nan B) {
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

// toEven returns results in Bochs as generic rounds them: those that
// differ from its own as a tie does.
func (d *Digest) toEven(s []posenc.Float16) []posenc.Float16 {
	if !Bochs {
		return s
	}
	s = slices.Clone(s)
	for i, x := range s {
		if at := len(d.halves) + i; at < len(d.rounded) && Float16Numbers.Same(uint16(x), uint16(d.rounded[at])) {
			s[i] = d.rounded[at]
		}
	}
	d.halves = append(d.halves, s...)
	return s
}

func (d *Digest) addBits(x any) {
	NoError(d.T, binary.Write(d.hash, binary.LittleEndian, x))
}

// Next returns 64 random bits: SplitMix64 (Steele, Lea and Flood 2014). No input
// comes from the library's or the language's own arithmetic of floats, lest it
// differ between machines.
func (d *Digest) Next() uint64 {
	d.random += 0x9e3779b97f4a7c15
	z := d.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (d *Digest) Below(n int) int { return int(d.Next() >> 1 % uint64(n)) }

// Positions returns n positions in runs from anywhere, up, down or standing still.
func (d *Digest) Positions(n int) []int32 {
	list := make([]int32, 0, n)
	for len(list) < n {
		p := int32(d.Next()) >> d.Below(32)
		if d.Below(8) == 0 {
			p = []int32{math.MinInt32, math.MaxInt32 - 5, 0, -5, 31}[d.Below(5)]
		}
		step := []int32{1, 1, 1, 0, -1}[d.Below(5)]
		for range min(1+d.Below(50), n-len(list)) {
			list = append(list, p)
			p += step // wraps
		}
	}
	return list
}

// Indices returns n numbers below rows.
func (d *Digest) Indices(n, rows int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(d.Below(rows))
	}
	return list
}

// Frequency returns a number of a size that models have.
func (d *Digest) Frequency() float64 {
	return math.Float64frombits(uint64(1023-1-d.Below(20))<<52 | d.Next()>>12)
}

// Frequencies returns n of them, with strange ones among them now and then.
func (d *Digest) Frequencies(n int) []float64 {
	strange := d.Below(3) == 0
	list := make([]float64, n)
	for i := range list {
		list[i] = d.Frequency()
		if strange && d.Below(4) == 0 {
			sign := d.Next() << 63
			list[i] = math.Float64frombits(sign | uint64(1023-170+d.Below(187))<<52 | d.Next()>>12)
			if d.Below(4) == 0 {
				list[i] = math.Float64frombits(sign | []uint64{0, 1, 0x3ff << 52, (1023 - 149) << 52, (1023 - 150) << 52}[d.Below(5)])
			}
		}
	}
	return list
}

// HardFrequencies have, at the positions given, a cosine or a sine so close to the
// middle between two float32 that float64 arithmetic cannot round it.
var HardFrequencies = []struct {
	Position int32
	InvFreq  float64
}{
	{1, 0x1.7d2f42525c15p+00}, {-7, -0x1.223601b0c9792p-03}, {33, 0x1.608c0162b5a1p-05}, {1000, 0x1.b616f76efaec5p-10},
	{131071, 0x1.2dbb7d17e1117p-17}, {-1048577, -0x1.f5833d6721fcdp-24}, {math.MaxInt32, 0x1.f6500e545dc7ep-31}, {math.MinInt32, -0x1.bd2f6943b340ap-35},
}

// DigestNumbers returns n elements: ordinary ones, of magnitudes from 2^-7 to 2.
func DigestNumbers[T posenc.Element](d *Digest, n int) []T { return digestFill(d, make([]T, n), false) }

// DigestElements returns n elements, an eighth of which have any bits, and another the bits
// of zeros, infinities, NaNs, and the first and the last numbers, normal and
// subnormal.
func DigestElements[T posenc.Element](d *Digest, n int) []T { return digestFill(d, make([]T, n), true) }

func digestFill[T posenc.Element](d *Digest, s []T, any bool) []T {
	exponentBits, fractionBits := formatOf[T]()
	for i := range s {
		r := uint32(d.Next())
		sign, exponent, fraction := r>>31, uint32(1)<<(exponentBits-1)-8+uint32(d.Below(8)), r&(1<<fractionBits-1)
		if any {
			switch last := uint32(1)<<exponentBits - 1; d.Below(8) {
			case 0:
				exponent = uint32(d.Next()) & last
			case 1:
				exponent = []uint32{0, 1, last - 1, last}[d.Below(4)]
				fraction = []uint32{0, 1, 1 << (fractionBits - 1), 1<<fractionBits - 1}[d.Below(4)]
			}
		}
		bits := sign<<(exponentBits+fractionBits) | exponent<<fractionBits | fraction
		s[i] = OfBits[T](bits << (31 - exponentBits - fractionBits))
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

// DigestView is a posenc.View and the memory in which it lies.
type DigestView[T posenc.Element] struct {
	posenc.View[T]
	Memory []T
}

const DigestShapes = 5

// DigestViewOf returns a view of one of the shapes over elements that fill makes.
func DigestViewOf[T posenc.Element](d *Digest, fill func(*Digest, int) []T, shape, tokens, heads, dim int) DigestView[T] {
	gap, sequence := d.Below(6), tokens
	if tokens%2 == 0 {
		sequence = tokens / 2
	}
	v := shapeOf[T](shape%DigestShapes, tokens, heads, dim, shapeOptions{sequence, 2, 1 + gap, gap})
	start, n := d.Below(16), ReachOf(&v, tokens, dim)
	memory := fill(d, start+n+8)
	v.Data = memory[start : start+n]
	return DigestView[T]{v, memory}
}
