package cli

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"

	"safeshell/shims"
)

// What is set by the linker: the release, the commit it was built from and that
// commit's date, and the entry that the program starts at where it is not the
// runtime's own. A build without git has none but "dev".
var (
	Version = "dev"
	Commit  string
	Date    string
	Entry   string
)

type versionCmd struct {
	JSON bool `help:"Print one JSON object." name:"json"`
}

// build is what `safeshell version` tells about this program.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"` // of the commit: a build from it has no other
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Binary  string `json:"binary"`
	Build   struct {
		Tags     []string `json:"tags"`
		Trimpath bool     `json:"trimpath"`
		Cgo      bool     `json:"cgo"`
		Entry    string   `json:"entry"`
		Whole    string   `json:"whole"` // linked, or carried as a second program
	} `json:"build"`
}

func thisBuild() build {
	b := build{Version: Version, Commit: Commit, Date: Date, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Binary: self()}
	b.Build.Entry, b.Build.Whole, b.Build.Tags = cmp.Or(Entry, "runtime"), "linked", []string{}
	if shims.Carried() {
		b.Build.Whole, b.Build.Tags = "carried", []string{"split"} // those of the carrier, not of this process
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; b.Version == "dev" && strings.HasPrefix(v, "v") {
		b.Version = v // go install module@version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags":
			b.Build.Tags = append(b.Build.Tags, strings.Split(s.Value, ",")...)
		case "-trimpath":
			b.Build.Trimpath = s.Value == "true"
		case "CGO_ENABLED":
			b.Build.Cgo = s.Value == "1"
		case "vcs.revision":
			b.Commit = cmp.Or(b.Commit, s.Value)
		case "vcs.time":
			b.Date = cmp.Or(b.Date, s.Value)
		}
	}
	return b
}

func (c *versionCmd) Run(a *app) error {
	b := thisBuild()
	if c.JSON {
		return a.encode(b)
	}
	from := cmp.Or(b.Commit, "unknown")
	if b.Date != "" {
		from += " of " + b.Date
	}
	return a.printf("safeshell %s\ncommit: %s\nbuilt:  %s for %s/%s, tags %q, entry %s, command line %s\nbinary: %s\n",
		visible(b.Version), visible(from), b.Go, b.OS, b.Arch, strings.Join(b.Build.Tags, ","), b.Build.Entry, b.Build.Whole, visible(b.Binary))
}
