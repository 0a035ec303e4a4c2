package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

// dir is where a platform's files stand as its archive has them.
func (r *release) dir(p platform) string { return filepath.Join(r.work, p.String()) }

// texts go from the tree into every package.
var texts = []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"}

// stage builds the programs, and puts beside each what all of them carry.
func (r *release) stage() error {
	for _, p := range r.platforms {
		if err := r.build(p); err != nil {
			return err
		}
	}
	docs := exec.Command("go", "run", "./internal/release/docs",
		"-version", r.version, "-date", r.date.Format(time.DateOnly), "-out", filepath.Join(r.work, "docs"))
	if err := perform(docs); err != nil {
		return err
	}
	licences, err := r.licences()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "THIRD_PARTY_LICENSES"), licences, 0o644); err != nil {
		return err
	}
	for _, p := range r.platforms {
		if err := os.CopyFS(r.dir(p), os.DirFS(filepath.Join(r.work, "docs"))); err != nil {
			return err
		}
		for _, name := range texts {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(r.dir(p), name), text, 0o644); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(r.dir(p), "THIRD_PARTY_LICENSES"), licences, 0o644); err != nil {
			return err
		}
		if err := os.Symlink("safeshell", filepath.Join(r.dir(p), "safeshell-wrapper")); err != nil {
			return err
		}
	}
	return nil
}

// build makes a platform's program as `make build` does. What a person has set
// for Go in general does not get into it.
func (r *release) build(p platform) error {
	fmt.Fprintf(os.Stderr, "release: building %s\n", p)
	c := exec.Command("make", "-s", "build", "GOOS="+p.os, "GOARCH="+p.arch, "VERSION="+r.version, "COMMIT="+r.commit,
		"DATE="+r.date.Format(time.RFC3339), "BIN="+filepath.Join(r.dir(p), "safeshell"))
	c.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "MAKEFLAGS=")
	return perform(c)
}

// compressed is a text as gzip has it without time, name and system.
func compressed(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(text)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

const debianChangelog = `safeshell ({{.Version}}-1) unstable; urgency=medium

  * Release {{.Version}}; see changelog.gz for what changed.

 -- {{.Maintainer}}  {{.Date}}
`

const debianCopyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: safeshell
Source: {{.Homepage}}

Files: *
Copyright: 2026 the safeshell authors
License: MIT
Comment: The program is linked with modules of others, whose licences are in
 /usr/share/doc/safeshell/THIRD_PARTY_LICENSES.

License: MIT
{{.Licence}}`

const maintainer = "the safeshell authors <safeshell@invalid.invalid>"

func (r *release) homepage() string { return "https://github.com/" + r.repository }

// packages makes deb, rpm and apk for each Linux platform.
func (r *release) packages() error {
	form := versionForm.FindStringSubmatch(r.version)
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	facts := map[string]string{
		"Version": strings.TrimSuffix(form[1]+"~"+form[2], "~"), "Maintainer": maintainer, "Homepage": r.homepage(),
		"Date":    r.date.Format(time.RFC1123Z),
		"Licence": indented(string(licence[bytes.Index(licence, []byte("Permission")):])),
	}
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		if err := r.beside(p, facts); err != nil {
			return err
		}
		for _, kind := range []string{"deb", "rpm", "apk"} {
			c := r.tool("nfpm", "package", "--config", "internal/release/nfpm.yaml", "--packager", kind, "--target", r.out)
			c.Env = append(c.Env, "ARCH="+p.arch, "VERSION="+form[1], "PRERELEASE="+form[2], "PLATFORM="+r.dir(p),
				"MAINTAINER="+maintainer, "HOMEPAGE="+r.homepage())
			if err := perform(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// beside writes what packages have in another form than the archive.
func (r *release) beside(p platform, facts map[string]string) error {
	files := map[string][]byte{}
	pages, err := filepath.Glob(filepath.Join(r.dir(p), "man/man1/*.1"))
	if err != nil {
		return err
	}
	for _, path := range append(pages, filepath.Join(r.dir(p), "CHANGELOG.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if files[path+".gz"], err = compressed(text); err != nil {
			return err
		}
	}
	var log, rights bytes.Buffer
	if err := errors.Join(
		template.Must(template.New("").Parse(debianChangelog)).Execute(&log, facts),
		template.Must(template.New("").Parse(debianCopyright)).Execute(&rights, facts),
	); err != nil {
		return err
	}
	if files[filepath.Join(r.dir(p), "changelog.Debian.gz")], err = compressed(log.Bytes()); err != nil {
		return err
	}
	files[filepath.Join(r.dir(p), "copyright")] = rights.Bytes()
	for path, text := range files {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// indented is a text as a field of a Debian control file holds it.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			line = ".\n"
		}
		b.WriteString(" " + line)
	}
	return b.String()
}
