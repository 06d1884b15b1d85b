// Package argument checks the arguments of public functions and writes their errors.
package argument

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unsafe"
)

// The kinds of errors. Package posenc exports them.
var (
	ErrConfig   = errors.New("invalid configuration")
	ErrLength   = errors.New("wrong length")
	ErrShape    = errors.New("invalid shape")
	ErrOverlap  = errors.New("overlapping memory")
	ErrPosition = errors.New("position out of range")
)

// Error says what is wrong with an argument of a function, which is named with its package:
//
//	posenc.Rotate: xs[0].Heads is 0, want at least 1: invalid shape
//	posenc.Rotate: xs[0].Data has 32 elements, want 48 for 3 tokens of 2 heads of 8: wrong length
func Error(kind error, function, argument string, value any, expected string, args ...any) error {
	verb := "is"
	if _, ok := value.(Elements); ok {
		verb = "has"
	}
	return fmt.Errorf("%s: %s %s %v, want %s: %w", function, argument, verb, value, fmt.Sprintf(expected, args...), kind)
}

// Checker keeps the first error in the configuration that a function takes.
type Checker struct {
	Function string
	Err      error
}

// Require sets Err to an Error unless ok is true or there is an earlier one.
func (c *Checker) Require(ok bool, argument string, value any, expected string, args ...any) {
	if !ok && c.Err == nil {
		c.Err = Error(ErrConfig, c.Function, argument, value, expected, args...)
	}
}

// Elements is the length of a slice, as a value in an Error.
type Elements int

func (n Elements) String() string { return Count(int(n), "element") }

// Count is a number of things that have this noun: 1 head, 2 heads.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Indexed is the name of an element of an argument: xs[3].
func Indexed(argument string, index int) string {
	return argument + "[" + strconv.Itoa(index) + "]"
}

// Name is the name of an argument, or of a field of one of its elements: xs[].Dst, whose
// brackets take the index. It becomes a string only if there is an error.
type Name struct {
	Text  string
	Index int
	Field string // .Dst of an argument that is a struct
}

// Named is the name of an argument.
func Named(argument string) Name { return Name{Text: argument} }

func (n Name) String() string {
	before, after, indexed := strings.Cut(n.Text, "[]")
	if indexed {
		return Indexed(before, n.Index) + after + n.Field
	}
	return before + n.Field // a sum, so that to the compiler names do not escape
}

// Multiply returns a*b for numbers of at least 0, and whether that fits an int.
func Multiply(a, b int) (int, bool) {
	high, low := bits.Mul(uint(a), uint(b))
	return int(low), high == 0 && int(low) >= 0
}

// Memory returns the bytes of s.
func Memory[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// Overlap reports whether a and b share memory.
func Overlap[A, B any](a []A, b []B) bool {
	startA, startB := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 &&
		startA < startB+uintptr(len(b))*unsafe.Sizeof(*new(B)) && startB < startA+uintptr(len(a))*unsafe.Sizeof(*new(A))
}
