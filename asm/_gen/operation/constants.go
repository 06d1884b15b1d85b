package operation

import (
	"fmt"
	"strconv"
)

// The constants of generic's cosSin: see there for where they come from.
const (
	Margin        = 0x1p-49
	ToInteger     = 0x1.8p52
	TwoOverPiHigh = 0x1.45f306dc9c882p-1
	TwoOverPiLow  = 0x1.4a7f09d5f47d5p-54
)

// SmallEntry is the exponent of the entries of a table below which their error bound
// in units of the last place is taken for too large. Of all entries 1 in 2^12 is
// smaller, and for 1 in 2^13 of the others the bound is too large.
const SmallEntry = -12

// Of float32 angles that are made from exact ones: the end of angles that two terms of Taylor's
// series suffice for, and three; the error bound, as Margin is; and the exponent as
// SmallEntry is. Of entries 1 in 2^8 is tested the long way.
const (
	RoundedReach  = 0x1p12
	RoundedReach3 = 0x1p15
	RoundedMargin = 0x1p-41
	RoundedEntry  = -8
)

// Sizes of what kernels read.
const (
	ClampedEnds = 16 // equal elements at each end of what AddClampedF32 adds: as many as the longest vector has
	Width       = 64 // frequencies of a block
	ShiftRows   = 32 // positions that share a seed
)

// Sine and Cosine are its polynomials, from the constant on.
var (
	Sine = []float64{
		0x1.921fb54442d18p+0, -0x1.4abbce625be09p-1, 0x1.466bc67754fffp-4, -0x1.32d2ccdfe9424p-8,
		0x1.50782d5f14823p-13, -0x1.e2fe76fdff885p-19, 0x1.e357ef99c063fp-25,
	}
	Cosine = []float64{
		1, -0x1.3bd3cc9be459dp+0, 0x1.03c1f081b0e01p-2, -0x1.55d3c7dc3b7f3p-6,
		0x1.e1f4fb8227886p-11, -0x1.a6c9c96ed0743p-16, 0x1.f3dca8530df2bp-22,
	}
)

// Constants are those that packages of Go share with the kernels.
var Constants = []Group{
	{"generic", `Margin bounds the absolute error of the float64 cosines and sines of angles
from 1 to MarginAngle, here and in the kernels. Below 1 the error of a sine is
bounded by Margin times the largest angle that went into it.`, []Constant{{"Margin", hexadecimal(Margin)}}},
	{"generic", `2/pi with the first part truncated: both parts are positive, so that the
product with -0 stays -0.`, []Constant{{"twoOverPiHigh", hexadecimal(TwoOverPiHigh)}, {"twoOverPiLow", hexadecimal(TwoOverPiLow)}}},
	{"generic", "toInteger, added to a number, rounds it to an integer in the low bits.", []Constant{{"toInteger", hexadecimal(ToInteger)}}},
	{"generic", `Polynomials for the cosine and sine of (pi/2)*f: relative minimax fits with
float64 coefficients for |f| <= 1/2 + 2^-30, relative errors 2^-53.9 and
2^-54.5 before rounding. Angles below MarginAngle reach 1/2 + 2^-13, where
they are hardly larger; the float32 angles beyond were all tried. The constant of
the cosine is 1.`, append(coefficients("cos", Cosine)[1:], coefficients("sin", Sine)...)},
	{"kernels", "ClampedEnds is the number of equal elements that AddClampedF32 finds at the start\nof x, and at its end.",
		[]Constant{{"ClampedEnds", strconv.Itoa(ClampedEnds)}}},
	{"kernels", "roundedReach and roundedReach3 bound the float32 angles that CosSinShiftRounded and\nCosSinShiftRounded3 make.",
		[]Constant{{"roundedReach", hexadecimal(RoundedReach)}, {"roundedReach3", hexadecimal(RoundedReach3)}}},
	{"kernels", "Width is the most frequencies that a Block holds.", []Constant{{"Width", strconv.Itoa(Width)}}},
	{"kernels", "shiftRows is the number of positions that share a seed.", []Constant{{"shiftRows", strconv.Itoa(ShiftRows)}}},
}

// Group is constants of a package, with their documentation.
type Group struct {
	Package, Doc string
	Constants    []Constant
}

// Constant is one of Go.
type Constant struct{ Name, Value string }

func hexadecimal(x float64) string { return strconv.FormatFloat(x, 'x', -1, 64) }

func coefficients(name string, values []float64) (list []Constant) {
	for i, x := range values {
		list = append(list, Constant{fmt.Sprint(name, i), hexadecimal(x)})
	}
	return list
}
