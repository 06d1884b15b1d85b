package kit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
)

// Failures returns what checks the error of a call that has to fail, and that the calls so
// far left memory, slices of numbers, as it was. Those of float32 it fills with small ones.
func Failures(t *testing.T, memory ...any) func(err, kind error, says ...string) {
	var all [][]byte
	for _, s := range memory {
		switch s := s.(type) {
		case []float32:
			for i := range s {
				s[i] = float32(1+i%31) / 16
			}
			all = append(all, BytesOf(s))
		case []int32:
			all = append(all, BytesOf(s))
		case []uint32:
			all = append(all, BytesOf(s))
		case []byte:
			all = append(all, s)
		default:
			t.Fatalf("memory of type %T", s)
		}
	}
	before := bytes.Join(all, nil)
	return func(err, kind error, says ...string) {
		t.Helper()
		checkFailure(t, err, kind, says...)
		if !bytes.Equal(bytes.Join(all, nil), before) {
			t.Fatalf("written before the error %v", err)
		}
	}
}

// checkFailure checks that an error is of one kind, and what it says.
func checkFailure(t *testing.T, err, kind error, says ...string) {
	t.Helper()
	if !errors.Is(err, kind) || !WellFormed(err) {
		t.Errorf("%v, want an error of the package that wraps %q and says %q", err, kind, says)
	}
	for _, part := range says {
		if !strings.Contains(fmt.Sprint(err), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

// WellFormed reports whether an error wraps one kind, begins with the package under test
// and a function, names the package no second time, apart from a document, and ends with its kind.
func WellFormed(err error) bool {
	kinds, text := 0, fmt.Sprint(err)
	for _, kind := range []error{posenc.ErrConfig, posenc.ErrLength, posenc.ErrShape, posenc.ErrOverlap, posenc.ErrPosition} {
		if errors.Is(err, kind) && strings.HasSuffix(text, ": "+kind.Error()) {
			kinds++
		} else if errors.Is(err, kind) {
			return false
		}
	}
	rest, found := strings.CutPrefix(strings.ReplaceAll(text, "docs/"+packageName+".md", ""), packageName+".")
	return kinds == 1 && found && !strings.Contains(rest, packageName+".") && !strings.Contains(rest, "posenc") && len(text) <= 1000
}
