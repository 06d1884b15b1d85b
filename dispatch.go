package posenc

import (
	"strconv"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
)

// Implementation returns the name of the kernels in use: "avx512", "avx2", "neon" or
// "generic", which is plain Go.
func Implementation() string { return dispatch.Chosen().String() }

// ImplementationReason says in words why no faster kernels run than these.
func ImplementationReason() string { return dispatch.Reason() }

// SetImplementation chooses kernels that are not faster than those in use, by their name.
// Call it before anything of this module that computes, even [NewRotary]: after that it is
// an error, ErrConfig like any other name.
func SetImplementation(name string) error {
	if want := dispatch.Lower(name); want != "" {
		return argument.Error(ErrConfig, "posenc.SetImplementation", "name", strconv.Quote(name), "%s", want)
	}
	return nil
}
