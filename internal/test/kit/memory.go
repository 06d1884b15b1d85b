package kit

import "unsafe"

// BytesOf returns the memory of s.
func BytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// Share reports whether slices that are not empty share a byte.
func Share[A, B any](a []A, b []B) bool {
	first, second := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 && first < second+uintptr(len(BytesOf(b))) && second < first+uintptr(len(BytesOf(a)))
}

// Flush returns n elements at the start or at the end of an arena, next to its
// guard.
func Flush[T any](arena []byte, n int, atEnd bool) []T {
	var zero T
	start := 0
	if atEnd && (n > 0 || GuardPages) {
		start = len(arena) - n*int(unsafe.Sizeof(zero))
	}
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(arena)), start)), n)
}
