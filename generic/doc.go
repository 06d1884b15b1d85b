// Package generic defines what every kernel of posenc computes, in plain Go. Nothing here is under
// the module's compatibility promise: engines call package posenc.
//
// It is the reference that each assembly kernel is tested against and the
// implementation used where there is no kernel. Its functions do one row, or
// some, and check nothing: slices must be long enough.
//
// Every result is defined to the last bit. RN32 below is rounding to the
// nearest float32, ties to even. Two results are the same when their bits are
// equal or both are NaN.
package generic
