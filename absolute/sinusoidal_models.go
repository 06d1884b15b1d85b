package absolute

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
)

// defaultPeriod is what frequencies are powers of.
const defaultPeriod = 10000

// leastFrequency is the least that a frequency other than 0 may be.
const leastFrequency = 0x1p-900

// sinusoidalOf makes the encoding of a model whose arguments were checked one by
// one. The named one may still take frequencies beyond their range.
func sinusoidalOf(function, name string, value any, cfg SinusoidalConfig, invFreq []float64, err error) (*Sinusoidal, error) {
	if err != nil || slices.Max(invFreq) >= cossin.MaxAngle {
		return nil, argument.Error(posenc.ErrConfig, function, name, value, "frequencies from 2^-900 to below 2^50")
	}
	cfg.InvFreq = invFreq
	return newSinusoidal(function, cfg)
}

// checkFrequency checks an argument that is a frequency.
func checkFrequency(function, name string, value float64) error {
	if !(value >= leastFrequency && value < cossin.MaxAngle) {
		return argument.Error(posenc.ErrConfig, function, name, value, "a frequency from 2^-900 to below 2^50")
	}
	return nil
}

// checkChannels checks the channels of an encoding, at least least and a multiple
// of unit.
func checkChannels(function string, dim, least, unit int) error {
	if dim < least || dim > frequency.MaxRotaryDim || dim%unit != 0 {
		expected := fmt.Sprintf("from %d to %d", least, frequency.MaxRotaryDim)
		if unit > 1 {
			expected = fmt.Sprintf("a multiple of %d %s", unit, expected)
		}
		return argument.Error(posenc.ErrConfig, function, "dim", dim, "%s", expected)
	}
	return nil
}

// SinusoidalVaswani returns the encoding of Vaswani et al. 2017
// (arXiv:1706.03762): for k < dim/2
//
//	row[2k], row[2k+1] = sin, cos of p*10000^(-2k/dim)
//
// dim is even. Errors wrap ErrConfig.
func SinusoidalVaswani(dim int) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalVaswani"
	if err := checkChannels(function, dim, 2, 2); err != nil {
		return nil, err
	}
	invFreq, err := frequency.Sinusoidal(dim/2, 1, defaultPeriod, float64(dim/2))
	return sinusoidalOf(function, "dim", dim, SinusoidalConfig{Dim: dim, Order: SinCosInterleaved}, invFreq, err)
}

// SinusoidalMarian returns the encoding of Marian, Pegasus and RoFormer
// in Hugging Face transformers, and of Transformer-XL and XLNet: the
// frequencies of SinusoidalVaswani with sines first, with n = dim/2 rounded up and
// k < n
//
//	row[k], row[n+k] = sin, cos of p*10000^(-2k/dim)
//
// An odd dim has no cosine of the last frequency. Transformer-XL takes its
// positions from DescendingPositions, XLNet from XLNetPositions. Errors wrap
// ErrConfig.
func SinusoidalMarian(dim int) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalMarian"
	if err := checkChannels(function, dim, 2, 1); err != nil {
		return nil, err
	}
	invFreq, err := frequency.Sinusoidal((dim+1)/2, 1, defaultPeriod, float64(dim)/2)
	return sinusoidalOf(function, "dim", dim, SinusoidalConfig{Dim: dim, Order: SinThenCos}, invFreq, err)
}

// SinusoidalTensor2Tensor returns the timing signal of tensor2tensor: that of
// get_timing_signal_1d with one axis, of get_timing_signal_nd with several. With
// n = dim/(2*axes) rounded down, axis a and k < n
//
//	row[2na+k], row[2na+n+k] = sin, cos of p*min*(max/min)^(-k/max(n-1, 1))
//
// The other channels are zero. It is minTimescale that multiplies, as there.
// start_index is added to positions. minTimescale is from 2^-900 to below 2^50,
// maxTimescale positive and finite, and no frequency outside the range of
// minTimescale. Errors wrap ErrConfig.
func SinusoidalTensor2Tensor(dim, axes int, minTimescale, maxTimescale float64) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalTensor2Tensor"
	if err := checkChannels(function, dim, 2, 1); err != nil {
		return nil, err
	}
	if axes < 1 || axes > dim/2 {
		return nil, argument.Error(posenc.ErrConfig, function, "axes", axes, "from 1 to dim/2 = %d", dim/2)
	}
	if err := checkFrequency(function, "minTimescale", minTimescale); err != nil {
		return nil, err
	}
	if !(maxTimescale > 0 && maxTimescale <= math.MaxFloat64) {
		return nil, argument.Error(posenc.ErrConfig, function, "maxTimescale", maxTimescale, "a positive finite number")
	}
	invFreq, err := frequency.TimingSignal(dim/(2*axes), minTimescale, maxTimescale)
	return sinusoidalOf(function, "maxTimescale", maxTimescale, SinusoidalConfig{Dim: dim, Order: SinThenCos, Axes: axes}, invFreq, err)
}

