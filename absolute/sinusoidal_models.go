package absolute

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
)

// Vaswani returns the encoding of Vaswani et al. 2017 (arXiv:1706.03762): for k < dim/2
//
//	row[2k], row[2k+1] = sin, cos of p*10000^(-2k/dim)
//
// dim is even, from 2 to 65536.
func Vaswani(dim int) (*Sinusoidal, error) {
	return ofBase10000(model("Vaswani", dim, 2, 2), dim, dim/2, float64(dim/2), SinusoidalConfig{Order: SinCosInterleaved})
}

// Marian returns the encoding of Marian, Pegasus and RoFormer in Hugging Face
// transformers, and of Transformer-XL and XLNet. It has the frequencies of [Vaswani], with
// all sines before the cosines: with n = dim/2 rounded up and k < n
//
//	row[k], row[n+k] = sin, cos of p*10000^(-2k/dim)
//
// dim is from 2 to 65536. An odd dim leaves out the cosine of the last frequency. Package
// relative has the positions of Transformer-XL and XLNet.
func Marian(dim int) (*Sinusoidal, error) {
	return ofBase10000(model("Marian", dim, 2, 1), dim, (dim+1)/2, float64(dim)/2, SinusoidalConfig{Order: SinThenCos})
}

// Tensor2TensorConfig has the parameters of timing signals. The zero value is tensor2tensor's defaults.
type Tensor2TensorConfig struct {
	Axes         int     // from 1 to dim/2; 0 means 1
	MinTimescale float64 // multiplies frequencies, from 2^-900 to below 2^50; 0 means 1
	MaxTimescale float64 // positive and finite; 0 means 10000
}

// Tensor2Tensor returns the timing signal of tensor2tensor: get_timing_signal_1d for one
// axis, get_timing_signal_nd for several. With n = dim/(2*Axes) rounded down, axis a, k < n,
// and min and max the two timescales
//
//	row[2na+k], row[2na+n+k] = sin, cos of p*min*(max/min)^(-k/max(n-1, 1))
//
// The other elements are zero. As in tensor2tensor, MinTimescale multiplies frequencies. Add its
// start_index to the positions. dim is from 2 to 65536, and every frequency must be from 2^-900
// to below 2^50.
func Tensor2Tensor(dim int, cfg Tensor2TensorConfig) (*Sinusoidal, error) {
	c := model("Tensor2Tensor", dim, 2, 1)
	c.Require(cfg.Axes >= 0 && cfg.Axes <= dim/2, "cfg.Axes", cfg.Axes, "from 0 to dim/2 = %d", dim/2)
	name, value := "cfg.MaxTimescale", cfg.MaxTimescale // what frequencies out of range come from
	if cfg.MaxTimescale == 0 {
		name, value = "cfg.MinTimescale", cfg.MinTimescale
	}
	axes, least, most := max(cfg.Axes, 1), cmp.Or(cfg.MinTimescale, 1), cmp.Or(cfg.MaxTimescale, defaultBase)
	requireFrequency(c, "cfg.MinTimescale", least)
	c.Require(most > 0 && most <= math.MaxFloat64, "cfg.MaxTimescale", most, "0 or a positive finite number")
	invFreq, err := frequency.TimingSignal(dim/(2*axes), frequency.TimingSignalParameters{MinTimescale: least, MaxTimescale: most})
	return ofModel(c, name, value, SinusoidalConfig{Dim: dim, Order: SinThenCos, Axes: axes}, invFreq, err)
}

// Fairseq returns the encoding of fairseq, and of FSMT, M2M-100 and SpeechT5 in
// transformers: with n = dim/2 rounded down and k < n
//
//	row[k], row[n+k] = sin, cos of p*10000^(-k/(n-1))
//
// The last element of an odd dim is zero, and so is the whole row of position padding.
// [PaddedPositions] writes the positions, which start at padding+1. dim is from 4 to 65536.
func Fairseq(dim int, padding int32) (*Sinusoidal, error) {
	return ofBase10000(model("Fairseq", dim, 4, 1), dim, dim/2, float64(dim/2-1), SinusoidalConfig{Order: SinThenCos, Padding: &padding})
}

// Whisper returns the encoding of Whisper's encoder: for k < dim/2
//
//	row[k], row[dim/2+k] = sin, cos of p*10000^(-k/(dim/2-1))
//
// dim is even, from 4 to 65536.
func Whisper(dim int) (*Sinusoidal, error) {
	return ofBase10000(model("Whisper", dim, 4, 2), dim, dim/2, float64(dim/2-1), SinusoidalConfig{Order: SinThenCos})
}

