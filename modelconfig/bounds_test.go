package modelconfig

import (
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// Documents of the largest size, and of the most values, are read. A document of many small values
// takes memory by its bounds, not by what it could hold.
func TestLargestDocuments(t *testing.T) {
	const small = `{"model_type": "llama"}`
	mustRead(t, small+strings.Repeat(" ", document.MaxBytes-len(small)))
	wantError(t, small+strings.Repeat(" ", document.MaxBytes-len(small)+1), ErrSyntax, "4194305 bytes, more than 4194304")
	list := func(value string, n int) string {
		return `{"model_type": "llama", "x": [` + strings.Repeat(value+",", n-1) + value + `]}`
	}
	mustRead(t, list("1", document.MaxValues-3)) // the object, the type and the list are values too
	wantError(t, list("1", document.MaxValues-2), ErrSyntax, "more than 131072 values")
	wantError(t, "", ErrSyntax, "config is unreadable ("+io.ErrUnexpectedEOF.Error()+")")
	wantError(t, strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 200), ErrSyntax, "64 levels")
	wantError(t, `{"model_type": "`+strings.Repeat("x", 1000)+`"}`, ErrUnknown, `xxx"...`)
	var unread strings.Builder // 2 MB of keys that nothing reads
	for i := range 100000 {
		unread.WriteString(`"zzzz_key_` + strconv.Itoa(i) + `":1,`)
	}
	mustRead(t, "{"+unread.String()+`"model_type": "llama"}`)
	for _, value := range []string{"{}", "[]", "1", `""`, `{"a":1}`} {
		for _, n := range []int{document.MaxValues / 4, document.MaxBytes / (len(value) + 1) / 2} {
			config := []byte(list(value, n))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			HuggingFace(config)
			runtime.ReadMemStats(&after)
			if used, most := after.TotalAlloc-before.TotalAlloc, uint64(3*len(config)+512*document.MaxValues); used > most {
				t.Errorf("%s, %d times: %d bytes of memory for a document of %d, want at most %d", value, n, used, len(config), most)
			}
		}
	}
}

// The bounds here are those of package posenc.
func TestBounds(t *testing.T) {
	for dim, ok := range map[int]bool{description.MaxRotaryDim: true, description.MaxRotaryDim + 2: false} {
		if _, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit}); (err == nil) != ok {
			t.Errorf("%d elements: %v", dim, err)
		}
	}
	for beta, ok := range map[float64]bool{description.MaxBeta: true, math.Nextafter(description.MaxBeta, math.Inf(1)): false} {
		if err := posenc.QueryScales(make([]float32, 1), []int32{7}, posenc.QueryScaling{Beta: beta, Length: 1}); (err == nil) != ok {
			t.Errorf("beta %v: %v", beta, err)
		}
	}
}
