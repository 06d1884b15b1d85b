// Package bound holds the loops that bound the speed of the kernels: scaling in
// place and storing. Benchmarks measure them beside the kernels. It also sets the
// control registers of floating-point arithmetic, for tests. Nothing else imports
// it. Its other files are written by asm/_gen.
package bound
