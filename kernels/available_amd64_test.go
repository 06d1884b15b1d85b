//go:build amd64 && !purego

package kernels

import "golang.org/x/sys/cpu"

// available lists what this CPU can run. The root package has the real gates;
// its tests prove them.
func available() []Implementation {
	list := []Implementation{Generic}
	x86 := &cpu.X86
	if x86.HasAVX && x86.HasAVX2 && x86.HasFMA && x86.HasF16C {
		list = append(list, AVX2)
		if x86.HasBMI2 && x86.HasAVX512F && x86.HasAVX512VL && x86.HasAVX512DQ && x86.HasAVX512BW {
			list = append(list, AVX512)
		}
	}
	return list
}

// foreign are those that no machine with this build has.
var foreign = []Implementation{NEON}
