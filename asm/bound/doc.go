// Package bound holds the loops that bound the speed of the kernels: scaling in
// place and storing. Benchmarks measure them beside the kernels; nothing else
// imports them. Its other files are written by asm/_gen.
package bound
