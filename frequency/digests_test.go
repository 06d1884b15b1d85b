package frequency_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestCases(t *testing.T) { testkit.TestCases(t) }

var _ = func() struct{} {
	const dim, base = 32, 10000
	ladder("Default", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.Default(128, 500000, r) })
	ladder("Linear", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.Linear(dim, base, 2.5, r) })
	ladder("DynamicNTK", func(r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.DynamicNTK(dim, base, frequency.DynamicNTKParameters{Factor: 2, MaxPositions: 4096}, 10001, r)
	})
	ladder("NTK", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.NTK(dim, base, 3, r) })
	ladder("NTKAlpha", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.NTKAlpha(dim, base, 1000, r) })
	ladder("NTKMixed", func(r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.NTKMixed(dim, base, frequency.NTKMixedParameters{Factor: 8, MixedB: 0.625}, r)
	})
	ladder("Proportional", func(r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.Proportional(dim, 1e6, frequency.ProportionalParameters{PartialRotaryFactor: 0.25, Factor: 8}, r)
	})
	ladder("YaRN", func(r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.YaRN(64, base, frequency.YaRNParameters{Factor: 40, OriginalMaxPositions: 4096, MScale: 0.707, MScaleAllDim: 1, ScaleSoftmax: true}, r)
	}, labelled{"/untruncated", func(r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.YaRN(64, 150000, frequency.YaRNParameters{Factor: 32, OriginalMaxPositions: 4096, Untruncated: true}, r)
	}})
	ladder("Llama3", func(r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.Llama3(128, 500000, frequency.Llama3Parameters{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositions: 8192}, r)
	})
	long := func(seqLen int) labelled {
		return labelled{fmt.Sprintf("/seqLen=%d", seqLen), func(r frequency.Rounding) (frequency.Ladder, error) {
			return frequency.LongRoPE(8, base, frequency.LongRoPEParameters{
				ShortFactors: []float64{1, 1.05, 1.1, 1.5}, LongFactors: []float64{1.1, 3, 20, 64.5}, OriginalMaxPositions: 4096, Factor: 32,
			}, seqLen, r)
		}}
	}
	ladder("LongRoPE", nil, long(4096), long(4097))
	ladder("Factors", func(r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.Factors(8, 500000, []float64{1, 1.5, 7.3, 8}, r)
	})
	ladder("Axial", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.Axial(base, r, 16, 24, 24) })
	ladder("AxialAlternating", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.AxialAlternating(64, base, r) })

	results("Geometric", func() (any, error) { return frequency.Geometric(20, 1, 0.0001) })
	results("Sinusoidal", func() (any, error) { return frequency.Sinusoidal(20, 1000, 10000, 18.5) })
	results("TimingSignal", func() (any, error) { return frequency.TimingSignal(20, 1, 10000) })
	results("Sections", func() (any, error) { return frequency.Sections(8, 12, 12) })
	results("InterleavedSections", func() (any, error) {
		return frequency.InterleavedSections(frequency.ImageSections{Time: 12, Height: 10, Width: 10})
	})
	results("AlternatingSections", func() (any, error) {
		return frequency.AlternatingSections(frequency.ImageSections{Time: 10, Height: 11, Width: 11})
	})
	testkit.Register(testkit.Case{Function: "XPos", Digests: func(add testkit.AddDigest) {
		add("frequency.XPos", func(d *testkit.Digest) {
			high, low, err := frequency.XPos(64, 512)
			d.Must(err)
			d.Add(high, low)
		})
	}})
	return struct{}{}
}()

// labelled is a ladder, and what its label has behind the name of its function.
type labelled struct {
	label string
	make  func(frequency.Rounding) (frequency.Ladder, error)
}

// ladder registers the digests of ladders, with each rounding.
func ladder(function string, make func(frequency.Rounding) (frequency.Ladder, error), more ...labelled) {
	if make != nil {
		more = append(more, labelled{"", make})
	}
	testkit.Register(testkit.Case{Function: function, Digests: func(add testkit.AddDigest) {
		for _, l := range more {
			for rounding, name := range []string{frequency.Exact: "Exact", frequency.Float32: "Float32"} {
				add("frequency."+function+l.label+"/rounding="+name, func(d *testkit.Digest) {
					ladder, err := l.make(frequency.Rounding(rounding))
					d.Must(err)
					d.Add(ladder.InvFreq, []float64{ladder.AttentionFactor, ladder.SoftmaxScale})
				})
			}
		}
	}})
}

// results registers the digest of a slice.
func results(function string, make func() (any, error)) {
	testkit.Register(testkit.Case{Function: function, Digests: func(add testkit.AddDigest) {
		add("frequency."+function, func(d *testkit.Digest) {
			list, err := make()
			d.Must(err)
			d.Add(list)
		})
	}})
}
