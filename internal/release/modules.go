package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is one whose code is in the programs.
type module struct {
	Path, Version, Dir string

	licences []string // SPDX names
	texts    []byte
}

// permissive are the licences that a module may have, by a sentence that each has.
// What is known by none of them stops the release: somebody must read it.
var permissive = []struct{ spdx, sentence string }{
	{"MIT", "permission is hereby granted, free of charge"},
	{"Apache-2.0", "apache license version 2.0"},
	{"Apache-2.0", "licensed under the apache license, version 2.0"},
	{"BSD-3-Clause", "endorse or promote products derived"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright)([.-].*)?$`)
	copyleft    = regexp.MustCompile(`(?i)gnu (lesser |affero )?general public|mozilla public|eclipse public|server side public|business source`)
	space       = regexp.MustCompile(`\s+`)
)

// modules finds what the programs of all platforms link, each once. The Go
// distribution itself comes first: its runtime and library are in there too.
func (r *release) modules() ([]*module, error) {
	goVersion, err := output("go", "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	goRoot, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	found := []*module{{Path: "std", Version: strings.TrimPrefix(goVersion, "go"), Dir: goRoot}}
	for _, p := range platforms {
		c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".", "./program/whole")
		c.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(c.Args, " "), err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(f) == 3 && !slices.ContainsFunc(found, func(m *module) bool { return m.Path == f[0] }) {
				found = append(found, &module{Path: f[0], Version: f[1], Dir: f[2]})
			}
		}
	}
	slices.SortFunc(found[1:], func(a, b *module) int { return cmp.Compare(a.Path, b.Path) })
	for _, m := range found {
		if err := m.read(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// read gathers the texts that come with a module, and names its licences.
func (m *module) read() error {
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, f.Name()))
		if err != nil {
			return err
		}
		m.texts = append(m.texts, "\n"+f.Name()+":\n\n"+strings.TrimSpace(string(text))+"\n"...)
	}
	m.licences = licencesOf(m.texts)
	if len(m.licences) == 0 {
		return fmt.Errorf("%s %s (%s) has no licence that is known to be permissive; read it, and add it to the table in internal/release/modules.go or do without the module", m.Path, m.Version, m.Dir)
	}
	return nil
}

func licencesOf(texts []byte) []string {
	if copyleft.Match(texts) {
		return nil
	}
	text := space.ReplaceAllString(strings.ToLower(string(texts)), " ")
	var names []string
	for _, l := range permissive {
		if strings.Contains(text, l.sentence) && !slices.Contains(names, l.spdx) && (l.spdx != "BSD-2-Clause" || !slices.Contains(names, "BSD-3-Clause")) {
			names = append(names, l.spdx)
		}
	}
	return names
}

// licences is THIRD_PARTY_LICENSES: what the programs are linked with, and what
// data they hold (NOTICE).
func (r *release) licences() ([]byte, error) {
	modules, err := r.modules()
	if err != nil {
		return nil, err
	}
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		return nil, err
	}
	const rule = "\n================================================================================\n"
	var b bytes.Buffer
	b.WriteString("safeshell is linked with the works of others, each under its own licence.\n\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "%s %s: %s\n", m.Path, m.Version, strings.Join(m.licences, " AND "))
	}
	for _, m := range modules {
		fmt.Fprintf(&b, "%s%s %s\n%s", rule, m.Path, m.Version, m.texts)
	}
	b.WriteString(rule)
	b.Write(notice)
	return b.Bytes(), nil
}

// sbom lists the same modules in CycloneDX's form. Nothing in it is random or of
// the hour: it names the release, and the same release has the same.
func (r *release) sbom() error {
	modules, err := r.modules()
	if err != nil {
		return err
	}
	type licence struct {
		License map[string]string `json:"license"`
	}
	type component struct {
		Ref      string    `json:"bom-ref"`
		Type     string    `json:"type"`
		Name     string    `json:"name"`
		Version  string    `json:"version"`
		Licences []licence `json:"licenses"`
		Purl     string    `json:"purl,omitempty"`
	}
	type dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
	named := func(names ...string) (all []licence) {
		for _, n := range names {
			all = append(all, licence{map[string]string{"id": n}})
		}
		return all
	}
	self := component{Ref: "safeshell@" + r.version, Type: "application", Name: "safeshell", Version: r.version, Licences: named("MIT"),
		Purl: "pkg:github/" + r.repository + "@" + r.version}
	components, links := []component{}, dependency{Ref: self.Ref}
	for _, m := range modules {
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		components = append(components, component{Ref: purl, Type: "library", Name: m.Path, Version: m.Version, Licences: named(m.licences...), Purl: purl})
		links.On = append(links.On, purl)
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     map[string]any{"timestamp": r.date.Format("2006-01-02T15:04:05Z"), "component": self},
		"components":   components,
		"dependencies": []dependency{links},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "safeshell_"+r.number()+"_sbom.cdx.json"), append(text, '\n'), 0o644)
}
