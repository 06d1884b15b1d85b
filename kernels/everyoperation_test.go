package kernels_test

import (
	"slices"

	"github.com/go-posenc/posenc/internal/operations"
)

// everyOperation returns the operations of the list.
func everyOperation() []*operations.Operation { return slices.Concat(operations.Registry, private) }
