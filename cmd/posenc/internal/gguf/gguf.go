// Package gguf reads of a GGUF file what package modelconfig asks for: the metadata, the names of
// tensors, and the values of those of frequency factors. It reads the header once, from front to back, and keeps
// little of it: reading takes a few megabytes, for any lengths that a file claims.
//
// The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// ErrFile is wrapped by every error about the bytes of a file.
var ErrFile = errors.New("not a GGUF file that can be read")

// Magic is what a GGUF file begins with.
const Magic = "GGUF"

// Bounds of a header. Published files have up to some hundred keys, some thousand
// tensors and, with the vocabulary, 20 MB.
const (
	mostHeader   = 1 << 28 // bytes
	mostKeys     = 1 << 16
	mostTensors  = 1 << 20
	longestName  = 1 << 16 // bytes of the name of a key or of a tensor
	mostKept     = 1 << 24 // bytes of names and values
	mostFactors  = 1 << 15 // numbers of a tensor of frequency factors
	mostDims     = 4
	valueBytes   = 64 // of memory that a kept number or string takes at most, beside its bytes
	tokenizerKey = "tokenizer."
)

// Types of values.
const (
	typeUint8 = iota
	typeInt8
	typeUint16
	typeInt16
	typeUint32
	typeInt32
	typeFloat32
	typeBool
	typeString
	typeArray
	typeUint64
	typeInt64
	typeFloat64
)

// sizes are the bytes of a value, by its type; 0 for those without a fixed size.
var sizes = [...]int{
	typeUint8: 1, typeInt8: 1, typeUint16: 2, typeInt16: 2, typeUint32: 4, typeInt32: 4, typeFloat32: 4, typeBool: 1,
	typeString: 0, typeArray: 0, typeUint64: 8, typeInt64: 8, typeFloat64: 8,
}

// tensorFloat32 is the type of tensors whose numbers are float32.
const tensorFloat32 = 0

// factorTensors are the tensors whose values modelconfig.GGUF takes.
var factorTensors = []string{"rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"}

// Read reads a file of size bytes. The results are what modelconfig.GGUF takes. There are no
// keys of the tokenizer. Of a file in several parts it reads the one that it is given, which
// has to be the first, and Tensors reads the others. Errors wrap ErrFile, or are those of f.
func Read(f io.ReaderAt, size int64) (map[string]any, map[string][]float32, error) {
	return readPart(f, size, true)
}

// Tensors reads the tensors of a further part of a file.
func Tensors(f io.ReaderAt, size int64) (map[string][]float32, error) {
	_, tensors, err := readPart(f, size, false)
	return tensors, err
}

func readPart(f io.ReaderAt, size int64, first bool) (map[string]any, map[string][]float32, error) {
	end := min(size, mostHeader)
	h := &header{
		in: bufio.NewReaderSize(io.NewSectionReader(f, 0, end), 1<<16), order: binary.LittleEndian,
		end: uint64(end), cut: end < size, at: "the first bytes", keys: map[string]any{}, tensors: map[string][]float32{},
	}
	places := h.read(first)
	if h.err != nil {
		return nil, nil, h.err
	}
	for _, name := range factorTensors {
		t, found := places[name]
		if !found {
			continue
		}
		factors, err := h.factors(f, size, name, t)
		if err != nil {
			return nil, nil, err
		}
		h.tensors[name] = factors
	}
	return h.keys, h.tensors, nil
}

// header reads the header of a file. After the first error it reads nothing.
type header struct {
	in      *bufio.Reader
	order   binary.ByteOrder
	done    uint64 // bytes that have been read
	end     uint64 // bytes of the file
	cut     bool   // the file goes on after end
	at      string // what is read, for errors
	kept    int    // bytes of memory
	keys    map[string]any
	tensors map[string][]float32
	err     error
}

// tensor is where the numbers of a tensor are.
type tensor struct {
	kind   uint32
	count  uint64 // of elements
	offset uint64 // from the beginning of the data
}

func (h *header) fail(format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf("%s, at byte %d: %s: %w", h.at, h.done, fmt.Sprintf(format, args...), ErrFile)
	}
}

