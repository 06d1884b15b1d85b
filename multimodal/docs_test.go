package multimodal_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/multimodal"
)

// The table of families of docs/multimodal.md has every family and every model once, and
// each model in the row of its family.
func TestDocs(t *testing.T) {
	quoted := regexp.MustCompile("`([a-z0-9_]+)`")
	rows, models := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(testkit.Must(os.ReadFile("../docs/multimodal.md")))) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		name := strings.Trim(cells[1], " `")
		family, ok := families[name]
		if !ok {
			continue
		}
		rows[name] = true
		for _, model := range quoted.FindAllStringSubmatch(cells[2], -1) {
			if got, err := multimodal.FamilyOf(model[1]); err != nil || got != family || models[model[1]] {
				t.Errorf("%s is in the row of %s: family %v, error %v, or twice", model[1], name, got, err)
			}
			models[model[1]] = true
		}
	}
	for name := range families {
		if !rows[name] {
			t.Errorf("no row of %s", name)
		}
	}
	for _, model := range multimodal.ModelTypes() {
		if !models[model] {
			t.Errorf("%s is in no row", model)
		}
	}
}
