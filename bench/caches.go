package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/bench/peers"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/measure"
)

// pageTokens are the tokens of a page of a cache, as in OpenVINO.
const pageTokens = 32

// layersInCall repeat the store of one token, as a model has layers: a graph of ggml has all of them, and
// its start is shared by them.
const layersInCall = 32

// cache is memory of a format with what writes and reads it.
type cache struct {
	bytes []byte
	store func(a posenc.Angles, slots []int32, x posenc.View[float32]) error
	read  func(y posenc.View[float32], slots []int32) error
}

type cacheFormat struct {
	name  string
	bytes float64                               // of 32 numbers
	open  func(tokens int, inPages bool) *cache // nil for what the format does not have
}

var cacheFormats = []cacheFormat{
	numbersFormat[posenc.Q8_0]("q8_0", 32, 0), numbersFormat[posenc.Q5_1]("q5_1", 32, 0), numbersFormat[posenc.Q5_0]("q5_0", 32, 0),
	numbersFormat[posenc.Q4_1]("q4_1", 32, 0), numbersFormat[posenc.Q4_0]("q4_0", 32, 0), numbersFormat[posenc.IQ4_NL]("iq4_nl", 32, 0),
	numbersFormat[int8]("int8", 1, 0), numbersFormat[posenc.E4M3]("e4m3-scales", 1, 0), numbersFormat[posenc.E4M3]("e4m3", 1, 64), numbersFormat[posenc.E5M2]("e5m2", 1, 64),
	numbersFormat[posenc.MXFP4Floor]("mxfp4-floor", 32, 0), numbersFormat[posenc.MXFP4RCeil]("mxfp4-rceil", 32, 0), numbersFormat[posenc.MXFP4Even]("mxfp4-even", 32, 0),
	numbersFormat[posenc.NVFP4]("nvfp4", 16, 0),
	recordsFormat(posenc.ONNXRuntimeInt8, "onnxruntime-int8"), recordsFormat(posenc.ONNXRuntimeInt4, "onnxruntime-int4"),
	recordsFormat(posenc.OpenVINOU8, "openvino-u8"), recordsFormat(posenc.OpenVINOU4, "openvino-u4"),
	recordsFormat(posenc.OpenVINOU8ByChannel, "openvino-u8-channel"), recordsFormat(posenc.OpenVINOU4ByChannel, "openvino-u4-channel"),
}

// numbersFormat is a type of which an element is so many numbers.
func numbersFormat[D posenc.Quantized](name string, numbers int, inverseScale float32) cacheFormat {
	size, head := int(unsafe.Sizeof(*new(D))), headDim/numbers
	scaled := size == 1 && inverseScale == 0
	f := cacheFormat{name: name, bytes: float64(size) * 32 / float64(numbers)}
	if scaled {
		f.bytes += 4 * 32. / headDim
	}
	f.open = func(tokens int, inPages bool) *cache {
		data := make([]D, tokens*keyHeads*head)
		v := posenc.QuantizedView[D]{View: posenc.View[D]{Data: data, Heads: keyHeads}, InverseScale: inverseScale}
		if inPages {
			v.TokenStride, v.HeadStride, v.SequenceTokens, v.SequenceStride = head, pageTokens*head, pageTokens, keyHeads*pageTokens*head
		}
		if scaled {
			v.Scales = make([]float32, tokens*keyHeads)
		}
		return &cache{
			bytes: unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), size*len(data)),
			store: func(a posenc.Angles, slots []int32, x posenc.View[float32]) error {
				return posenc.RotateIntoQuantized(a, slots, posenc.IntoQuantized[D, float32]{Dst: v, Src: x})
			},
			read: func(y posenc.View[float32], slots []int32) error {
				return posenc.Dequantize(y, v, posenc.DequantizeOptions{Tokens: len(slots), HeadDim: headDim, Slots: slots})
			},
		}
	}
	return f
}

// recordsFormat is always in pages.
func recordsFormat(format posenc.PageFormat, name string) cacheFormat {
	v := posenc.PagedView{Format: format}
	if format <= posenc.ONNXRuntimeInt4 {
		v.Scales = []float32{1. / 64}
	}
	tokens, record, err := v.Record(headDim)
	must(0, err)
	f := cacheFormat{name: name, bytes: float64(record) * 32 / float64(tokens*headDim)}
	f.open = func(capacity int, inPages bool) *cache {
		if !inPages {
			return nil
		}
		v := v
		v.View = posenc.View[byte]{Data: make([]byte, capacity/tokens*keyHeads*record), Heads: keyHeads}
		if tokens == 1 {
			v.TokenStride, v.HeadStride, v.SequenceTokens, v.SequenceStride = record, pageTokens*record, pageTokens, keyHeads*pageTokens*record
		}
		return &cache{
			bytes: v.Data,
			store: func(a posenc.Angles, slots []int32, x posenc.View[float32]) error {
				return posenc.RotateIntoPages(a, slots, posenc.IntoPages[float32]{Dst: v, Src: x})
			},
			read: func(y posenc.View[float32], slots []int32) error {
				return posenc.DequantizePages(y, v, posenc.DequantizeOptions{Tokens: len(slots), HeadDim: headDim, Slots: slots})
			},
		}
	}
	return f
}

