package operation

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

// ClampedEnds is the number of equal elements at each end of what is added by
// AddClampedF32: those of the longest vector.
const ClampedEnds = 16

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
