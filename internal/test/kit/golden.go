package kit

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
)

// Words returns numbers of 16 bits as what the kernels take.
func Words[T posenc.Float16 | posenc.BFloat16](s []T) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// FirstDifference returns the index where a and b are not the same, or -1.
func FirstDifference[T posenc.Element](a, b []T) int {
	switch a := any(a).(type) {
	case []float32:
		return differs(&Float32Numbers, a, any(b).([]float32))
	case []posenc.Float16:
		return differs(&Float16Numbers, Words(a), Words(any(b).([]posenc.Float16)))
	default:
		return differs(&Bfloat16Numbers, Words(any(a).([]posenc.BFloat16)), Words(any(b).([]posenc.BFloat16)))
	}
}

func differs[T Number](of *Numbers[T], a, b []T) int {
	for i := range a {
		if !of.Same(a[i], b[i]) {
			return i
		}
	}
	return -1
}

// ReadGolden returns what a file has, uncompressed where its name ends with .gz.
func ReadGolden(file string) []byte {
	content := Must(os.ReadFile(file))
	if strings.HasSuffix(file, ".gz") {
		content = Must(io.ReadAll(Must(gzip.NewReader(bytes.NewReader(content)))))
	}
	return content
}

// ReadJSON reads golden vectors.
func ReadJSON(file string, vectors any) {
	if err := json.Unmarshal(ReadGolden(file), vectors); err != nil {
		panic(fmt.Errorf("%s: %w", file, err))
	}
}

// ReadCases reads golden vectors whose text has as many cases.
func ReadCases[C any](t *testing.T, file string, count int) []C {
	t.Helper()
	var vectors struct{ Cases []C }
	ReadJSON(file, &vectors)
	if len(vectors.Cases) != count {
		t.Fatalf("%s has %d cases, want %d", file, len(vectors.Cases), count)
	}
	return vectors.Cases
}

// Hex returns the numbers of hexadecimal text, big-endian.
func Hex[T any](text ...string) []T {
	data := Must(hex.DecodeString(strings.Join(text, "")))
	list := make([]T, len(data)/int(unsafe.Sizeof(*new(T))))
	if n := Must(binary.Decode(data, binary.BigEndian, list)); n != len(data) {
		panic(fmt.Sprintf("%d bytes are no list of %T", len(data), list))
	}
	return list
}

// GoldenInputs returns what testdata/rmsnorm/generate.py starts from.
func GoldenInputs(start, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32((uint64(start+i)*2654435761+97)%(1<<24)) - 1<<23
		s[i] /= 1 << 21
	}
	return s
}
