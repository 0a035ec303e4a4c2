package eval

import (
	"embed"
	"fmt"
)

//go:generate go run ./genpacks packs.bin

// packNames are the built-in packs, in order of loading.
var packNames = [...]string{
	"core", "git", "secrets", "system", "containers", "kubernetes",
	"cloud", "databases", "publishing", "remote-code", "self-protection",
}

// The packs as people read them. They are the truth; packs.bin is made from
// them.
//
//go:embed packs/*.yaml
var packFiles embed.FS

// The packs as they run: no YAML is read at start.
//
//go:embed packs.bin
var packsCompiled string

func packIndex(name string) uint8 {
	for i, p := range packNames {
		if p == name {
			return uint8(i)
		}
	}
	return 255
}

// PackNames returns the names of the built-in packs.
func PackNames() []string { return packNames[:] }

// PackYAML returns a built-in pack as people read it.
func PackYAML(name string) ([]byte, error) {
	return packFiles.ReadFile("packs/" + name + ".yaml")
}

// CompilePacks returns what packs.bin must hold.
func CompilePacks() ([]byte, error) {
	rules, err := parsePacks()
	if err != nil {
		return nil, err
	}
	return encodeBlob(rules, ""), nil
}

// parsePacks reads the YAML of all packs.
func parsePacks() ([]rule, error) {
	var all []rule
	for _, name := range packNames {
		data, err := PackYAML(name)
		if err != nil {
			return nil, err
		}
		f, problems := parsePack(name, data)
		if len(problems) > 0 {
			p := problems[0]
			return nil, fmt.Errorf("packs/%s.yaml:%d:%d: %s (%s)", name, p.Line, p.Column, p.Message, p.Fix)
		}
		for _, r := range f.rules {
			r.pack, r.ord = name, len(all)
			all = append(all, r)
		}
	}
	return all, nil
}

func parsePack(name string, data []byte) (*ruleFile, []Problem) {
	s := &schema{yamlReader: yamlReader{file: "packs/" + name + ".yaml"}, kind: fromPack, pack: name}
	return s.read(data)
}
