// Package heads has what a call does to the heads of a chunk of tokens: rotations, norms, Hadamard
// transforms, and quantization into caches. It calls kernels, splits work where one
// call of a kernel may not take all, and checks nothing: package posenc has checked.
package heads
