package kit

import (
	"errors"
	"testing"
)

// NoError ends the test where a call has failed.
func NoError(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Must returns what a constructor made of arguments that are right.
func Must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}
