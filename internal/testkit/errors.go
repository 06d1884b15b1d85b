package testkit

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
)

// Wrong is a call that has to fail.
type Wrong struct {
	Name string
	Call func() error
	Kind error
	Says []string // parts of the message: function, argument, value
}

// CheckWrong makes the calls. None of them may write to the memory.
func CheckWrong(t *testing.T, calls []Wrong, memory ...[]float32) {
	t.Helper()
	for _, tt := range calls {
		t.Run(tt.Name, func(t *testing.T) {
			for i := range memory {
				FillRandom(NewRand(30), memory[i])
			}
			before := make([][]float32, len(memory))
			for i := range memory {
				before[i] = slices.Clone(memory[i])
			}
			err := tt.Call()
			if err == nil {
				t.Fatal("no error")
			}
			sentinels := 0
			for _, kind := range []error{posenc.ErrConfig, posenc.ErrLength, posenc.ErrShape, posenc.ErrOverlap, posenc.ErrPosition} {
				if errors.Is(err, kind) {
					sentinels++
				}
			}
			if !errors.Is(err, tt.Kind) || sentinels != 1 {
				t.Errorf("%q wraps %d sentinels, want only %q", err, sentinels, tt.Kind)
			}
			for _, part := range tt.Says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			for i := range memory {
				for j := range memory[i] {
					if math.Float32bits(memory[i][j]) != math.Float32bits(before[i][j]) {
						t.Fatalf("element %d was written before the error %q", j, err)
					}
				}
			}
		})
	}
}
