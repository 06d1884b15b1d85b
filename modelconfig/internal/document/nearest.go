package document

import (
	"fmt"
	"strings"
)

// Nearest returns the shortest known name that begins with the given one
// (csm_depth_decoder_model for csm_depth_decoder). If there is none, it returns the known name
// with the fewest letters changed, added or left out, or "" if these are more than a third
// of the letters.
func Nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if longer := strings.HasPrefix(k, name+"_"); longer && name != "" && (best == "" || len(k) < len(best)) {
			best = k
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if d := Distance(name, k, least); d < least {
			best, least = k, d
		}
	}
	return best
}

// NearestNote is what an error says about the nearest of the known names, "" if there is none.
// Types with similar names may rotate differently (qwen2_vl and qwen3_vl), so that it recommends none.
func NearestNote(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf(" (the nearest name is %q, which may rotate differently)", near)
	}
	return ""
}

// Distance counts the letters changed, added or left out (Levenshtein), up to most.
func Distance(a, b string, most int) int {
	if len(a) > mostQuoted || len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return min(row[len(b)], most)
}
