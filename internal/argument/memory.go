package argument

import "unsafe"

// Overlap reports whether a and b share an element.
func Overlap[T any](a, b []T) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	startA, startB, size := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0])), unsafe.Sizeof(a[0])
	return startA < startB+size*uintptr(len(b)) && startB < startA+size*uintptr(len(a))
}

// MemoryOverlaps is Overlap for slices of different types.
func MemoryOverlaps[A, B any](a []A, b []B) bool {
	bytesA := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), uintptr(len(a))*unsafe.Sizeof(*new(A)))
	bytesB := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))*unsafe.Sizeof(*new(B)))
	return Overlap(bytesA, bytesB)
}
