package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// results are what commands write as JSON.
var results = map[string]any{
	"inspect": description{}, "inspect of two files": difference{}, "inspect of an unknown type": candidates{}, "check": checkResult{}, "check --absolute": absoluteResult{}, "vectors": vectorsResult{},
	"plot": plotResult{}, "bench": benchResult{}, "info": infoResult{},
}

// schemaFile describes them. Its texts are the comments of the types.
const schemaFile = "../../docs/command.schema.json"

// object is an object of JSON, whose keys are written in order.
type object = map[string]any

func TestSchema(t *testing.T) {
	var source []byte
	for _, file := range kit.Must(filepath.Glob("*.go")) {
		source = append(source, kit.ReadGolden(file)...)
	}
	for _, m := range regexp.MustCompile(`\nfunc \(\w+ \*(\w+)\) WriteText`).FindAllSubmatch(source, -1) {
		if !slices.ContainsFunc(slices.Collect(maps.Values(results)), func(r any) bool { return reflect.TypeOf(r).Name() == string(m[1]) }) {
			t.Errorf("results does not have %s", m[1])
		}
	}
	s := schema{definitions: object{}, packages: map[string]map[string]*ast.GenDecl{}}
	var commands []object
	for _, command := range slices.Sorted(maps.Keys(results)) {
		r := reflect.TypeOf(results[command])
		of := s.of(r)
		commands = append(commands, object{"title": "posenc " + command, "$ref": of["$ref"]})
		s.definitions[r.Name()].(object)["properties"].(object)["schema_version"] = object{"const": output.SchemaVersion}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	kit.NoError(t, e.Encode(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "What posenc writes with --json",
		"description": "Further fields may come without another schema_version.",
		"anyOf":       commands, "$defs": s.definitions,
	}))
	if *kit.Update {
		kit.NoError(t, os.WriteFile(schemaFile, text.Bytes(), 0o666))
	}
	if text.String() != string(kit.ReadGolden(schemaFile)) {
		t.Errorf("%s is not what the types have: go test -C cmd/posenc -run TestSchema . -update", schemaFile)
	}
}

// schema makes a JSON Schema of Go types.
type schema struct {
	definitions object
	packages    map[string]map[string]*ast.GenDecl // declarations of types and of constants of a type
}

func (s *schema) of(t reflect.Type) object {
	isText := t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || t.Kind() != reflect.String && t.Implements(reflect.TypeFor[fmt.Stringer]())
	switch kind := t.Kind(); {
	case kind == reflect.Pointer:
		return s.of(t.Elem())
	case kind == reflect.Struct:
		if s.definitions[t.Name()] == nil {
			properties := object{}
			s.definitions[t.Name()] = described(object{"type": "object", "properties": properties}, s.declaration(t, t.Name()).Specs[0].(*ast.TypeSpec).Doc, s.declaration(t, t.Name()).Doc)
			s.fields(properties, t)
		}
		return object{"$ref": "#/$defs/" + t.Name()}
	case isText:
		return object{"type": "string"}
	case kind == reflect.String:
		of := object{"type": "string"}
		if values := s.values(t); values != nil {
			of["enum"] = values
		}
		return of
	case kind == reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case kind == reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case kind == reflect.Map:
		return object{"type": "object"}
	case kind == reflect.Bool:
		return object{"type": "boolean"}
	case kind == reflect.Float32 || kind == reflect.Float64:
		return object{"type": "number"}
	}
	return object{"type": "integer"}
}

// fields adds the fields of a struct, with their comments.
func (s *schema) fields(properties object, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			s.fields(properties, embedded)
		case f.IsExported() && name != "-" && name != "":
			field := s.field(t, f.Name)
			properties[name] = described(s.of(f.Type), field.Doc, field.Comment)
		}
	}
}

// described is a schema with the text of comments.
func described(of object, comments ...*ast.CommentGroup) object {
	var texts []string
	for _, c := range comments {
		if text := strings.Join(strings.Fields(c.Text()), " "); text != "" {
			texts = append(texts, text)
		}
	}
	if texts != nil {
		of["description"] = strings.Join(texts, " ")
	}
	return of
}

func (s *schema) field(t reflect.Type, name string) *ast.Field {
	for _, f := range s.declaration(t, t.Name()).Specs[0].(*ast.TypeSpec).Type.(*ast.StructType).Fields.List {
		if slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.Name == name }) {
			return f
		}
	}
	panic(t.Name() + "." + name)
}

// values are the constants of a type.
func (s *schema) values(t reflect.Type) (values []string) {
	if t.PkgPath() == "" {
		return nil
	}
	s.declaration(t, t.Name())
	for key, d := range s.packages[t.PkgPath()] {
		if !strings.HasPrefix(key, "const ") {
			continue
		}
		for _, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			if of, ok := v.Type.(*ast.Ident); ok && of.Name == t.Name() {
				values = append(values, kit.Must(strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)))
			}
		}
	}
	slices.Sort(values)
	return values
}

