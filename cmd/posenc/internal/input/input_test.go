package input

import (
	"os"
	"strings"
	"testing"
)

// What never ends is an error at the bound. The scripts of the command read pipes that end.
func TestBound(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skip("NOT TESTED: there is no " + endless)
	}
	if _, err := Open(endless, 1000); err == nil || !strings.Contains(err.Error(), "/dev/zero: a pipe of more than 1000 bytes") {
		t.Errorf("error %v", err)
	}
}
