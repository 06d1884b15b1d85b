// Command _gen writes the assembly kernels and all that follows from the list of
// operations: stubs, bindings, loops over rows, constants and the registry of tests.
//
//	go run -C asm/_gen . -dir ..
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-posenc/posenc/asm/_gen/amd64"
	"github.com/go-posenc/posenc/asm/_gen/arm64"
	"github.com/go-posenc/posenc/asm/_gen/operation"
)

// assemblers maps a GOARCH to its back end.
var assemblers = map[string]func(pkg, family string, operations []operation.Operation) (assembly, stubs []byte, err error){
	"amd64": amd64.Assemble,
	"arm64": arm64.Assemble,
}

func main() {
	log.SetFlags(0)
	directory := flag.String("dir", "", "the asm folder")
	flag.Parse()
	files, err := generate(operation.Operations)
	if err != nil {
		log.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(*directory, name), content, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// generate returns every generated file by its path from the asm folder.
func generate(operations []operation.Operation) (map[string][]byte, error) {
	type family struct{ pkg, name string }
	members := map[family][]operation.Operation{}
	for _, op := range operations {
		f := family{op.Package, op.Family}
		members[f] = append(members[f], op)
	}
	files := map[string][]byte{}
	if err := operation.Check(operations); err != nil {
		return nil, err
	}
	for f, operations := range members {
		folder := ""
		if f.pkg != "asm" {
			folder = "../internal/test/" + f.pkg
		}
		for goarch, assemble := range assemblers {
			here := operation.On(goarch, operations)
			if len(here) == 0 {
				continue
			}
			assembly, stubs, err := assemble(f.pkg, f.name, here)
			if err != nil {
				return nil, err
			}
			name := filepath.Join(folder, f.name+"_"+goarch)
			files[name+".s"], files[name+".go"] = assembly, stubs
		}
	}
	for name, write := range map[string]func() ([]byte, error){
		"kernels/bind_amd64.go":                func() ([]byte, error) { return bindings("amd64", operations) },
		"kernels/bind_arm64.go":                func() ([]byte, error) { return bindings("arm64", operations) },
		"kernels/bind_other.go":                func() ([]byte, error) { return bindings("", operations) },
		"kernels/loops.go":                     func() ([]byte, error) { return loops(operations) },
		"kernels/formats.go":                   func() ([]byte, error) { return formats(operations) },
		"kernels/accesses.go":                  func() ([]byte, error) { return accesses(operations) },
		"internal/test/operations/registry.go": func() ([]byte, error) { return registry(operations) },
		"kernels/registry_test.go":             func() ([]byte, error) { return privateRegistry(operations) },
		"kernels/export_test.go":               func() ([]byte, error) { return exports(operations) },
		"internal/test/kit/callelements.go":    func() ([]byte, error) { return callElements(operations) },
		"kernels/constants.go":                 func() ([]byte, error) { return constants("kernels") },
		"generic/constants.go":                 func() ([]byte, error) { return constants("generic") },
	} {
		content, err := write()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[filepath.Join("..", name)] = content
	}
	return files, nil
}
