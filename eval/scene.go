package eval

import (
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// scene is the little world that examples of rules are judged in: a home with
// a repository, some of whose files git holds. It is built without git and
// described in docs/rules.md.
type scene struct {
	root, home, proj string
}

// What git holds in the scene, and what it does not.
var (
	sceneTracked = [...]string{"README.md", "package.json", "src/app.go", "src/util.go", "config/app.yaml", "scripts/build.sh", ".env.example", "src/dirty.go"}
	sceneLoose   = [...]string{"notes.txt", "data.db", "scratch/idea.md", "src/draft.go", ".env", ".env.local", "certs/server.key", "app.log", "build/app", "dist/app.js", "node_modules/a/index.js"}
	sceneHome    = [...]string{".ssh/id_rsa", ".ssh/id_rsa.pub", ".ssh/id_ed25519", ".ssh/id_ed25519.pub", ".ssh/config", ".aws/credentials", ".aws/config", ".docker/config.json", ".bashrc", ".zshrc", ".profile", "other/file.txt", "Documents/x.pdf", ".claude/settings.json", ".codex/hooks.json", ".local/share/Trash/info/x.trashinfo", ".safeshell/rules.yaml"}
)

const (
	sceneBranch = "topic"
	sceneDirty  = "src/dirty.go" // tracked, and changed since
)

// newScene builds the scene in a fresh temporary directory.
func newScene() (*scene, error) {
	root, err := os.MkdirTemp("", "safeshell-rules-")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	s := &scene{root: root, home: filepath.Join(root, "home"), proj: filepath.Join(root, "home", "proj")}
	if err := s.build(); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *scene) remove() { os.RemoveAll(s.root) }

func (s *scene) build() error {
	past := time.Now().Add(-time.Hour)
	put := func(dir, name string) error {
		f := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(f, []byte("content of "+name+"\n"), 0o644); err != nil {
			return err
		}
		return os.Chtimes(f, past, past)
	}
	for _, n := range sceneHome {
		if err := put(s.home, n); err != nil {
			return err
		}
	}
	for _, list := range [][]string{sceneTracked[:], sceneLoose[:]} {
		for _, n := range list {
			if err := put(s.proj, n); err != nil {
				return err
			}
		}
	}
	git := filepath.Join(s.proj, ".git")
	for _, d := range [...]string{"objects", "refs/heads", "refs/remotes/origin", "hooks"} {
		if err := os.MkdirAll(filepath.Join(git, d), 0o755); err != nil {
			return err
		}
	}
	for f, text := range map[string]string{
		"config":           "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		"refs/heads/main":  sceneRef,
		"refs/heads/topic": sceneRef,
		"hooks/pre-commit": "#!/bin/sh\n",
		"packed-refs":      "# pack-refs with: peeled fully-peeled sorted \n",
		"index.lock":       "",
	} {
		if err := os.WriteFile(filepath.Join(git, f), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := s.branch(sceneBranch); err != nil {
		return err
	}
	if err := s.index(filepath.Join(git, "index")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.proj, sceneDirty), []byte("changed since\n"), 0o644)
}

// sceneRef is a branch's commit: its name exists, the commit need not.
var sceneRef = strings.Repeat("1", 40) + "\n"

// branch checks a branch out, for rules that look at it.
func (s *scene) branch(name string) error {
	if err := os.WriteFile(filepath.Join(s.proj, ".git", "refs", "heads", filepath.FromSlash(name)), []byte(sceneRef), 0o644); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(filepath.Join(s.proj, ".git", "HEAD"), []byte("ref: refs/heads/"+name+"\n"), 0o644)
}

// index writes a git index (version 2) of the tracked files as they are.
func (s *scene) index(file string) error {
	names := append([]string(nil), sceneTracked[:]...)
	sort.Strings(names)
	b := append([]byte("DIRC"), 0, 0, 0, 2)
	b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
	for _, n := range names {
		var st unix.Stat_t
		if err := unix.Lstat(filepath.Join(s.proj, n), &st); err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(s.proj, n))
		if err != nil {
			return err
		}
		start := len(b)
		for _, v := range [...]int64{st.Ctim.Nano() / 1e9, st.Ctim.Nano() % 1e9, st.Mtim.Nano() / 1e9, st.Mtim.Nano() % 1e9,
			int64(st.Dev), int64(st.Ino), 0o100644, int64(st.Uid), int64(st.Gid), st.Size} {
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		}
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", len(data))
		h.Write(data)
		b = h.Sum(b)
		b = binary.BigEndian.AppendUint16(b, uint16(len(n)))
		b = append(b, n...)
		for n := 8 - (len(b)-start)%8; n > 0; n-- {
			b = append(b, 0)
		}
	}
	sum := sha1.Sum(b)
	return os.WriteFile(file, append(b, sum[:]...), 0o644)
}

// environ is the environment in the scene: the caller's, at home in it.
func (s *scene) environ(own []string) []string {
	var out []string
	for _, e := range own {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "PATH":
			path := s.home + "/.safeshell/shims"
			for _, d := range strings.Split(e[len("PATH="):], ":") {
				// Where the caller works is not to change what examples mean.
				if !strings.HasPrefix(d, "/tmp/") && !strings.HasPrefix(d, "/var/tmp/") {
					path += ":" + d
				}
			}
			out = append(out, "PATH="+path)
		case "HOME", "PWD", "OLDPWD", "TMPDIR", "GIT_DIR", "GIT_WORK_TREE", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR":
		default:
			out = append(out, e)
		}
	}
	return append(out, "HOME="+s.home, "PWD="+s.proj, "TMPDIR=/tmp")
}
