//go:build amd64 && !purego

package dispatch

import (
	"github.com/go-posenc/posenc/kernels"
	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/cpu"
)

// gate is what an implementation needs. cpuid asks the CPU and the operating
// system; x/sys/cpu obeys GODEBUG as well, and a feature counts when both have
// it.
type gate struct {
	impl     kernels.Implementation
	features []cpuid.FeatureID
	enabled  []*bool
}

// gates lists the implementations from the fastest to the slowest.
var gates = []gate{
	{
		kernels.AVX512,
		[]cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.FMA3, cpuid.F16C, cpuid.BMI2, cpuid.AVX512F, cpuid.AVX512VL, cpuid.AVX512DQ, cpuid.AVX512BW},
		[]*bool{&cpu.X86.HasAVX, &cpu.X86.HasAVX2, &cpu.X86.HasFMA, &cpu.X86.HasF16C, &cpu.X86.HasBMI2, &cpu.X86.HasAVX512F, &cpu.X86.HasAVX512VL, &cpu.X86.HasAVX512DQ, &cpu.X86.HasAVX512BW},
	},
	{
		kernels.AVX2,
		[]cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.FMA3, cpuid.F16C},
		[]*bool{&cpu.X86.HasAVX, &cpu.X86.HasAVX2, &cpu.X86.HasFMA, &cpu.X86.HasF16C},
	},
}

// Supported lists the implementations that run here, from the fastest to the slowest.
func Supported() []kernels.Implementation {
	var list []kernels.Implementation
	for _, g := range gates {
		if g.open() {
			list = append(list, g.impl)
		}
	}
	return append(list, kernels.Generic)
}

func (g *gate) open() bool {
	if !cpuid.CPU.Supports(g.features...) {
		return false
	}
	for _, enabled := range g.enabled {
		if !*enabled {
			return false
		}
	}
	return true
}

// Compiled lists the implementations of this build, whatever the CPU has.
func Compiled() []kernels.Implementation {
	return []kernels.Implementation{kernels.AVX512, kernels.AVX2, kernels.Generic}
}
