package kernels

// BeforeFMA makes sure that plain Go with math.FMA runs at its speed. It comes before each
// loop of it that does not follow a kernel, and takes some nanoseconds.
//
// On amd64 the compiler writes math.FMA with AVX and the arithmetic beside it with SSE.
// While the upper half of a vector register is in use, some CPUs take a hundred times as
// long for each change from one to the other as for the arithmetic. Kernels leave none in
// use, but C code may, assembly of others, and the runtime of GOEXPERIMENT=simd when it
// resumes a goroutine that it had preempted.
func BeforeFMA() { clearUpperHalves(clearing) }
