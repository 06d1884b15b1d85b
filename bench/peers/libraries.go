//go:build cgopeers && cgo && linux && amd64

package peers

// #include "vectors.h"
import "C"

import "github.com/klauspost/cpuid/v2"

// cgoPeers are C libraries, by the vectors of this CPU: they do not ask for it
// themselves.
func cgoPeers() []Peer {
	var list []library
	if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		list = append(list, avx2Libraries()...)
	}
	if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ) {
		list = append(list, avx512Libraries()...)
	}
	var peers []Peer
	for _, l := range list {
		peers = append(peers, l.peers()...)
	}
	return peers
}

// library is loops around the cosine and sine of one, as vectors.h says.
type library struct {
	name, version, accuracy string
	loops                   C.loops
}

// peers are for tables of a multiple of 16 pairs and as many angles.
func (l library) peers() []Peer {
	return []Peer{
		{
			Name: l.name + " double", Version: l.version, Computes: "angle, cosine and sine in float64, rounded once",
			Accuracy: l.accuracy + " in float64, 0.500x in float32", Tables: libraryTables(l.loops.doubles),
		},
		{
			Name: l.name + " reduced", Version: l.version, Computes: "angle in float64 without whole turns, rounded, then cosine and sine in float32",
			Accuracy: l.accuracy + " and the error of an angle up to pi, 2^-23.3", Tables: libraryTables(l.loops.reduced),
		},
		{
			Name: l.name + " float", Version: l.version, Computes: "angle rounded to float32, cosine and sine in float32",
			Accuracy: l.accuracy + " and the error of the angle, 2^-24 of it", Tables: libraryTables(l.loops.floats),
		},
		{
			Name: l.name, Version: l.version, Computes: "cosine and sine of a float32 in float32",
			Accuracy: l.accuracy, Angles: libraryAngles(l.loops.angles),
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