// read fills keys and the names of tensors, and returns where the tensors of frequency factors are.
func (h *header) read(first bool) map[string]tensor {
	if magic := h.bytes(uint64(len(Magic))); h.err == nil && string(magic) != Magic {
		h.fail("they are %q, want %q", magic, Magic)
	}
	version := h.uint32()
	if version&0xffff == 0 { // of the other byte order
		version = version>>24 | version>>8&0xff00
		h.order = binary.BigEndian
	}
	if version != 2 && version != 3 {
		h.fail("version %d, want 2 or 3", version)
	}
	tensorCount, keyCount := h.uint64(), h.uint64()
	if keyCount > mostKeys {
		h.fail("%d keys, want at most %d", keyCount, mostKeys)
	}
	if tensorCount > mostTensors {
		h.fail("%d tensors, want at most %d", tensorCount, mostTensors)
	}
	for i := uint64(0); i < keyCount && h.err == nil; i++ {
		h.at = fmt.Sprintf("key %d of %d", i+1, keyCount)
		h.key()
	}
	if part, ok := h.keys["split.no"].(uint16); ok && first && part != 0 {
		h.at = "split.no"
		h.fail("this is part %d of a file in several; want the first, which has the keys", part+1)
	}
	places := map[string]tensor{}
	for i := uint64(0); i < tensorCount && h.err == nil; i++ {
		h.at = fmt.Sprintf("tensor %d of %d", i+1, tensorCount)
		name, t := h.tensor()
		if _, twice := h.tensors[name]; twice {
			h.fail("it appears twice")
		}
		h.keep(len(name) + valueBytes)
		h.tensors[name] = nil
		if slices.Contains(factorTensors, name) {
			places[name] = t
		}
	}
	return places
}

// key reads a key and its value.
func (h *header) key() {
	name := h.name()
	if h.err != nil {
		return
	}
	h.at = quoted(name)
	if _, twice := h.keys[name]; twice {
		h.fail("the key appears twice")
	}
	keep := !strings.HasPrefix(name, tokenizerKey)
	if keep {
		h.keep(len(name) + valueBytes)
	}
	kind := h.kind()
	value := any(nil)
	switch {
	case h.err != nil:
	case kind == typeArray:
		value = h.array(keep)
	case keep:
		value = h.value(kind)
	default:
		h.skip(kind, 1)
	}
	if keep && h.err == nil {
		h.keys[name] = value
	}
}

// kind reads the type of a value.
func (h *header) kind() uint32 {
	kind := h.uint32()
	if kind >= uint32(len(sizes)) {
		h.fail("a value of the unknown type %d", kind)
	}
	return kind
}

// array reads a list; nil where it is not to be kept.
func (h *header) array(keep bool) any {
	kind, count := h.kind(), h.uint64()
	if h.err != nil {
		return nil
	}
	if kind == typeArray {
		h.fail("a list of lists, which ggml does not read")
		return nil
	}
	item := uint64(sizes[kind])
	if kind == typeString {
		item = 8 // its length
	}
	if count > h.left()/item {
		h.short("a list of %d values", count)
		return nil
	}
	if !keep {
		h.skip(kind, count)
		return nil
	}
	if count > mostKept/valueBytes {
		h.fail("a list of %d values, want at most %d", count, mostKept/valueBytes)
		return nil
	}
	h.keep(int(count) * valueBytes)
	list := []any{}
	for range count {
		list = append(list, h.value(kind))
		if h.err != nil {
			return nil
		}
	}
	return list
}

// value reads a value that is no list.
func (h *header) value(kind uint32) any {
	if kind == typeString {
		length := h.uint64()
		if h.err == nil && length > mostKept {
			if length > h.left() {
				h.short("a text of %d bytes", length)
			} else {
				h.fail("a text of %d bytes, want at most %d", length, mostKept)
			}
		}
		if h.err == nil {
			h.keep(int(length))
		}
		return string(h.bytes(length))
	}
	b := h.bytes(uint64(sizes[kind]))
	if h.err != nil {
		return nil
	}
	switch kind {
	case typeUint8:
		return b[0]
	case typeInt8:
		return int8(b[0])
	case typeUint16:
		return h.order.Uint16(b)
	case typeInt16:
		return int16(h.order.Uint16(b))
	case typeUint32:
		return h.order.Uint32(b)
	case typeInt32:
		return int32(h.order.Uint32(b))
	case typeFloat32:
		return math.Float32frombits(h.order.Uint32(b))
	case typeUint64:
		return h.order.Uint64(b)
	case typeInt64:
		return int64(h.order.Uint64(b))
	case typeFloat64:
		return math.Float64frombits(h.order.Uint64(b))
	}
	if b[0] > 1 { // typeBool
		h.fail("a bool of %d, want 0 or 1", b[0])
	}
	return b[0] == 1
}

