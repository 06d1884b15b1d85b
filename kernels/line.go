package kernels

import "unsafe"

// Line is the float32 in a line of the cache.
const Line = 64 / 4

// LineAligned returns all but Line elements of memory, from the start of a line on. Go puts
// scratch memory on the stack where it likes, and vectors of AVX-512 that lie across lines
// take twice as long to load and to store.
func LineAligned(memory []float32) []float32 {
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(memory))) / 4 % Line
	return memory[skip:][:len(memory)-Line]
}
