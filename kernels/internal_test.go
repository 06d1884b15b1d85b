package kernels

// What tests see of this package beside the bindings.
const ShiftRows = shiftRows

var (
	RunLength   = runLength
	Aligned     = aligned
	Certain     = (*Block).certain
	Frequencies = (*Block).frequencies
)
