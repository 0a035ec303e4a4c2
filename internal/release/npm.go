package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

//go:embed npm
var npmFront embed.FS

// node is a platform as Node.js names it.
func (p platform) node() string {
	return p.os + "-" + cmp.Or(map[string]string{"amd64": "x64"}[p.arch], p.arch)
}

// manifest is a package.json.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Licence     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Unplugged   bool              `json:"preferUnplugged,omitempty"` // a program cannot run from inside a zip
	Engines     map[string]string `json:"engines,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Man         []string          `json:"man,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

func (r *release) manifest(name, description string) manifest {
	return manifest{
		Name: name, Version: r.number(), Description: description, Licence: "MIT", Homepage: r.homepage(),
		Repository: map[string]string{"type": "git", "url": "git+" + r.homepage() + ".git"},
	}
}

// npm makes a package for each platform, and the one that people install. npm
// takes from the optional dependencies those that fit os and cpu, so that no
// script needs to run when it installs.
func (r *release) npm() error {
	optional := map[string]string{}
	for _, p := range r.platforms {
		name := "@safeshell/" + p.node()
		optional[name] = r.number()
		m := r.manifest(name, "safeshell's program for "+p.node()+"; install the package safeshell")
		nodeOS, cpu, _ := strings.Cut(p.node(), "-")
		m.OS, m.CPU, m.Unplugged = []string{nodeOS}, []string{cpu}, true
		readme := fmt.Sprintf("# %s\n\nThe program of [safeshell](%s) for %s. Install it with `npm install -g safeshell`.\n", name, r.homepage(), p.node())
		err := r.writePackage(p, m, entry{name: "README.md", data: []byte(readme)},
			entry{name: "bin/safeshell", file: filepath.Join(r.dir(p), "safeshell"), executable: true})
		if err != nil {
			return err
		}
	}
	// The texts are every platform's.
	p := r.platforms[0]
	m := r.manifest("safeshell", "Safety layer between AI coding agents and your shell")
	m.Optional, m.Engines = optional, map[string]string{"node": ">=14.14"}
	m.Bin = map[string]string{}
	files := []entry{{name: "README.md", file: "README.md"}, {name: "CHANGELOG.md", file: "CHANGELOG.md"}}
	launch, err := npmFront.ReadFile("npm/launch.js")
	if err != nil {
		return err
	}
	files = append(files, entry{name: "launch.js", data: launch})
	for _, name := range []string{"safeshell", "safeshell-wrapper"} {
		script, err := npmFront.ReadFile("npm/" + name + ".js")
		if err != nil {
			return err
		}
		m.Bin[name] = "bin/" + name + ".js"
		files = append(files, entry{name: m.Bin[name], data: script, executable: true})
	}
	pages, err := filepath.Glob(filepath.Join(r.dir(p), "man/man1/*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		name := path.Join("man/man1", filepath.Base(page))
		m.Man = append(m.Man, name)
		files = append(files, entry{name: name, file: page})
	}
	return r.writePackage(p, m, files...)
}

// writePackage writes the tarball as `npm pack` names it.
func (r *release) writePackage(p platform, m manifest, files ...entry) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	files = append(files, entry{name: "package.json", data: append(text, '\n')})
	for _, name := range []string{"LICENSE", "THIRD_PARTY_LICENSES"} {
		files = append(files, entry{name: name, file: filepath.Join(r.dir(p), name)})
	}
	for i := range files {
		files[i].name = "package/" + files[i].name
	}
	if err := os.MkdirAll(filepath.Join(r.out, "npm"), 0o755); err != nil {
		return err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-") + "-" + r.number() + ".tgz"
	return writeArchive(filepath.Join(r.out, "npm", name), r.date, files)
}
