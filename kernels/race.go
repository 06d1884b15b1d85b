//go:build race

package kernels

import (
	"runtime"
	"unsafe"
)

// raceDetector says that the race detector is on. It does not see what assembly does, so that
// bindings tell it.
const raceDetector = true

func reads[E any](x []E)  { runtime.RaceReadRange(start(x), size(x)) }
func writes[E any](x []E) { runtime.RaceWriteRange(start(x), size(x)) }

func size[E any](x []E) int { return len(x) * int(unsafe.Sizeof(*new(E))) }

// start returns where x begins, hidden from escape analysis: functions of runtime have no
// body that shows that x stays.
//
//go:nosplit
func start[E any](x []E) unsafe.Pointer {
	hidden := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	return *(*unsafe.Pointer)(unsafe.Pointer(&hidden))
}
