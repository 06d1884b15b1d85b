package modelconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// A publishedFile is a config.json of testdata/published, as it is published.
type publishedFile struct {
	Name, Source, Path string
	Config             string
}

func published() (files []publishedFile) {
	kit.ReadJSON("testdata/published/configs.json.gz", &files)
	return files
}

// aboutPositions is the rule of words for keys that may be about positions.
var aboutPositions = regexp.MustCompile(`(?i)rope|rotary|rot_|pos|theta|base|freq|yarn|ntk|scal|factor|alibi|logn|window|chunk|context|length|nope|section|partial|interleav|sinusoid|temperature_t`)

// objectsOf calls do with each object of a document and the first one of each list, and its path.
func objectsOf(object document.Object, path string, do func(object document.Object, path string)) {
	do(object, path)
	for _, key := range document.SortedKeys(object) {
		inner := object[key]
		if list, ok := inner.([]any); ok && len(list) > 0 {
			inner = list[0]
		}
		if inner, ok := inner.(document.Object); ok {
			objectsOf(inner, path+key+".", do)
		}
	}
}

// readersFail returns the errors of the three readers of a document.
func readersFail(text []byte) (errs [3]error) {
	_, errs[0] = HuggingFace(text)
	_, errs[1] = HuggingFaceVision(text)
	_, _, errs[2] = HuggingFaceMultimodal(text)
	return errs
}

// A verdict is a line of testdata/published/verdicts.txt: a file, facts or the name of an error as in
// testdata/readings, a part of the error's text, and where the facts come from.
func verdicts() map[string][]string {
	lines := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(kit.Must(os.ReadFile("testdata/published/verdicts.txt")))), "\n") {
		fields := strings.Split(line, "\t")
		lines[fields[0]] = fields[1:]
	}
	return lines
}

