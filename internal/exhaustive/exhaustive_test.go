package exhaustive

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFlag(t *testing.T) {
	for value, want := range map[string]share{"true": 1, "false": 0, "1/1": 1, "1/1000": 1000} {
		var s share
		if err := s.Set(value); err != nil || s != want {
			t.Errorf("%q: got %d, %v, want %d", value, s, err, want)
		}
	}
	for _, value := range []string{"", "1", "1/0", "1/-1", "2/3", "1/", "1/x"} {
		s := share(7)
		if err := s.Set(value); err == nil || s != 7 {
			t.Errorf("%q: got %d, %v, want an error", value, s, err)
		}
	}
}

// A share has one block of every so many, all of them once each for 1.
func TestShare(t *testing.T) {
	for _, n := range []int{0, 1, 2, 9, 10, 11, 1000} {
		for _, s := range []share{1, 2, 10, 1000} {
			list := s.blocks(n)
			if len(list) != (n+int(s)-1)/int(s) {
				t.Errorf("1/%d of %d: got %d blocks", s, n, len(list))
			}
			for i, block := range list {
				if block/int(s) != i || block >= n {
					t.Errorf("1/%d of %d: block %d is the %d-th", s, n, block, i)
				}
			}
		}
	}
}

// A run goes on where the one before it stopped, for the same leg alone and not
// with what was half written.
func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.txt")
	leg := Leg{Name: `all of "them"`, Blocks: 10, Counts: []string{"big", "small"}}
	first := openRecord(t, path, leg, []int{0, 1, 2, 3})
	first.add(t, 2, []int64{5, 6})
	first.add(t, 0, []int64{7, 8})
	first.close()
	other := leg
	other.Name = "all"
	third := openRecord(t, path, other, []int{0, 1, 2, 3})
	third.add(t, 1, []int64{100, 100})
	third.close()

	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := append(whole, `"all of \"them\"" 3 1 1 900 9`...) // 900 and 900
	if err := os.WriteFile(path, cut, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second has the line that the first added
		again := openRecord(t, path, leg, []int{0, 1, 2, 3, 4})
		left := again.left([]int{0, 1, 2, 3, 4})
		if !slices.Equal(left, []int{1, 3, 4}) && !slices.Equal(left, []int{1, 3}) {
			t.Errorf("left are %d", left)
		}
		if slices.Contains(left, 4) {
			again.add(t, 4, []int64{1, 2})
		}
		if report := again.report(); !strings.Contains(report, `all of "them": 13 big, 16 small, 3 of 10 blocks (`) {
			t.Error(report)
		}
		again.close()
	}
	few := openRecord(t, path, leg, []int{2, 3})
	if report := few.report(); !strings.Contains(report, "5 big, 6 small, 1 of 10 blocks (1 in earlier runs)") {
		t.Error(report)
	}
	few.close()
}

// Without a path nothing is remembered, and all is counted.
func TestRecordNowhere(t *testing.T) {
	leg := Leg{Name: "all", Blocks: 3, Counts: []string{"numbers"}}
	r := openRecord(t, "", leg, []int{0, 1, 2})
	r.add(t, 1, []int64{4})
	if report := r.report(); !strings.HasPrefix(report, "all: 4 numbers, 1 of 3 blocks, ") {
		t.Error(report)
	}
	r.close()
}

// The record of an executable has one place.
func TestRecordPath(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", folder)
	t.Setenv("HOME", folder)
	t.Setenv("LocalAppData", folder)
	path, err := recordPath()
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	if again, err := recordPath(); again != path || err != nil || !strings.HasPrefix(path, folder) {
		t.Errorf("got %s, then %s, %v", path, again, err)
	}
	old := filepath.Join(filepath.Dir(path), "00.txt")
	for _, name := range []string{old, path} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := recordPath(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the record of another build was kept")
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
