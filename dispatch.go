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
// Call it first: after a call that runs kernels, as [NewRotary] does with exact angles, it is an
// error. So is any other name. Errors wrap ErrConfig.
func SetImplementation(name string) error {
	if want := dispatch.Lower(name); want != "" {
		return argument.Error(ErrConfig, "posenc.SetImplementation", "name", strconv.Quote(name), "%s", want)
	}
	return nil
}
