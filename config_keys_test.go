package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// No key of config.yaml is read by nobody: code outside of package config makes
// use of each.
func TestEachConfigKeyIsRead(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not in PATH")
	}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,Module", "./...")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("the packages cannot be listed: %v\n%s", err, errs.Bytes())
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		Module                  *struct{ Main bool }
	}
	exports, ours := map[string]string{}, []listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && p.ImportPath != "safeshell/config" {
			ours = append(ours, p)
		}
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	config, err := imp.Import("safeshell/config")
	if err != nil {
		t.Skipf("what the compiler exports cannot be read: %v", err)
	}
	unread := map[*types.Var]string{}
	var gather func(typ types.Type, name string)
	gather = func(typ types.Type, name string) {
		s, ok := typ.Underlying().(*types.Struct)
		if !ok {
			return
		}
		for i := range s.NumFields() {
			f := s.Field(i)
			if _, inner := f.Type().Underlying().(*types.Struct); inner {
				gather(f.Type(), name+f.Name()+".")
				continue
			}
			unread[f] = name + f.Name()
		}
	}
	gather(config.Scope().Lookup("Config").Type(), "")
	if len(unread) < 10 {
		t.Fatalf("only %d keys found", len(unread))
	}
	// A method of Config that other packages call reads for them.
	own := config.Scope().Lookup("Config").Type()
	for _, p := range ours {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
		conf := types.Config{Importer: imp, Error: func(error) {}}
		_, _ = conf.Check(p.ImportPath, fset, files, info)
		for _, sel := range info.Selections {
			if v, ok := sel.Obj().(*types.Var); ok {
				delete(unread, v)
			}
			if sel.Kind() == types.MethodVal && types.Identical(sel.Recv(), own) && sel.Obj().Name() == "FailOpen" {
				for v, name := range unread {
					if name == "Unreachable" {
						delete(unread, v)
					}
				}
			}
		}
	}
	var names []string
	for _, name := range unread {
		names = append(names, name)
	}
	if len(names) > 0 {
		t.Errorf("keys of config.yaml that no code reads: %s", strings.Join(names, ", "))
	}
}
