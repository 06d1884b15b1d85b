// Package kernels is what the other packages of the module call. Its API is not promised: it
// changes without notice, and nothing in it checks its arguments.
//
// It binds each operation to its implementations, by one switch for each operation and GOARCH.
// The switches call the assembly stubs directly, so that no argument escapes to the heap.
package kernels

// Implementation names a set of kernels.
type Implementation uint8

// The implementations, by the instructions that they need.
const (
	Generic Implementation = iota // plain Go
	AVX2                          // amd64 with AVX2, FMA and F16C
	AVX512                        // amd64 with AVX2, FMA, F16C, BMI2 and AVX-512 F, VL, DQ and BW
	NEON                          // arm64
)

// String returns the name that POSENC_IMPL takes.
func (i Implementation) String() string {
	names := [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}
	if int(i) < len(names) {
		return names[i]
	}
	return "unknown"
}

// missing reports an operation whose switch lacks a row. It stays out of the bindings,
// which would otherwise clear memory for its message.
//
//go:noinline
func missing(operation string, impl Implementation) {
	panic("kernels: " + operation + " has no case for implementation " + impl.String())
}
