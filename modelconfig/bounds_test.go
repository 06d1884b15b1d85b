package modelconfig

import (
	"io"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// Documents of the largest size, and of the most values, are read.
func TestLargestDocuments(t *testing.T) {
	const small = `{"model_type": "llama"}`
	mustRead(t, small+strings.Repeat(" ", document.MaxBytes-len(small)))
	wantError(t, small+strings.Repeat(" ", document.MaxBytes-len(small)+1), ErrSyntax, "4194305 bytes, more than 4194304")
	list := func(n int) string { return `{"model_type": "llama", "x": [1` + strings.Repeat(",1", n-1) + `]}` }
	mustRead(t, list(document.MaxValues-3)) // the object, the type and the list are values too
	wantError(t, list(document.MaxValues-2), ErrSyntax, "more than 131072 values")
	wantError(t, "", ErrSyntax, "config is unreadable ("+io.ErrUnexpectedEOF.Error()+")")
	wantError(t, strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 200), ErrSyntax, "64 levels")
	wantError(t, `{"model_type": "`+strings.Repeat("x", 1000)+`"}`, ErrUnknown, `xxx"...`)
}