func storeName(format, layout string, tokens int, by string) string {
	return fmt.Sprintf("Cache/op=store/format=%s/layout=%s/tokens=%d/by=%s", format, layout, tokens, by)
}

// readName is of a copy of the float32 too.
func readName(operation, format string, tokens int, by string) string {
	return fmt.Sprintf("Cache/op=%s/format=%s/tokens=%d/by=%s", operation, format, tokens, by)
}

// cachesOf goes before the names of the formats that are measured, or of none for all.
const cachesOf = "caches="

// formatsOf returns the formats of a comma-separated list.
func formatsOf(list string) ([]cacheFormat, error) {
	if list == "" {
		return cacheFormats, nil
	}
	var chosen []cacheFormat
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(cacheFormats, func(f cacheFormat) bool { return f.name == name })
		if i < 0 {
			var names []string
			for _, f := range cacheFormats {
				names = append(names, f.name)
			}
			return nil, fmt.Errorf("format %q: expected one of %s", name, strings.Join(names, " "))
		}
		chosen = append(chosen, cacheFormats[i])
	}
	return chosen, nil
}

// cacheCases have what is compared next to each other.
func cacheCases(s setting, formats []cacheFormat) []measure.Case {
	all, _ := peers.All()
	most := s.caches[len(s.caches)-1] * keyHeads * headDim
	x, y, turned := aligned[float32](most), ones[float32](most), aligned[float32](most)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = random.Float32()*2 - 1
	}
	copy(turned, x)
	var cases []measure.Case
	add := func(name string, bytes int, run func() error) {
		cases = append(cases, measure.Case{Name: name, Bytes: int64(bytes), Run: run})
	}
	for _, tokens := range s.caches {
		n := tokens * keyHeads * headDim
		src, dst := posenc.View[float32]{Data: x[:n], Heads: keyHeads}, posenc.View[float32]{Data: y[:n], Heads: keyHeads}
		positions, slots, capacity, layers := sequence(tokens), sequence(tokens), tokens, 1
		if tokens == 1 {
			positions[0], slots[0], capacity, layers = 4321, pageTokens/2-1, pageTokens, layersInCall
		}
		longSlots, inTokens, inPages := make([]int64, tokens), make([]int32, tokens), make([]int32, tokens)
		for t, p := range random.Perm(tokens) {
			longSlots[t], inTokens[t] = int64(slots[t]), int32(p)
		}
		for page, p := range random.Perm(tokens / pageTokens) {
			for t := range pageTokens {
				inPages[page*pageTokens+t] = int32(p*pageTokens + t)
			}
		}
		for _, f := range formats {
			plain, paged := f.open(capacity, false), f.open(capacity, true)
			written := plain
			if plain == nil {
				written = paged
			}
			bytes := int(f.bytes * float64(n) / 32)
			for _, layout := range layouts {
				rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: layout, Base: base}))
				rows := must(rotary.Rows(positions))
				for _, c := range []*cache{plain, paged} {
					if c != nil {
						must(0, c.store(rotary.Unrotated(capacity), nil, posenc.View[float32]{Data: x[:capacity*keyHeads*headDim], Heads: keyHeads}))
					}
				}
				repeated := func(angles func() posenc.Angles) func() error {
					return func() (err error) {
						for range layers {
							err = written.store(angles(), slots, src)
						}
						return err
					}
				}
				for _, p := range all {
					if p.Store == nil || plain == nil {
						continue
					}
					if run := p.Store(f.name, layout, turned[:n], positions, f.open(capacity, false).bytes, longSlots, keyHeads, headDim, base, layers); run != nil {
						add(storeName(f.name, layoutName(layout), tokens, p.Name), bytes, func() error { run(); return nil })
					}
				}
				add(storeName(f.name, layoutName(layout), tokens, "angles"), bytes, repeated(func() posenc.Angles { return rotary.At(positions) }))
				add(storeName(f.name, layoutName(layout), tokens, "rows"), bytes, repeated(rows.All))
			}
			if tokens == 1 {
				continue
			}
			for i, run := range measure.LoadStore(x[:n], aligned[float32](bytes/4+16), int(f.bytes), dispatch.Implementation()) {
				add(readName("bound", f.name, tokens, fmt.Sprint(i)), bytes, func() error { run(); return nil })
			}
			add(readName("copy", f.name, tokens, "go"), 4*n, func() error { copy(y[:n], x[:n]); return nil })
			if plain != nil {
				add(readName("read", f.name, tokens, "slots"), 4*n, func() error { return plain.read(dst, inTokens) })
			}
			add(readName("read", f.name, tokens, "pages"), 4*n, func() error { return paged.read(dst, inPages) })
		}
	}
	return cases
}

