package modelconfig

import (
	"errors"
	"fmt"
	"strings"
)

// Every error wraps one of these. It names the function, the key or the argument, its value,
// and what was expected or can be set instead.
var (
	ErrSyntax        = errors.New("malformed configuration") // not JSON, a key that appears twice, a value of the wrong type, a document that is too large
	ErrUnknown       = errors.New("unknown")                 // an unknown model type, rope type or key about rotary positions
	ErrNotRotary     = errors.New("positions not rotary")    // the model encodes positions in another way, or not at all
	ErrValue         = errors.New("invalid value")           // a number out of range, a missing key, a list of the wrong length
	ErrContradiction = errors.New("contradiction")           // keys that contradict each other
	ErrArgument      = errors.New("invalid argument")        // an argument of a method of Model
)

// valueError describes a key of a configuration or an argument.
func valueError(sentinel error, function, name string, value any, expected string, args ...any) error {
	return fmt.Errorf("modelconfig.%s: %s is %v, want %s: %w", function, name, value, fmt.Sprintf(expected, args...), sentinel)
}

const mostQuoted = 64 // characters

// quoted returns a string as an error shows it: in quotes, and cut if it is long.
func quoted(s string) string {
	if len(s) > mostQuoted {
		return fmt.Sprintf("%.*q...", mostQuoted, s)
	}
	return fmt.Sprintf("%q", s)
}

// keyName returns the name of an unknown key as an error shows it: in quotes if it is long or
// has characters other than letters, digits, _ and -.
func keyName(key string) string {
	plain := func(c rune) bool {
		return c == '_' || c == '-' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
	}
	if key == "" || len(key) > mostQuoted || strings.ContainsFunc(key, func(c rune) bool { return !plain(c) }) {
		return quoted(key)
	}
	return key
}

// listText returns a list as an error shows it: by its length.
func listText(n int) string { return fmt.Sprintf("a list of %d", n) }
