package permit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"safeshell/config"
	"safeshell/spool"
)

// storeVersion is that of the files which this package writes.
const storeVersion = 1

// maxStore bounds a file of remembered commands, in bytes.
const maxStore = 1 << 20

// Permitted is a command that a human has permitted for longer than once.
type Permitted struct {
	Command string    `json:"command"` // Decision.Key
	At      time.Time `json:"at"`
	By      string    `json:"by"` // monitor, cli, tty, agent
	// Of session answers: their age counts since boot.
	Stamp stamp `json:"stamp,omitzero"`
}

// Remembered are the answers for one project, shared by its worktrees. They
// live under SAFESHELL_HOME, never in the repository.
type Remembered struct {
	dir   string // SAFESHELL_HOME/permits/<hash>
	area  Area
	clock clock
	wall  func() time.Time
}

// rememberedFile is the file of one scope.
type rememberedFile struct {
	V        int         `json:"v"`
	Project  string      `json:"project"`
	Session  string      `json:"session,omitempty"`
	Commands []Permitted `json:"commands"`
	End      bool        `json:"end"`
}

// OpenRemembered returns the answers for a project. Nothing is made before the
// first Add.
func OpenRemembered(p config.Paths, a Area) (*Remembered, error) {
	if !filepath.IsAbs(p.Home) {
		return nil, errors.New("safeshell's home is not known; set SAFESHELL_HOME to an absolute path")
	}
	return &Remembered{dir: filepath.Join(p.Home, "permits", a.Hash()), area: a, clock: systemClock(), wall: time.Now}, nil
}

func (r *Remembered) file(scope Scope, session string) string {
	if scope == Always {
		return filepath.Join(r.dir, "always.json")
	}
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(r.dir, "session-"+hex.EncodeToString(sum[:8])+".json")
}

// load returns the answers in force. A file that is damaged or from a newer
// safeshell permits nothing and is left as it is.
func (r *Remembered) load(scope Scope, session string) ([]Permitted, error) {
	if scope == Session && session == "" {
		return nil, nil
	}
	f, err := r.read(scope, session)
	return f.Commands, err
}

func (r *Remembered) read(scope Scope, session string) (rememberedFile, error) {
	empty := rememberedFile{V: storeVersion, Project: r.area.Main, End: true}
	if scope == Session {
		empty.Session = session
	}
	path := r.file(scope, session)
	data, err := readPrivate(path, maxStore)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, err
	}
	f, err := decodeRemembered(data)
	switch {
	case err != nil:
		return empty, fmt.Errorf("%s permits nothing: %w; look at it, then run: mv %s %s", Show(path), err, Show(path), Show(path+".old"))
	case f.Project != r.area.Main || f.Session != empty.Session:
		return empty, fmt.Errorf("%s permits nothing: it is another project's or session's; look at it, then run: mv %s %s", Show(path), Show(path), Show(path+".old"))
	}
	if scope == Session {
		f.Commands = slices.DeleteFunc(f.Commands, func(p Permitted) bool {
			return !r.clock.fresh(p.Stamp, int64(spool.DefaultSessionTTL))
		})
	}
	return f, nil
}

func decodeRemembered(data []byte) (rememberedFile, error) {
	var f rememberedFile
	if err := json.Unmarshal(data, &f); err != nil {
		return rememberedFile{}, fmt.Errorf("it is damaged (%w)", err)
	}
	switch {
	case f.V > storeVersion:
		return rememberedFile{}, fmt.Errorf("it is of version %d, this safeshell knows %d; update safeshell", f.V, storeVersion)
	case f.V != storeVersion || !f.End:
		return rememberedFile{}, errors.New("it is cut off")
	}
	for _, c := range f.Commands {
		if c.Command == "" || strings.ContainsRune(c.Command, 0) {
			return rememberedFile{}, errors.New("it holds an empty command")
		}
	}
	return f, nil
}

// Add permits commands (Decision.Key) for the session or always. A file that
// cannot be understood is not overwritten: the error says so.
func (r *Remembered) Add(scope Scope, session, by string, commands []string) error {
	if scope == Session && session == "" {
		return errors.New("no session is known to remember this for; choose once or always")
	}
	if scope == Session && r.clock.now().BootID == "" {
		return errors.New("this system names no boot, so an answer for the session could outlive it; choose once or always")
	}
	return r.change(scope, session, func(f *rememberedFile) {
		for _, c := range commands {
			f.Commands = slices.DeleteFunc(f.Commands, func(p Permitted) bool { return p.Command == c })
			p := Permitted{Command: c, At: r.wall().UTC().Round(0), By: by}
			if scope == Session {
				p.Stamp = r.clock.now()
			}
			f.Commands = append(f.Commands, p)
		}
	})
}

// Remove revokes commands from both scopes and returns those that were there.
func (r *Remembered) Remove(session string, commands []string) ([]string, error) {
	gone := map[string]bool{}
	for _, scope := range []Scope{Always, Session} {
		if scope == Session && session == "" {
			continue
		}
		if _, err := os.Lstat(r.file(scope, session)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := r.change(scope, session, func(f *rememberedFile) {
			f.Commands = slices.DeleteFunc(f.Commands, func(p Permitted) bool {
				if slices.Contains(commands, p.Command) {
					gone[p.Command] = true
					return true
				}
				return false
			})
		})
		if err != nil {
			return sortedKeys(gone), err
		}
	}
	return sortedKeys(gone), nil
}

// change is a read, a change and a write under the project's lock.
func (r *Remembered) change(scope Scope, session string, edit func(*rememberedFile)) error {
	if err := makePrivateDir(r.dir); err != nil {
		return err
	}
	unlock, err := lockFile(filepath.Join(r.dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	f, err := r.read(scope, session)
	if err != nil {
		return err
	}
	edit(&f)
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return config.Replace(r.file(scope, session), append(data, '\n'), true)
}