// TestPublished reads files as they are published. Each rotates as transformers runs it; where transformers has
// no such type, or no rotation, verdicts.txt has the facts, or why the file is refused.
func TestPublished(t *testing.T) {
	var ran struct {
		Versions map[string]string
		Results  map[string]*searchedConfig
	}
	kit.ReadJSON("testdata/published/transformers.json.gz", &ran)
	files, lines := published(), verdicts()
	byTransformers, byVerdict, refused, types := 0, 0, 0, map[string]bool{}
	for _, f := range files {
		m, err := HuggingFace([]byte(f.Config))
		types[fmt.Sprint(kit.Must(document.ParseObject([]byte(f.Config)))["model_type"])] = true
		result, line := ran.Results[f.Name], lines[f.Name]
		delete(lines, f.Name)
		if err != nil {
			refused++
		}
		switch {
		case len(line) == 3 && sentinels[line[0]] != nil:
			if !errors.Is(err, sentinels[line[0]]) || !strings.Contains(err.Error(), line[1]) {
				t.Errorf("%s: %v, want %s with %q", f.Name, err, line[0], line[1])
			}
			byVerdict++
		case err != nil:
			t.Errorf("%s: %v", f.Name, err)
		case len(line) == 3:
			if difference := differs(line[0], m, nil, 1e-12); difference != "" {
				t.Errorf("%s: %s", f.Name, difference)
			}
			byVerdict++
		case result == nil || result.Error != "":
			t.Errorf("%s: transformers makes nothing of it, and verdicts.txt has no line", f.Name)
		default:
			problems, compared := result.compare(m)
			if len(problems) > 0 || compared == 0 {
				t.Errorf("%s: %d layers compared: %s", f.Name, compared, strings.Join(problems, "; "))
			}
			byTransformers++
		}
	}
	towers := 0
	for _, f := range files {
		if config := kit.Must(document.ParseObject([]byte(f.Config))); config["vision_config"] == nil {
			continue
		}
		m, err := HuggingFaceVision([]byte(f.Config))
		name := f.Name + ", vision"
		line := lines[name]
		delete(lines, name)
		towers++
		switch {
		case len(line) != 3:
			t.Errorf("%s: verdicts.txt has no line", name)
		case sentinels[line[0]] != nil:
			if !errors.Is(err, sentinels[line[0]]) || !strings.Contains(err.Error(), line[1]) {
				t.Errorf("%s: %v, want %s with %q", name, err, line[0], line[1])
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if difference := differs(line[0], m, nil, 1e-12); difference != "" {
				t.Errorf("%s: %s", name, difference)
			}
		}
	}
	for name := range lines {
		t.Errorf("verdicts.txt has %s, which is no file", name)
	}
	if len(files) < 200 || len(types) < 75 {
		t.Errorf("%d files of %d types", len(files), len(types))
	}
	t.Logf("%d files of %d types: %d as transformers %s runs them, %d by verdicts.txt; %d refused; %d towers", len(files), len(types), byTransformers, ran.Versions["transformers"], byVerdict, refused, towers)
}

// TestPublishedKeys: a key of a published file whose name may be about positions is read, so that an odd value of it is an
// error, or it is in harmless.txt, whose lines are a reason and keys. keys.txt has all keys, with the number of files;
// others.txt has further keys that files of a type have.
func TestPublishedKeys(t *testing.T) {
	harmless, used := map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(kit.Must(os.ReadFile("testdata/published/harmless.txt")))), "\n") {
		reason, keys, _ := strings.Cut(line, "\t")
		for _, key := range strings.Fields(keys) {
			if harmless[key] || reason == "" {
				t.Errorf("%s is in harmless.txt twice, or without a reason", key)
			}
			harmless[key] = true
		}
	}
	counts, read := map[string]int{}, map[string]bool{}
	for i, f := range published() {
		config := kit.Must(document.ParseObject([]byte(f.Config)))
		names := map[string]bool{}
		objectsOf(config, "", func(object document.Object, _ string) {
			for key := range object {
				names[key] = true
			}
		})
		for key := range names {
			counts[key]++
		}
		before := readersFail([]byte(f.Config))
		if before[0] != nil || !kit.Sampled(i, 4) {
			continue
		}
		objectsOf(config, "", func(object document.Object, path string) {
			for _, key := range document.SortedKeys(object) {
				if !aboutPositions.MatchString(key) || before[1] != nil && strings.HasPrefix(path+key, "vision_config.") {
					continue // HuggingFaceVision refuses such a tower, with a reason
				}
				value := object[key]
				object[key] = []any{map[string]any{"odd": 1}}
				after := readersFail(kit.Must(json.Marshal(config)))
				object[key] = value
				minded := false
				for i := range after {
					minded = minded || before[i] == nil && after[i] != nil
				}
				switch {
				case minded:
					read[key] = true
				case harmless[key]:
					used[key] = true
				default:
					t.Errorf("%s: nothing reads %s%s", f.Name, path, key)
				}
			}
		})
	}
	documents := servedDocuments()
	for _, line := range strings.Split(strings.TrimSpace(string(kit.Must(os.ReadFile("testdata/published/others.txt")))), "\n") {
		name, key, _ := strings.Cut(line, "\t")
		config := documents(name)
		switch {
		case config != nil && !passesIn(name, config, key):
			read[key] = true
		case harmless[key]:
			used[key] = true
		default:
			t.Errorf("others.txt: nothing reads %s of %s", key, name)
		}
	}
	for key := range harmless {
		if !used[key] && kit.AllRounds() {
			t.Errorf("harmless.txt has %s, which every file reads that has it", key)
		}
	}
	listed := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(kit.Must(os.ReadFile("testdata/published/keys.txt")))), "\n") {
		number, key, _ := strings.Cut(line, "\t")
		listed[key] = kit.Must(strconv.Atoi(number))
	}
	if !maps.Equal(counts, listed) {
		t.Errorf("keys.txt has not the %d keys of the files", len(counts))
	}
	t.Logf("%d keys; of those that may be about positions, %d are read and %d change nothing", len(counts), len(read), len(used))
}
