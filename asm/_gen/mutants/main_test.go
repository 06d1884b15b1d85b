package main

import "testing"

// What a mutant replaces is in its file once, as the code is now.
func TestMutantsAreFound(t *testing.T) {
	all, err := choose(nil)
	if err != nil {
		t.Fatal(err)
	}
	repository := &laboratory{folder: "../../.."}
	for _, m := range all {
		if _, _, err := repository.mutated(&m); err != nil {
			t.Error(err)
		}
	}
}
