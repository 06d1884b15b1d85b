//go:build amd64 && !purego

package dispatch

import (
	"github.com/go-posenc/posenc/kernels"
	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/cpu"
)

// gate is what an implementation needs. cpuid asks the CPU and the operating system; x/sys/cpu
// obeys GODEBUG as well, and a feature counts when both have it.
type gate struct {
	impl     kernels.Implementation
	features []cpuid.FeatureID
	enabled  []*bool
}

// f16c stands for what only cpuid is asked: no x/sys/cpu that compiles with Go 1.25 has it, and
// GODEBUG does not know it either.
var f16c = true

// gates are of the implementations that not every amd64 has.
var gates = []gate{
	{
		kernels.AVX512,
		[]cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.FMA3, cpuid.F16C, cpuid.BMI2, cpuid.AVX512F, cpuid.AVX512VL, cpuid.AVX512DQ, cpuid.AVX512BW},
		[]*bool{&cpu.X86.HasAVX, &cpu.X86.HasAVX2, &cpu.X86.HasFMA, &f16c, &cpu.X86.HasBMI2, &cpu.X86.HasAVX512F, &cpu.X86.HasAVX512VL, &cpu.X86.HasAVX512DQ, &cpu.X86.HasAVX512BW},
	},
	{
		kernels.AVX2,
		[]cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.FMA3, cpuid.F16C},
		[]*bool{&cpu.X86.HasAVX, &cpu.X86.HasAVX2, &cpu.X86.HasFMA, &f16c},
	},
}

var compiled = []kernels.Implementation{kernels.AVX512, kernels.AVX2, kernels.Generic}

// Needs lists the features that an implementation needs, if not every CPU of this architecture
// has them.
func Needs(impl kernels.Implementation) (features []Feature) {
	for _, g := range gates {
		for i, id := range g.features {
			if g.impl == impl {
				has := cpuid.CPU.Supports(id)
				features = append(features, Feature{Name: id.String(), Has: has && *g.enabled[i], Off: has && !*g.enabled[i]})
			}
		}
	}
	return features
}