// MusicGen returns the encoding of MusicGen's decoder: the one of [Whisper] with the cosines
// first. The last element of an odd dim is zero. dim is from 4 to 65536.
func MusicGen(dim int) (*Sinusoidal, error) {
	return ofBase10000(model("MusicGen", dim, 4, 1), dim, dim/2, float64(dim/2-1), SinusoidalConfig{Order: CosThenSin})
}

// TimestepsConfig has the parameters of get_timestep_embedding of diffusers. The zero value is its
// defaults, but DownscaleFreqShift is 1 in diffusers.
type TimestepsConfig struct {
	FlipSinToCos       bool    // cosines first
	DownscaleFreqShift float64 // from -math.MaxFloat32 to below dim/2
	AngleScale         float64 // multiplies angles, from 2^-900 to below 2^50; 0 means 1
	MaxPeriod          float64 // finite and above 1; 0 means 10000
}

// Timesteps returns the embedding of the timesteps of diffusion models, as in
// diffusers: with n = dim/2 rounded down and k < n
//
//	row[k], row[n+k] = sin, cos of t*AngleScale*MaxPeriod^(-k/(n-DownscaleFreqShift))
//
// With FlipSinToCos the cosines come first. The last element of an odd dim is zero. Timesteps t
// are int32 or float32. OpenAI's guided-diffusion has DownscaleFreqShift 0 and FlipSinToCos. dim
// is from 2 to 65536, and every frequency must be from 2^-900 to below 2^50.
func Timesteps(dim int, cfg TimestepsConfig) (*Sinusoidal, error) {
	c, n := model("Timesteps", dim, 2, 1), dim/2
	c.Require(cfg.DownscaleFreqShift < float64(n) && cfg.DownscaleFreqShift >= -math.MaxFloat32, "cfg.DownscaleFreqShift", cfg.DownscaleFreqShift, "a number from -math.MaxFloat32 to below dim/2 = %d", n)
	scale, period := cmp.Or(cfg.AngleScale, 1), cmp.Or(cfg.MaxPeriod, defaultBase)
	name, value := "cfg.MaxPeriod", period // what frequencies out of range come from
	if cfg.AngleScale != 0 && cfg.MaxPeriod == 0 {
		name, value = "cfg.AngleScale", scale
	}
	requireFrequency(c, "cfg.AngleScale", scale)
	c.Require(period > 1 && period <= math.MaxFloat64, "cfg.MaxPeriod", period, "0 or a finite number above 1")
	invFreq, err := frequency.Sinusoidal(n, frequency.SinusoidalParameters{First: scale, Base: period, Denominator: float64(n) - cfg.DownscaleFreqShift})
	return ofModel(c, name, value, SinusoidalConfig{Dim: dim, Order: halves(cfg.FlipSinToCos)}, invFreq, err)
}

// MAE returns the encoding of the patches of an image in MAE
// (get_2d_sincos_pos_embed): with n = dim/4 and k < n
//
//	row[k], row[n+k] = sin, cos of column*10000^(-k/n)
//	row[2n+k], row[3n+k] = sin, cos of row*10000^(-k/n)
//
// Axis 0 of the positions is the column of a patch and axis 1 its row, although MAE's source
// names them the other way round. A class token has position -1 on axis 0, which gives a row of
// zeros. dim is a multiple of 4, from 4 to 65536. [SinusoidalRows64] makes the tables as MAE
// makes them.
func MAE(dim int) (*Sinusoidal, error) {
	class := int32(-1)
	return ofBase10000(model("MAE", dim, 4, 4), dim, dim/4, float64(dim/4), SinusoidalConfig{Order: SinThenCos, Axes: 2, Padding: &class})
}

// DETR returns the sine encoding of the pixels of an image in DETR
// (PositionEmbeddingSine): with d = features for each axis and k < d/2
//
//	row[2k], row[2k+1] = sin, cos of y*temperature^(-2k/d)
//	row[d+2k], row[d+2k+1] = sin, cos of x*temperature^(-2k/d)
//
// Axis 0 is y and axis 1 is x, as [DETRPositions] writes them. A row has 2*features elements.
// features is even, from 2 to 32768; DETR has 128. temperature is finite and above 1; DETR has
// 10000. Every frequency must be at least 2^-900.
func DETR(features int, temperature float64) (*Sinusoidal, error) {
	c := &argument.Checker{Function: "absolute.DETR"}
	c.Require(features >= 2 && features%2 == 0 && features <= frequency.MaxRotaryDim/2, "features", features, "an even number from 2 to %d", frequency.MaxRotaryDim/2)
	c.Require(temperature > 1 && temperature <= math.MaxFloat64, "temperature", temperature, "a finite number above 1")
	invFreq, err := frequency.Sinusoidal(features/2, frequency.SinusoidalParameters{First: 1, Base: temperature, Denominator: float64(features / 2)})
	return ofModel(c, "temperature", temperature, SinusoidalConfig{Dim: 2 * features, Order: SinCosInterleaved, Axes: 2}, invFreq, err)
}

