package array

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
)

// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
// github.com/sbinet/npyio, the usual library, reads no float16 and panics on damaged headers.

const npyMagic = "\x93NUMPY"

// maxHeader is far beyond the header of any array of numbers; that of numpy is 10000.
const maxHeader = 1 << 16

var (
	npyDescr   = regexp.MustCompile(`['"]descr['"]\s*:\s*(?:['"]([<>|=]?)([A-Za-z]\w*)['"]|\[)`)
	npyFortran = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)\b`)
	npyShape   = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([0-9L,\s]*)\)`)
)

func readNPY(r io.ReaderAt, size int64) (*File, error) {
	a, err := decodeNPY(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return nil, err
	}
	return &File{Arrays: []Array{*a}}, nil
}

// npyKey is a key of a header, which is a dictionary of Python.
var npyKey = regexp.MustCompile(`['"](\w+)['"]\s*:`)

// decodeNPY reads an array of size bytes with its header, to the end of r.
func decodeNPY(r io.Reader, size int64) (*Array, error) {
	header, length, err := npyHeader(r)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, m := range npyKey.FindAllStringSubmatch(header, -1) {
		if seen[m[1]] {
			return nil, fmt.Errorf("npy header %.200q: the key %q appears twice", strings.TrimSpace(header), m[1])
		}
		seen[m[1]] = true
	}
	descr, fortran, shapes := npyDescr.FindStringSubmatch(header), npyFortran.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	if descr == nil || fortran == nil || shapes == nil {
		return nil, fmt.Errorf("npy header %.200q: want descr, fortran_order and shape", strings.TrimSpace(header))
	}
	a := &Array{Type: descr[1] + descr[2]}
	for part := range strings.SplitSeq(shapes[1], ",") {
		part = strings.TrimSuffix(strings.TrimSpace(part), "L") // 3L is how Python 2 writes 3
		if part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("npy header: shape (%.100s): want whole numbers that an int holds", shapes[1])
		}
		a.Shape = append(a.Shape, n)
	}
	if err := checkDimensions(len(a.Shape)); err != nil {
		return nil, err
	}
	n, ok := count(a.Shape)
	var k *kind
	for _, one := range kinds {
		if one.npy == descr[2] {
			k = one
		}
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("npy header: shape %v: want fewer elements", a.Shape)
	case descr[2] == "":
		a.Type = "a record"
		return a, nil
	case k == nil:
		return a, nil
	case int64(n) > maxBytes/int64(k.size):
		return nil, fmt.Errorf("shape %v of %s: want at most %d bytes", a.Shape, k.name, maxBytes)
	}
	if size != input.Unknown {
		size -= length
	}
	data, err := readData(r, n*k.size, size, fmt.Sprintf("shape %v of %s", a.Shape, k.name))
	if err != nil {
		return nil, err
	}
	if fortran[1] == "True" {
		data = rowMajor(data, a.Shape, k.size)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if descr[1] == ">" {
		order = binary.BigEndian
	}
	return a, a.set(k, data, order)
}

// npyHeader returns the text of a header, and the bytes before the data.
func npyHeader(r io.Reader) (string, int64, error) {
	start := make([]byte, 12)
	if _, err := io.ReadFull(r, start[:10]); err != nil {
		return "", 0, endsEarly(err, "a npy header")
	}
	if !bytes.HasPrefix(start, []byte(npyMagic)) {
		return "", 0, errors.New("not a npy array")
	}
	prefix, length := 10, uint32(binary.LittleEndian.Uint16(start[8:]))
	switch major := start[6]; major {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return "", 0, endsEarly(err, "a npy header")
		}
		prefix, length = 12, binary.LittleEndian.Uint32(start[8:])
	default:
		return "", 0, fmt.Errorf("npy version %d: want 1 to 3", major)
	}
	if length > maxHeader {
		return "", 0, fmt.Errorf("a npy header of %d bytes: want at most %d", length, maxHeader)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(r, header); err != nil {
		return "", 0, endsEarly(err, "a npy header")
	}
	return string(header), int64(prefix) + int64(length), nil
}

// endsEarly is the error of reading what a file must have.
func endsEarly(err error, what string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New(what + " that ends early")
	}
	return err
}

// rowMajor reorders elements of which the first dimension is the innermost.
func rowMajor(data []byte, shape []int, size int) []byte {
	ordered := make([]byte, 0, len(data))
	index := make([]int, len(shape))
	for len(ordered) < len(data) {
		from, stride := 0, 1
		for d, i := range index {
			from += i * stride
			stride *= shape[d]
		}
		ordered = append(ordered, data[from*size:(from+1)*size]...)
		for d := len(index) - 1; d >= 0; d-- {
			if index[d]++; index[d] < shape[d] {
				break
			}
			index[d] = 0
		}
	}
	return ordered
}

// encodeNPY returns an array as a npy file.
func encodeNPY(a *Array) ([]byte, error) {
	k, data, err := a.encode()
	if err != nil {
		return nil, err
	}
	if err := checkDimensions(len(a.Shape)); err != nil {
		return nil, fmt.Errorf("array %q: %w", a.Name, err)
	}
	var shape strings.Builder
	for _, n := range a.Shape {
		fmt.Fprintf(&shape, "%d,", n)
	}
	header := fmt.Sprintf("{'descr': '<%s', 'fortran_order': False, 'shape': (%s), }", k.npy, shape.String())
	// The data start at a multiple of 64 bytes.
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	file := append([]byte(npyMagic), 1, 0)
	file = binary.LittleEndian.AppendUint16(file, uint16(len(header)))
	file = append(file, header...)
	return append(file, data...), nil
}
