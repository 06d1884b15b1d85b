package frequency_test

import (
	"testing"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestCases(t *testing.T) { testkit.TestCases(t) }

var _ = func() struct{} {
	const dim, base = 32, 10000
	ladders("Default", labelled{"": {Dim: 128, Base: 500000}})
	ladders("Linear", labelled{"": {Dim: dim, Base: base, Factor: 2.5}})
	ladders("DynamicNTK", labelled{"": {Dim: dim, Base: base, Factor: 2, MaxPositions: 4096, SeqLen: 10001}})
	ladders("NTK", labelled{"": {Dim: dim, Base: base, Factor: 3}})
	ladders("NTKAlpha", labelled{"": {Dim: dim, Base: base, Alpha: 1000}})
	ladders("NTKMixed", labelled{"": {Dim: dim, Base: base, Factor: 8, MixedB: 0.625}})
	ladders("Proportional", labelled{"": {Dim: dim, Base: 1e6, Partial: 0.25, Factor: 8}})
	ladders("YaRN", labelled{
		"":             {Dim: 64, Base: base, Factor: 40, Original: 4096, MScale: 0.707, MScaleAllDim: 1, ScaleSoftmax: true},
		"/untruncated": {Dim: 64, Base: 150000, Factor: 32, Original: 4096, Untruncated: true},
		"/logarithmic": {Dim: 64, Base: 10000, Factor: 4, Original: 4096, Extrapolation: 0.5, Logarithmic: true},
	})
	ladders("Llama3", labelled{"": {Dim: 128, Base: 500000, Factor: 8, Low: 1, High: 4, Original: 8192}})
	long := ladderParameters{Dim: 8, Base: base, Short: []float64{1, 1.05, 1.1, 1.5}, Long: []float64{1.1, 3, 20, 64.5}, Original: 4096, Factor: 32, SeqLen: 4096}
	longer := long
	longer.SeqLen++
	ladders("LongRoPE", labelled{"/seqLen=4096": long, "/seqLen=4097": longer})
	ladders("Factors", labelled{"": {Dim: 8, Base: 500000, Factors: []float64{1, 1.5, 7.3, 8}}})
	ladder("Axial", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.Axial(base, r, 16, 24, 24) })
	ladder("AxialAlternating", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.AxialAlternating(64, base, r) })
	ladder("AxialInterleaved", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.AxialInterleaved(64, base, r) })
	ladder("AxialTiled", func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.AxialTiled(base, r, 20, 20, 24) })
	ladder("ESMFold2", func(r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.ESMFold2(64, frequency.ESMFold2Parameters{SpatialPairs: 3, UIDPairs: 10, SpatialBase: 20, UIDBase: base}, r)
	})

	results("Geometric", testkit.Must(frequency.Geometric(20, frequency.GeometricParameters{First: 1, Last: 0.0001})))
	results("Sinusoidal", testkit.Must(frequency.Sinusoidal(20, frequency.SinusoidalParameters{First: 1000, Base: 10000, Denominator: 18.5})))
	results("TimingSignal", testkit.Must(frequency.TimingSignal(20, frequency.TimingSignalParameters{MinTimescale: 1, MaxTimescale: 10000})))
	results("Sections", testkit.Must(frequency.Sections(8, 12, 12)))
	results("InterleavedSections", testkit.Must(frequency.InterleavedSections(frequency.ImageSections{Time: 12, Height: 10, Width: 10})))
	results("AlternatingSections", testkit.Must(frequency.AlternatingSections(frequency.ImageSections{Time: 10, Height: 11, Width: 11})))
	high, low, err := frequency.XPos(64, 512)
	results("XPos", high, testkit.Must(low, err))
	return struct{}{}
}()

// labelled are parameters of a ladder, by what its label has behind the name of its function.
type labelled = map[string]ladderParameters

// ladders registers the digests of ladders of one axis.
func ladders(function string, list labelled) {
	testkit.Register(testkit.Case{Function: function, Digests: func(add testkit.AddDigest) {
		for label, parameters := range list {
			addLadder(add, function+label, func(r frequency.Rounding) (frequency.Ladder, error) { return constructors[function](parameters, r) })
		}
	}})
}

// ladder registers the digests of a ladder.
func ladder(function string, make func(frequency.Rounding) (frequency.Ladder, error)) {
	testkit.Register(testkit.Case{Function: function, Digests: func(add testkit.AddDigest) { addLadder(add, function, make) }})
}

// addLadder adds the digests of a ladder with each rounding.
func addLadder(add testkit.AddDigest, label string, make func(frequency.Rounding) (frequency.Ladder, error)) {
	for rounding, name := range []string{frequency.Exact: "Exact", frequency.Float32: "Float32"} {
		add("frequency."+label+"/rounding="+name, func(d *testkit.Digest) {
			ladder, err := make(frequency.Rounding(rounding))
			d.Must(err)
			d.Add(ladder.InvFreq, []float64{ladder.AttentionFactor, ladder.SoftmaxScale})
		})
	}
}

// results registers the digest of slices.
func results(function string, lists ...any) {
	testkit.Register(testkit.Case{Function: function, Digests: func(add testkit.AddDigest) {
		add("frequency."+function, func(d *testkit.Digest) { d.Add(lists...) })
	}})
}
