//go:build cgopeers && cgo && linux && amd64

package peers

// #include "vectors.h"
import "C"

import (
	"slices"

	"github.com/klauspost/cpuid/v2"
)

// cgoPeers are C libraries, for AVX2, which they are not asked for at run time.
func cgoPeers() []Peer {
	if !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		return nil
	}
	return slices.Concat(sleefPeers(), libmvecPeers())
}

// libraryFunctions are loops around the cosine and sine of a library, as
// vectors.h says.
type libraryFunctions struct {
	double, reduced, single C.tables_function
	angles                  C.angles_function
}

// libraryPeers is for tables of a multiple of 8 pairs and as many angles.
func libraryPeers(name, version, accuracy string, f libraryFunctions) []Peer {
	return []Peer{
		{
			Name: name + " double", Version: version, Computes: "angle, cosine and sine in float64, rounded once",
			Accuracy: accuracy + " in float64, 0.500x in float32", Tables: libraryTables(f.double),
		},
		{
			Name: name + " reduced", Version: version, Computes: "angle in float64 without whole turns, rounded, then cosine and sine in float32",
			Accuracy: accuracy + " and the error of an angle up to pi, 2^-23.3", Tables: libraryTables(f.reduced),
		},
		{
			Name: name + " float", Version: version, Computes: "angle rounded to float32, cosine and sine in float32",
			Accuracy: accuracy + " and the error of the angle, 2^-24 of it", Tables: libraryTables(f.single),
		},
		{
			Name: name, Version: version, Computes: "cosine and sine of a float32 in float32",
			Accuracy: accuracy, Angles: libraryAngles(f.angles),
		},
	}
}

func libraryTables(f C.tables_function) func(cos, sin []float32, positions []int32, invFreq []float64) {
	return func(cos, sin []float32, positions []int32, invFreq []float64) {
		C.call_tables(f, (*C.float)(&cos[0]), (*C.float)(&sin[0]), (*C.int32_t)(&positions[0]), C.size_t(len(positions)),
			(*C.double)(&invFreq[0]), C.size_t(len(invFreq)))
	}
}

func libraryAngles(f C.angles_function) func(cos, sin, angles []float32) {
	return func(cos, sin, angles []float32) {
		C.call_angles(f, (*C.float)(&cos[0]), (*C.float)(&sin[0]), (*C.float)(&angles[0]), C.size_t(len(angles)))
	}
}
