package main

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed safeshell.rb.tmpl
var formulaTemplate string

// formula writes Homebrew's.
func (r *release) formula() (err error) {
	type archive struct{ CPU, File, Sum string }
	type system struct {
		Name     string
		Archives []archive
	}
	var systems []system
	for _, p := range r.platforms {
		name := map[string]string{"darwin": "macos", "linux": "linux"}[p.os]
		if len(systems) == 0 || systems[len(systems)-1].Name != name {
			systems = append(systems, system{Name: name})
		}
		a := archive{CPU: map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch], File: r.archiveName(p) + ".tar.gz"}
		if a.Sum, err = sumOf(filepath.Join(r.out, a.File)); err != nil {
			return err
		}
		s := &systems[len(systems)-1]
		s.Archives = append(s.Archives, a)
	}
	t, err := template.New("formula").Parse(formulaTemplate)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.out, "safeshell.rb"))
	if err != nil {
		return err
	}
	err = t.Execute(f, map[string]any{"Homepage": r.homepage(), "Version": r.version, "Number": r.number(), "Systems": systems})
	return errors.Join(err, f.Close())
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
