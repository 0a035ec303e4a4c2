package agents

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Claude Code runs commands that stand in the text of a skill or a slash
// command, !`like this` or in a block that begins with ```!, while it loads the
// text: its hook is told of the tool Skill and of no command (measured with
// 2.1.330). So the call is judged by what the file holds.

var (
	inlineCommand = regexp.MustCompile("(?m)(?:^|\\s)!`([^`]+)`")
	blockCommand  = regexp.MustCompile("(?ms)^[ \t]*```!\\s*?\\n(.*?)^[ \t]*```")
	skillTitle    = regexp.MustCompile(`(?m)\A---\r?\n(?:.*\r?\n)*?name:[ \t]*["']?([^"'\r\n]+)["']?[ \t]*\r?$`)
	skillArgument = regexp.MustCompile(`\$(?:ARGUMENTS(?:\[(\d{1,3})\])?|(\d{1,3}))`)
)

const (
	maxSkill      = 1 << 20 // bytes of a skill's file that are read
	maxSkillFiles = 2000    // files that are looked at below one directory
)

// skillLines returns the commands that loading a skill would run, with the
// arguments put in as Claude does: as text. Several files may have the name;
// all of them count. A skill that is found nowhere (built in, of a plugin) has
// none.
func (e *event) skillLines(dir, name, args string) []string {
	scope, last := "", name
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		scope, last = name[:i], name[i+1:]
	}
	if last == "" {
		return nil
	}
	base := e.getenv("CLAUDE_CONFIG_DIR")
	if !filepath.IsAbs(base) {
		base = filepath.Join(e.getenv("HOME"), ".claude")
	}
	roots := []string{base}
	for d := dir; filepath.IsAbs(d); d = filepath.Dir(d) {
		roots = append(roots, filepath.Join(d, ".claude"))
		if scope != "" && !strings.Contains(scope, "..") {
			roots = append(roots, filepath.Join(d, scope, ".claude"))
		}
		if d == "/" {
			break
		}
	}
	var out []string
	seen := map[string]bool{}
	for _, root := range roots {
		for _, kind := range []string{"skills", "commands"} {
			if r := filepath.Join(root, kind); filepath.IsAbs(r) && !seen[r] {
				seen[r] = true
				out = append(out, skillsBelow(r, last, args)...)
			}
		}
	}
	return out
}

func skillsBelow(root, name, args string) []string {
	var out []string
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	files := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read cannot be loaded either
		}
		if files++; files > maxSkillFiles {
			return filepath.SkipAll
		}
		if d.Type()&fs.ModeSymlink != 0 { // a linked skill directory
			if sub := filepath.Join(path, "SKILL.md"); isRegular(sub) {
				out = append(out, skillFile(sub, name, args)...)
			}
		}
		if strings.HasSuffix(strings.ToLower(path), ".md") && isRegular(path) {
			out = append(out, skillFile(path, name, args)...)
		}
		return nil
	})
	return out
}

func isRegular(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// skillFile returns the commands of one file if it goes by the name: that of its
// directory, of the file, or the one in its head.
func skillFile(path, name, args string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, _ := io.ReadAll(io.LimitReader(file, maxSkill)) // a part is better than nothing
	text := string(data)
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	title := ""
	if m := skillTitle.FindStringSubmatch(text); m != nil {
		title = strings.TrimSpace(m[1])
	}
	if name != title && name != stem && name != filepath.Base(filepath.Dir(path)) {
		return nil
	}
	words := strings.Fields(args)
	text = skillArgument.ReplaceAllStringFunc(text, func(s string) string {
		m := skillArgument.FindStringSubmatch(s)
		n, err := strconv.Atoi(m[1] + m[2])
		switch {
		case err != nil:
			return args
		case n < len(words):
			return words[n]
		}
		return ""
	})
	var out []string
	for _, m := range inlineCommand.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	for _, m := range blockCommand.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}