// SinusoidalFairseq returns the encoding of fairseq, and of FSMT, M2M-100 and
// SpeechT5 in transformers: with n = dim/2 rounded down and k < n
//
//	row[k], row[n+k] = sin, cos of p*10000^(-k/(n-1))
//
// The last channel of an odd dim is zero, and so is the row of position padding.
// PaddedPositions gives its positions, which start at padding+1. dim is at least
// 4. Errors wrap ErrConfig.
func SinusoidalFairseq(dim int, padding int32) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalFairseq"
	if err := checkChannels(function, dim, 4, 1); err != nil {
		return nil, err
	}
	invFreq, err := frequency.Sinusoidal(dim/2, 1, defaultPeriod, float64(dim/2-1))
	return sinusoidalOf(function, "dim", dim, SinusoidalConfig{Dim: dim, Order: SinThenCos, Padding: &padding}, invFreq, err)
}

// SinusoidalWhisper returns the encoding of Whisper's encoder: for k < dim/2
//
//	row[k], row[dim/2+k] = sin, cos of p*10000^(-k/(dim/2-1))
//
// dim is even and at least 4. Errors wrap ErrConfig.
func SinusoidalWhisper(dim int) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalWhisper"
	if err := checkChannels(function, dim, 4, 2); err != nil {
		return nil, err
	}
	invFreq, err := frequency.Sinusoidal(dim/2, 1, defaultPeriod, float64(dim/2-1))
	return sinusoidalOf(function, "dim", dim, SinusoidalConfig{Dim: dim, Order: SinThenCos}, invFreq, err)
}

// SinusoidalMusicGen returns the encoding of MusicGen's decoder, that of
// SinusoidalWhisper with cosines first; the last channel of an odd dim is zero.
// dim is at least 4. Errors wrap ErrConfig.
func SinusoidalMusicGen(dim int) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalMusicGen"
	if err := checkChannels(function, dim, 4, 1); err != nil {
		return nil, err
	}
	invFreq, err := frequency.Sinusoidal(dim/2, 1, defaultPeriod, float64(dim/2-1))
	return sinusoidalOf(function, "dim", dim, SinusoidalConfig{Dim: dim, Order: CosThenSin}, invFreq, err)
}

// Timesteps has the parameters of get_timestep_embedding of diffusers, whose
// zero values are not its defaults: DownscaleFreqShift is 1 there.
type Timesteps struct {
	FlipSinToCos       bool    // cosines first
	DownscaleFreqShift float64 // from -math.MaxFloat32 to below dim/2
	Scale              float64 // multiplies angles, from 2^-900 to below 2^50; 0 means 1
	MaxPeriod          float64 // finite and above 1; 0 means 10000
}

// SinusoidalTimesteps returns the timestep embedding of diffusion models, as in
// diffusers: with n = dim/2 rounded down and k < n
//
//	row[k], row[n+k] = sin, cos of t*Scale*MaxPeriod^(-k/(n-DownscaleFreqShift))
//
// or the cosines first. The last channel of an odd dim is zero. Timesteps t are
// int32 or float32. OpenAI's guided-diffusion is the zero shift with
// FlipSinToCos. No frequency is below 2^-900. Errors wrap ErrConfig.
func SinusoidalTimesteps(dim int, p Timesteps) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalTimesteps"
	if err := checkChannels(function, dim, 2, 1); err != nil {
		return nil, err
	}
	n := dim / 2
	if !(p.DownscaleFreqShift < float64(n) && p.DownscaleFreqShift >= -math.MaxFloat32) {
		return nil, argument.Error(posenc.ErrConfig, function, "p.DownscaleFreqShift", p.DownscaleFreqShift, "a number from -math.MaxFloat32 to below dim/2 = %d", n)
	}
	scaled := p.Scale != 0 && p.MaxPeriod == 0 // by Scale alone frequencies get too small
	if p.Scale == 0 {
		p.Scale = 1
	}
	if p.MaxPeriod == 0 {
		p.MaxPeriod = defaultPeriod
	}
	if err := checkFrequency(function, "p.Scale", p.Scale); err != nil {
		return nil, err
	}
	if !(p.MaxPeriod > 1 && p.MaxPeriod <= math.MaxFloat64) {
		return nil, argument.Error(posenc.ErrConfig, function, "p.MaxPeriod", p.MaxPeriod, "0 or a finite number above 1")
	}
	order := SinThenCos
	if p.FlipSinToCos {
		order = CosThenSin
	}
	invFreq, err := frequency.Sinusoidal(n, p.Scale, p.MaxPeriod, float64(n)-p.DownscaleFreqShift)
	name, value := "p.MaxPeriod", p.MaxPeriod
	if scaled {
		name, value = "p.Scale", p.Scale
	}
	return sinusoidalOf(function, name, value, SinusoidalConfig{Dim: dim, Order: order}, invFreq, err)
}

