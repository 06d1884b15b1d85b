package argument

import "unsafe"

// Memory returns the bytes of s.
func Memory[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// Overlap reports whether a and b share memory.
func Overlap[A, B any](a []A, b []B) bool {
	startA, startB := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 &&
		startA < startB+uintptr(len(b))*unsafe.Sizeof(*new(B)) && startB < startA+uintptr(len(a))*unsafe.Sizeof(*new(A))
}