// declaration parses the package of a type, which is in this repository.
func (s *schema) declaration(t reflect.Type, name string) *ast.GenDecl {
	path := t.PkgPath()
	if s.packages[path] == nil {
		s.packages[path] = map[string]*ast.GenDecl{}
		folder := "."
		if path != "main" {
			folder = filepath.Join("../..", strings.TrimPrefix(path, "github.com/go-posenc/posenc"))
		}
		for _, file := range kit.Must(filepath.Glob(folder + "/*.go")) {
			parsed := kit.Must(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments))
			for i, d := range parsed.Decls {
				if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
					for _, spec := range d.Specs {
						s.packages[path][spec.(*ast.TypeSpec).Name.Name] = &ast.GenDecl{Doc: d.Doc, Specs: []ast.Spec{spec}}
					}
				} else if ok && d.Tok == token.CONST {
					s.packages[path][fmt.Sprint("const ", file, i)] = d
				}
			}
		}
	}
	return s.packages[path][name]
}

// What is committed as written by an older posenc of this SchemaVersion is as the schema says, and so
// is what commands write today. -update writes the reports that there are none of.
func TestReports(t *testing.T) {
	var s object
	kit.ReadJSON(schemaFile, &s)
	reports := kit.Must(filepath.Abs(fmt.Sprint("testdata/reports/", output.SchemaVersion)))
	const llama, gemma = "Llama-3.2-1B.json", "gemma-3-27b-it.json"
	folder := t.TempDir()
	for _, files := range []string{configs, "testdata/check"} {
		kit.NoError(t, os.CopyFS(folder, os.DirFS(files)))
	}
	t.Chdir(folder)
	covered := object{}
	for name, arguments := range map[string][]string{
		"inspect":                    {"inspect", gemma},
		"inspect, of Fourier sums":   {"inspect", "fope.json"},
		"inspect of two files":       {"inspect", llama, gemma},
		"inspect of an unknown type": {"inspect", "new.json"},
		"check":                      {"check", llama, "llama_before.npy", "llama_twice.npy", "--positions", "llama_positions.npy"},
		"check, agrees":              {"check", llama, "llama_before.npy", "llama_after.npy", "--shape", "batch,heads,tokens,dim"},
		"check --absolute":           {"check", "--absolute", "absolute_element.npy"},
		"vectors":                    {"vectors", gemma, "--positions", "0", "--out", "v.npz"},
		"plot":                       {"plot", "--chart", "wavelengths", llama},
		"info":                       {"info"},
		"bench":                      nil, // posenc bench --short --json wrote it: bench runs its own program
	} {
		stored := filepath.Join(reports, strings.ReplaceAll(strings.ReplaceAll(name, ",", ""), " ", "_")+".json")
		var stdout, stderr bytes.Buffer
		texts := map[string][]byte{}
		if arguments != nil {
			run(append(arguments, "--json"), &stdout, &stderr)
			texts["today"] = stdout.Bytes()
			if _, err := os.Stat(stored); err != nil && *kit.Update {
				kit.NoError(t, os.WriteFile(stored, stdout.Bytes(), 0o666))
			}
		}
		texts[stored] = kit.ReadGolden(stored)
		command, _, _ := strings.Cut(name, ", ")
		covered[command] = true
		for of, text := range texts {
			var report any
			kit.NoError(t, json.Unmarshal(text, &report))
			i := slices.IndexFunc(s["anyOf"].([]any), func(one any) bool { return one.(object)["title"] == "posenc "+command })
			for _, fault := range faults(s, s["anyOf"].([]any)[i].(object), report, "") {
				t.Errorf("%s, %s: %s", name, of, fault)
			}
		}
	}
	if len(covered) != len(results) {
		t.Errorf("reports of %d kinds, want all %d", len(covered), len(results))
	}
}

// faults says where a value is not as a part of the schema says. A field that it does not have is one.
func faults(root, of object, value any, at string) (list []string) {
	if ref, ok := of["$ref"].(string); ok {
		of = root["$defs"].(object)[strings.TrimPrefix(ref, "#/$defs/")].(object)
	}
	is := map[string]bool{}
	switch value := value.(type) {
	case object:
		is["object"] = true
		for name, v := range value {
			properties, known := of["properties"].(object)
			if p, ok := properties[name].(object); ok {
				list = append(list, faults(root, p, v, at+"."+name)...)
			} else if known {
				list = append(list, at+"."+name+" is not in the schema")
			}
		}
	case []any:
		is["array"] = true
		for i, v := range value {
			if items, ok := of["items"].(object); ok {
				list = append(list, faults(root, items, v, fmt.Sprint(at, i))...)
			}
		}
	case string:
		is["string"] = true
		if values, ok := of["enum"].([]any); ok && !slices.Contains(values, any(value)) {
			list = append(list, fmt.Sprintf("%s is %q", at, value))
		}
	case float64:
		is["number"], is["integer"] = true, value == float64(int64(value))
		if c, ok := of["const"]; ok && c != value {
			list = append(list, fmt.Sprintf("%s is %v, want %v", at, value, c))
		}
	case bool:
		is["boolean"] = true
	}
	if kind, ok := of["type"].(string); ok && !is[kind] {
		list = append(list, fmt.Sprintf("%s is %.100v, want a %s", at, value, kind))
	}
	return list
}