// MLXConfig has the parameters of MLX. The zero value is its defaults.
type MLXConfig struct {
	MinFreq   float64 // from 2^-900 to below 2^50; 0 means 0.0001
	MaxFreq   float64 // from 2^-900 to below 2^50; 0 means 1
	Amplitude float64 // multiplies sines and cosines: a positive float32; 0 means sqrt(2/dim)
	CosFirst  bool    // cosines before sines
}

// MLX returns the encoding of mlx.nn.SinusoidalPositionalEncoding: with n = dim/2 and k < n
//
//	row[k], row[n+k] = Amplitude * sin, cos of p*MaxFreq*(MinFreq/MaxFreq)^(k/(n-1))
//
// With CosFirst the cosines come first. For full_turns, multiply both frequencies by 2π. dim is
// even, from 2 to 65536; with dim 2 the only frequency is MaxFreq.
func MLX(dim int, cfg MLXConfig) (*Sinusoidal, error) {
	c := model("MLX", dim, 2, 2)
	least, most, scale := cmp.Or(cfg.MinFreq, 0.0001), cmp.Or(cfg.MaxFreq, 1), cmp.Or(cfg.Amplitude, math.Sqrt(2/float64(dim)))
	requireFrequency(c, "cfg.MinFreq", least)
	requireFrequency(c, "cfg.MaxFreq", most)
	c.Require(float32(scale) > 0 && float32(scale) <= math.MaxFloat32, "cfg.Amplitude", scale, "0 or a positive float32")
	invFreq, err := frequency.Geometric(dim/2, frequency.GeometricParameters{First: most, Last: least})
	return ofModel(c, "cfg.MinFreq", least, SinusoidalConfig{Dim: dim, Order: halves(cfg.CosFirst), Amplitude: scale}, invFreq, err)
}

// defaultBase is the base of the frequencies where a model does not say otherwise.
const defaultBase = 10000

// model begins to check the arguments of the function of a model, whose dim is at least least and
// a multiple of unit.
func model(name string, dim, least, unit int) *argument.Checker {
	c := &argument.Checker{Function: "absolute." + name}
	expected := "from %d to %d"
	if unit > 1 {
		expected = fmt.Sprintf("a multiple of %d %s", unit, expected)
	}
	c.Require(dim >= least && dim <= frequency.MaxRotaryDim && dim%unit == 0, "dim", dim, expected, least, frequency.MaxRotaryDim)
	return c
}

// requireFrequency checks an argument that is a frequency.
func requireFrequency(c *argument.Checker, name string, value float64) {
	c.Require(value >= leastFrequency && value < cossin.MaxAngle, name, value, "0 or a frequency from 2^-900 to below 2^50")
}

func halves(cosFirst bool) SinusoidalOrder {
	if cosFirst {
		return CosThenSin
	}
	return SinThenCos
}

// ofBase10000 makes the encoding of a model with the frequencies 10000^(-k/steps), k < n.
func ofBase10000(c *argument.Checker, dim, n int, steps float64, cfg SinusoidalConfig) (*Sinusoidal, error) {
	cfg.Dim = dim
	invFreq, err := frequency.Sinusoidal(n, frequency.SinusoidalParameters{First: 1, Base: defaultBase, Denominator: steps})
	return ofModel(c, "dim", dim, cfg, invFreq, err)
}

// ofModel makes the encoding of a model whose arguments were checked one by one. The named
// argument may still push frequencies out of range.
func ofModel(c *argument.Checker, name string, value any, cfg SinusoidalConfig, invFreq []float64, err error) (*Sinusoidal, error) {
	c.Require(err == nil && slices.Max(invFreq) < cossin.MaxAngle, name, value, "frequencies from 2^-900 to below 2^50")
	if c.Err != nil {
		return nil, c.Err
	}
	cfg.InvFreq = invFreq
	return newSinusoidal(c.Function, cfg)
}
