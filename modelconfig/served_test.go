package modelconfig

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

// served are the types and architectures that a project rotates, one in a line of a file of
// testdata/served; survey.py there writes it.
func served(file string) (project string, names []string) {
	lines := strings.Split(strings.TrimSpace(string(testkit.Must(os.ReadFile("testdata/served/"+file)))), "\n")
	for _, line := range lines[1:] {
		name, _, _ := strings.Cut(line, "\t")
		names = append(names, name)
	}
	return strings.TrimPrefix(lines[0], "# "), names
}

// TestServed: every type that vLLM or SGLang rotates is read, or refused by what it does instead, or
// is in notyet.txt, whose lines are a reason and the names that it is about. Those are refused, too; one
// with a type after it (=) is an architecture whose files are read as that type.
func TestServed(t *testing.T) {
	notYet, surveyed := map[string]bool{}, map[string]bool{}
	as := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(testkit.Must(os.ReadFile("testdata/served/notyet.txt")))), "\n") {
		reason, names, _ := strings.Cut(line, "\t")
		for _, name := range strings.Fields(names) {
			if architecture, modelType, ok := strings.Cut(name, "="); ok {
				name, as[architecture] = architecture, modelType
			}
			if notYet[name] || reason == "" {
				t.Errorf("%s is in notyet.txt twice, or without a reason", name)
			}
			notYet[name] = true
		}
	}
	for _, file := range []string{"vLLM.txt", "SGLang.txt"} {
		project, names := served(file)
		count := map[string]int{}
		for _, name := range names {
			surveyed[name] = true
			document := fmt.Appendf(nil, `{"model_type": %q}`, name)
			_, err := HuggingFace(document)
			if _, visionErr := HuggingFaceVision(document); visionErr == nil {
				err = nil
			}
			switch unknown := errors.Is(err, ErrUnknown) && strings.Contains(err.Error(), "a type in docs/models.md"); {
			case unknown && !notYet[name]:
				t.Errorf("%s rotates %s: %v", project, name, err)
			case !unknown && notYet[name]:
				t.Errorf("%s is in notyet.txt, and known: %v", name, err)
			case unknown:
				count["not yet"]++
			case refusal(name) != "" || errors.Is(err, ErrNotRotary):
				count["refused"]++
			case err != nil && !errors.Is(err, ErrValue): // which asks for a key that all files of the type have
				t.Errorf("%s rotates %s: %v", project, name, err)
			default:
				count["read"]++
			}
		}
		t.Logf("%s: %d types: %v", project, len(names), count)
	}
	for name, modelType := range as {
		if _, err := HuggingFace(fmt.Appendf(nil, `{"model_type": %q}`, modelType)); !notYet[modelType] && errors.Is(err, ErrUnknown) && refusal(modelType) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range notYet {
		if !surveyed[name] {
			t.Errorf("notyet.txt has %s, which no survey has", name)
		}
	}
	if len(surveyed) < 300 {
		t.Errorf("%d types", len(surveyed))
	}
}