// SinusoidalMAE returns the encoding of the patches of an image in MAE
// (get_2d_sincos_pos_embed): with n = dim/4 and k < n
//
//	row[k], row[n+k] = sin, cos of column*10000^(-k/n)
//	row[2n+k], row[3n+k] = sin, cos of row*10000^(-k/n)
//
// Axis 0 of the positions is the column of a patch, axis 1 its row, although the
// names in MAE's source say it the other way round. The row of a class token is
// zero: its position on axis 0 is -1. dim is a multiple of 4. MAE's tables are
// those of SinusoidalRows64. Errors wrap ErrConfig.
func SinusoidalMAE(dim int) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalMAE"
	if err := checkChannels(function, dim, 4, 4); err != nil {
		return nil, err
	}
	class := int32(-1)
	invFreq, err := frequency.Sinusoidal(dim/4, 1, defaultPeriod, float64(dim/4))
	return sinusoidalOf(function, "dim", dim, SinusoidalConfig{Dim: dim, Order: SinThenCos, Axes: 2, Padding: &class}, invFreq, err)
}

// SinusoidalDETR returns the sine encoding of the pixels of an image in DETR
// (PositionEmbeddingSine): with d features for an axis and k < d/2
//
//	row[2k], row[2k+1] = sin, cos of y*temperature^(-2k/d)
//	row[d+2k], row[d+2k+1] = sin, cos of x*temperature^(-2k/d)
//
// Axis 0 is y, axis 1 is x, as DETRPositions writes them. features is even and up
// to 32768, 128 in DETR; temperature is finite and above 1, 10000 in DETR. No
// frequency is below 2^-900. Errors wrap ErrConfig.
func SinusoidalDETR(features int, temperature float64) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalDETR"
	if features < 2 || features%2 != 0 || features > frequency.MaxRotaryDim/2 {
		return nil, argument.Error(posenc.ErrConfig, function, "features", features, "an even number from 2 to %d", frequency.MaxRotaryDim/2)
	}
	if !(temperature > 1 && temperature <= math.MaxFloat64) {
		return nil, argument.Error(posenc.ErrConfig, function, "temperature", temperature, "a finite number above 1")
	}
	invFreq, err := frequency.Sinusoidal(features/2, 1, temperature, float64(features/2))
	return sinusoidalOf(function, "temperature", temperature, SinusoidalConfig{Dim: 2 * features, Order: SinCosInterleaved, Axes: 2}, invFreq, err)
}

// SinusoidalMLX returns the encoding of mlx.nn.SinusoidalPositionalEncoding: with
// n = dim/2 and k < n
//
//	row[k], row[n+k] = scale * sin, cos of p*maxFreq*(minFreq/maxFreq)^(k/(n-1))
//
// or the cosines first. Its defaults are minFreq 0.0001, maxFreq 1 and scale 0,
// which means sqrt(2/dim); full_turns multiplies both frequencies by 2π. dim is
// even; the one frequency of 2 is maxFreq. Frequencies are from 2^-900 to below
// 2^50, and scale is a positive float32. Errors wrap ErrConfig.
func SinusoidalMLX(dim int, minFreq, maxFreq, scale float64, cosFirst bool) (*Sinusoidal, error) {
	const function = "absolute.SinusoidalMLX"
	if err := checkChannels(function, dim, 2, 2); err != nil {
		return nil, err
	}
	if err := checkFrequency(function, "maxFreq", maxFreq); err != nil {
		return nil, err
	}
	if !(minFreq > 0 && minFreq <= math.MaxFloat64) {
		return nil, argument.Error(posenc.ErrConfig, function, "minFreq", minFreq, "a positive finite number")
	}
	if scale == 0 {
		scale = math.Sqrt(2 / float64(dim))
	}
	if !(float32(scale) > 0 && float32(scale) <= math.MaxFloat32) {
		return nil, argument.Error(posenc.ErrConfig, function, "scale", scale, "0 or a positive float32")
	}
	order := SinThenCos
	if cosFirst {
		order = CosThenSin
	}
	invFreq, err := frequency.Geometric(dim/2, maxFreq, minFreq)
	return sinusoidalOf(function, "minFreq", minFreq, SinusoidalConfig{Dim: dim, Order: order, Scaling: scale}, invFreq, err)
}