// runCaches measures caches alone, of a comma-separated list of formats, and writes their tables and samples.
func runCaches(s setting, list string, m machine, directory string, p *progress) error {
	formats, err := formatsOf(list)
	if err != nil {
		return err
	}
	j, err := newJob(os.Args[0], posenc.Implementation(), s.name, cachesOf+list, p)
	if err != nil {
		return err
	}
	samples, ran, passed, err := j.run("caches", p)
	if err != nil {
		return err
	}
	raw := fmt.Sprintf("%score-share: %.0f%%\n\n%s", m.header(), 100*min(1, ran.Seconds()/passed.Seconds()), strings.Join(samples, ""))
	r, err := parse(raw)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(directory, "caches.txt"), []byte(raw), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, "caches.md"), []byte(cacheTables(s, formats, m, r)), 0o666)
}

func cacheTables(s setting, formats []cacheFormat, m machine, r results) string {
	var b strings.Builder
	w := func(format string, arguments ...any) { fmt.Fprintf(&b, format, arguments...) }
	fewest, _ := r.samples()
	w("# Caches on %s\n\n%s, %s; posenc %s, `%s`", m.cpu, m.cacheList(), m.goVersion, m.commit, posenc.Implementation())
	all, _ := peers.All()
	for _, p := range all {
		if p.Store != nil {
			w("; %s %s: %s", p.Name, p.Version, p.Computes)
		}
	}
	w(".\n\nns a token of %d heads of %d float32, half-split, then interleaved; medians of at least %d samples taken alternately in one process and thread. One token is stored by %d layers, which share memory.\n", keyHeads, headDim, fewest, layersInCall)
	both := func(value func(layout string) string) string {
		half, interleaved := value("half"), value("interleaved")
		if half == "-" {
			return half
		}
		return half + ", " + interleaved
	}
	for _, tokens := range s.caches {
		count := float64(tokens)
		if tokens == 1 {
			count = layersInCall
		}
		w("\n## Stores of %d\n\nThe bound loads the float32 and stores as many bytes as the cache gets by non-temporal stores; its share is of the speed by ready rows.\n\n", tokens)
		w("| format | ggml | `Rotary.At` | times | `Rows` | times | bound | of the bound |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
		for _, f := range formats {
			ns := func(by string) string {
				return both(func(layout string) string { return digits(r.time(storeName(f.name, layout, tokens, by)) / count) })
			}
			times := func(by string) string {
				return both(func(layout string) string {
					return digits(r.time(storeName(f.name, layout, tokens, "ggml")) / r.time(storeName(f.name, layout, tokens, by)))
				})
			}
			bound := min(r.time(readName("bound", f.name, tokens, "0")), r.time(readName("bound", f.name, tokens, "1")))
			share := both(func(layout string) string { return percent(bound / r.time(storeName(f.name, layout, tokens, "rows"))) })
			w("| %s | %s | %s | %s | %s | %s | %s | %s |\n", f.name, ns("ggml"), ns("angles"), times("angles"), ns("rows"), times("rows"), digits(bound/count), share)
		}
	}
	w("\n## Reads\n\n`Dequantize` of tokens in random order, and of pages of %d in random order, or `DequantizePages`: ns a token, and the share of the speed of copying the float32 result.\n\n| format |", pageTokens)
	columns := 0
	for _, tokens := range s.caches {
		if tokens > 1 {
			w(" %d: copy | slots | of a copy | pages | of a copy |", tokens)
			columns += 5
		}
	}
	w("\n|---|%s\n", strings.Repeat("--:|", columns))
	for _, f := range formats {
		w("| %s |", f.name)
		for _, tokens := range s.caches {
			if tokens == 1 {
				continue
			}
			ns := func(operation, by string) float64 {
				return r.time(readName(operation, f.name, tokens, by)) / float64(tokens)
			}
			w(" %s |", digits(ns("copy", "go")))
			for _, by := range []string{"slots", "pages"} {
				w(" %s | %s |", digits(ns("read", by)), percent(ns("copy", "go")/ns("read", by)))
			}
		}
		w("\n")
	}
	return b.String()
}
