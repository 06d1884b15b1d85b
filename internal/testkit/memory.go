package testkit

import "unsafe"

// BytesOf returns the memory of s.
func BytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
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
