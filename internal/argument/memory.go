package argument

import "unsafe"

// Overlap reports whether a and b share an element.
func Overlap[T any](a, b []T) bool {
	return MemoryOverlaps(a, b)
}

// MemoryOverlaps is Overlap for slices of different types.
func MemoryOverlaps[A, B any](a []A, b []B) bool {
	startA, startB := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 &&
		startA < startB+uintptr(len(b))*unsafe.Sizeof(*new(B)) && startB < startA+uintptr(len(a))*unsafe.Sizeof(*new(A))
}
