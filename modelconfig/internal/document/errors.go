package document

import (
	"fmt"
	"strings"
)

// Sentinel is what errors wrap.
type Sentinel string

func (s Sentinel) Error() string { return string(s) }

// Package modelconfig exports these.
const (
	ErrSyntax        Sentinel = "malformed configuration"
	ErrUnknown       Sentinel = "unknown"
	ErrNotRotary     Sentinel = "positions not rotary"
	ErrValue         Sentinel = "invalid value"
	ErrContradiction Sentinel = "contradiction"
)

// ValueError describes a key of a configuration or an argument.
func ValueError(sentinel error, function, name string, value any, expected string, args ...any) error {
	return fmt.Errorf("modelconfig.%s: %s is %v, want %s: %w", function, name, value, fmt.Sprintf(expected, args...), sentinel)
}

const mostQuoted = 64 // characters

// Quoted returns a string as an error shows it: in quotes, and cut if it is long.
func Quoted(s string) string {
	if len(s) > mostQuoted {
		return fmt.Sprintf("%.*q...", mostQuoted, s)
	}
	return fmt.Sprintf("%q", s)
}

// KeyName returns the name of an unknown key as an error shows it: in quotes if it is long or
// has characters other than letters, digits, _ and -.
func KeyName(key string) string {
	plain := func(c rune) bool {
		return c == '_' || c == '-' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
	}
	if key == "" || len(key) > mostQuoted || strings.ContainsFunc(key, func(c rune) bool { return !plain(c) }) {
		return Quoted(key)
	}
	return key
}

// ListText returns a list as an error shows it: by its length.
func ListText(n int) string { return fmt.Sprintf("a list of %d", n) }
