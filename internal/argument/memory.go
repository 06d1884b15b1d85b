package posenc

import (
	"math/bits"
	"strconv"
	"unsafe"
)

// elements says how long a slice is.
type elements int

func (n elements) String() string {
	if n == 1 {
		return "1 element"
	}
	return strconv.Itoa(int(n)) + " elements"
}

// indexed names an element of an argument.
func indexed(argument string, index int) string {
	return argument + "[" + strconv.Itoa(index) + "]"
}

// multiply returns a*b for numbers of at least 0, unless it overflows an int.
func multiply(a, b int) (int, bool) {
	high, low := bits.Mul(uint(a), uint(b))
	return int(low), high == 0 && int(low) >= 0
}

// checkTables checks that cos and sin hold rows of pairs entries for each of
// the given number of tokens, and overlap neither each other nor of, the argument
// of that name.
func checkTables[T int32 | float32](function string, cos, sin []float32, tokens, pairs int, argument string, of []T) error {
	want, ok := multiply(tokens, pairs)
	tables := [...]struct {
		name     string
		len      int
		overlaps bool
	}{{"cos", len(cos), memoryOverlaps(cos, of)}, {"sin", len(sin), memoryOverlaps(sin, of)}}
	for _, table := range tables {
		if !ok {
			return argumentError(ErrLength, function, table.name, elements(table.len), "%d rows of %d, more than an int can count", tokens, pairs)
		}
		if table.len != want {
			return argumentError(ErrLength, function, table.name, elements(table.len), "%d for %d rows of %d", want, tokens, pairs)
		}
	}
	if overlap(cos, sin) {
		return argumentError(ErrOverlap, function, "sin", "sharing elements with cos", "another slice")
	}
	for _, table := range tables {
		if table.overlaps {
			return argumentError(ErrOverlap, function, table.name, "sharing memory with "+argument, "another slice")
		}
	}
	return nil
}

// overlap reports whether a and b share an element.
func overlap[T any](a, b []T) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	startA, startB, size := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0])), unsafe.Sizeof(a[0])
	return startA < startB+size*uintptr(len(b)) && startB < startA+size*uintptr(len(a))
}

// memoryOverlaps is overlap for slices of different types.
func memoryOverlaps[A, B any](a []A, b []B) bool {
	bytesA := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), uintptr(len(a))*unsafe.Sizeof(*new(A)))
	bytesB := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))*unsafe.Sizeof(*new(B)))
	return overlap(bytesA, bytesB)
}