// skip passes over values that are no lists.
func (h *header) skip(kind uint32, count uint64) {
	if kind != typeString {
		h.discard(count * uint64(sizes[kind])) // array compares it with the file; a single one is small
		return
	}
	for i := uint64(0); i < count && h.err == nil; i++ {
		h.discard(h.uint64())
	}
}

// tensor reads the description of a tensor.
func (h *header) tensor() (name string, t tensor) {
	name = h.name()
	if h.err == nil {
		h.at = quoted(name)
	}
	dims := h.uint32()
	if dims > mostDims {
		h.fail("%d dimensions, want at most %d", dims, mostDims)
	}
	t.count = 1
	for i := uint32(0); i < dims && h.err == nil; i++ {
		n := h.uint64()
		if n != 0 && t.count > math.MaxUint64/n {
			h.fail("more than 2^64 elements")
		}
		t.count *= n
	}
	t.kind, t.offset = h.uint32(), h.uint64()
	return name, t
}

// factors reads the numbers of a tensor.
func (h *header) factors(f io.ReaderAt, size int64, name string, t tensor) ([]float32, error) {
	h.at = name
	alignment := uint64(32)
	if given, set := h.keys["general.alignment"]; set {
		n, ok := given.(uint32)
		if !ok || n == 0 || n&(n-1) != 0 {
			h.at = "general.alignment"
			h.fail("it is %v, want a power of two as uint32", given)
		}
		alignment = uint64(n)
	}
	if t.kind != tensorFloat32 {
		h.fail("a tensor of type %d, want %d, float32", t.kind, tensorFloat32)
	}
	if t.count > mostFactors {
		h.fail("a tensor of %d elements, want at most %d", t.count, mostFactors)
	}
	if h.err != nil {
		return nil, h.err
	}
	data := (h.done + alignment - 1) / alignment * alignment
	if uint64(size) < data || t.offset > uint64(size)-data || 4*t.count > uint64(size)-data-t.offset {
		h.fail("%d bytes from %d bytes after the header on, but the file has %d bytes: it is truncated", 4*t.count, t.offset, size)
		return nil, h.err
	}
	factors := make([]float32, t.count)
	if err := binary.Read(io.NewSectionReader(f, int64(data+t.offset), int64(4*t.count)), h.order, factors); err != nil {
		h.ended(err)
	}
	return factors, h.err
}

// name reads the name of a key or of a tensor.
func (h *header) name() string {
	length := h.uint64()
	switch {
	case h.err != nil:
		return ""
	case length > h.left():
		h.short("a name of %d bytes", length)
		return ""
	case length > longestName:
		h.fail("a name of %d bytes, want at most %d", length, longestName)
		return ""
	}
	return string(h.bytes(length))
}

func (h *header) uint32() uint32 {
	if b := h.bytes(4); h.err == nil {
		return h.order.Uint32(b)
	}
	return 0
}

func (h *header) uint64() uint64 {
	if b := h.bytes(8); h.err == nil {
		return h.order.Uint64(b)
	}
	return 0
}

// bytes reads n bytes, at most mostKept.
func (h *header) bytes(n uint64) []byte {
	if h.err != nil {
		return nil
	}
	if n > h.left() {
		h.short("%d bytes", n)
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(h.in, b); err != nil {
		h.ended(err)
		return nil
	}
	h.done += n
	return b
}

// discard passes over n bytes.
func (h *header) discard(n uint64) {
	if h.err != nil {
		return
	}
	if n > h.left() {
		h.short("%d bytes", n)
		return
	}
	if _, err := h.in.Discard(int(n)); err != nil { // at most mostHeader
		h.ended(err)
		return
	}
	h.done += n
}

// left are the bytes that have not been read.
func (h *header) left() uint64 { return h.end - h.done }

// short fails since the file, or as much as a header may have, ends before what is to
// be read.
func (h *header) short(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if h.cut {
		h.fail("%s, but a header has at most %d", what, mostHeader)
	} else {
		h.fail("%s, but only %d are left: the file is truncated", what, h.left())
	}
}

// ended fails with an error of reading: a pipe, whose size is unknown, ends.
func (h *header) ended(err error) {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		h.fail("the file ends here: it is truncated")
	} else if h.err == nil {
		h.err = err
	}
}

// keep counts memory.
func (h *header) keep(n int) {
	if h.kept += n; h.kept > mostKept {
		h.fail("keys, values and names of more than %d bytes", mostKept)
	}
}

// quoted is a name as an error shows it.
func quoted(name string) string {
	const most = 64
	if len(name) > most {
		return fmt.Sprintf("%.*q...", most, name)
	}
	return fmt.Sprintf("%q", name)
}
