package speed

import (
	"reflect"
	"strings"
	"testing"
)

// A path is the same where its digest is that of plain Go.
func TestReport(t *testing.T) {
	r := Report{Tokens: 512, Samples: 11, Digest: "aa", Loop: Times{250, 100}, Paths: []Result{
		{Path: "avx2", Digest: "aa", Times: Times{100, 50}},
		{Path: "generic", Digest: "aa", Times: Times{200, 100}},
	}}
	text := r.String()
	for _, want := range []string{"prefill of 512 tokens", "loop            250.0    81.92\navx2            100.0   204.80     2.50x  as plain Go", "decode at position 512"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	want := [][]string{
		{"step", "implementation", "ns_per_token", "GB_per_s", "speed_up", "same_bits"},
		{"prefill of 512 tokens", "loop", "250.0", "81.92", "1.00", ""},
		{"prefill of 512 tokens", "avx2", "100.0", "204.80", "2.50", "true"},
		{"prefill of 512 tokens", "generic", "200.0", "102.40", "1.25", "true"},
		{"decode at position 512", "loop", "100.0", "204.80", "1.00", ""},
		{"decode at position 512", "avx2", "50.0", "409.60", "2.00", "true"},
		{"decode at position 512", "generic", "100.0", "204.80", "1.00", "true"},
	}
	if rows := r.Rows(); !reflect.DeepEqual(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	if !r.Same() || strings.Contains(text, "DIFFER") || strings.Contains(text, "avx2 aa") {
		t.Error("equal digests differ")
	}
	if strings.Contains(text, "the current path only") {
		t.Errorf("all paths were measured:\n%s", text)
	}
	r.Alone = "cannot start itself"
	if want := "The program cannot start itself: the current path only.\n"; !strings.HasPrefix(r.String(), want) {
		t.Errorf("does not begin with %q:\n%s", want, &r)
	}
	r.Paths[0].Digest = "bb"
	if r.Same() || strings.Count(r.String(), "DIFFER from plain Go") != 2 || !strings.Contains(r.String(), "avx2 bb") {
		t.Errorf("different digests are the same:\n%s", &r)
	}
}

// The path of this process gives the bits of plain Go.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("a second")
	}
	tokens, _ := size(true)
	want, err := reference(tokens)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Measure(true)
	if err != nil || got.Digest != want || got.Prefill <= 0 || got.Decode <= 0 {
		t.Errorf("%+v, %v, want the digest %s", got, err, want)
	}
}
