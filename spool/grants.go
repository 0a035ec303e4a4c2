package spool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/spool/mask"
)

// DefaultSessionTTL is how long a session answer is remembered.
const DefaultSessionTTL = 8 * time.Hour

// Grant is an answer that is remembered: for a session or always. It is bound
// to the rule, the exact command and the directory, never to a first word.
type Grant struct {
	V       int       `json:"v"`
	ID      string    `json:"id"`  // for grants list and revoke
	Key     string    `json:"key"` // hash of all that it is bound to: its file's name
	Choice  Choice    `json:"choice"`
	Rule    string    `json:"rule"`
	UID     int       `json:"uid"`
	Session string    `json:"session,omitempty"` // only of session answers
	Dir     string    `json:"dir"`
	Exe     string    `json:"exe,omitempty"` // if it was known: then no other one is accepted
	ArgvSHA string    `json:"argv_sha256"`
	Command string    `json:"command"` // for display: masked and cut
	By      string    `json:"by"`      // where it was answered
	Agent   string    `json:"agent,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until,omitzero"` // display only; zero: no end
	// The life of session answers, by CLOCK_BOOTTIME.
	BootID string        `json:"boot_id,omitempty"`
	BootNS int64         `json:"boot_ns,omitempty"`
	TTL    time.Duration `json:"ttl_ns,omitempty"`
	End    bool          `json:"end"`
}

// NewGrant returns the grant that remembers decision d on the command of key
// under rule, with the command as it is to be listed. It is not stored yet.
func NewGrant(rule string, key Key, d Decision, command string) Grant {
	return Grant{
		Choice: d.Choice, Rule: rule, UID: key.UID, Session: key.Session, Dir: key.Dir, Exe: key.Exe,
		ArgvSHA: key.ArgvSHA, Command: command, By: d.By, Reason: d.Reason,
	}
}

// Grants are the remembered answers of one user, a file each, named after a
// hash of what they are bound to, so that a look-up opens two files.
type Grants struct {
	dir  string
	uid  int
	wall func() time.Time
	boot func() time.Duration
	id   func() string
}

// GrantProblem is a file among the grants that is ignored, and why.
type GrantProblem struct {
	Path string
	Err  error
}

// Error names the file and what to do.
func (p *GrantProblem) Error() string {
	if errors.Is(p.Err, ErrNewer) {
		return fmt.Sprintf("%s is ignored: %v; or revoke it: unlink %s", Visible(p.Path), p.Err, quote(p.Path))
	}
	return fmt.Sprintf("%s is ignored: %v; look at it, then run: unlink %s", Visible(p.Path), p.Err, quote(p.Path))
}

// Unwrap returns the cause.
func (p *GrantProblem) Unwrap() error { return p.Err }

// OpenGrants returns the grants in the absolute directory dir. It need not
// exist yet; if it does it must be the caller's own, mode 0700.
func OpenGrants(dir string) (*Grants, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("the directory of grants must be absolute: %q; check SAFESHELL_HOME", dir)
	}
	g := &Grants{dir: filepath.Clean(dir), uid: os.Geteuid(), wall: time.Now, boot: bootNow, id: bootID}
	if err := checkDir(g.dir, g.uid); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return g, nil
}

// key names the file of the answer of this kind; for session answers the
// session counts too. The executable does not: the hook that asks from text
// does not know it.
func (g *Grants) key(c Choice, rule string, k Key) string {
	parts := []string{c.String(), fmt.Sprint(g.uid), rule, k.Dir, k.ArgvSHA}
	if c == Session {
		parts = append(parts, k.Session)
	}
	return hashStrings("grant", parts...)[:32]
}

// Find returns the remembered answer for exactly this command under this rule:
// the one for always, else the one for the session; nil if there is none. What
// is expired, torn or not the caller's own counts as none (List reports it).
// The error is one of the file system.
func (g *Grants) Find(rule string, key Key) (*Grant, error) {
	for _, c := range []Choice{Always, Session} {
		if c == Session && key.Session == "" {
			continue
		}
		gr, err := g.read(g.key(c, rule, key))
		if err != nil {
			if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EIO) {
				return nil, err
			}
			continue
		}
		if gr.Choice == c && (gr.Exe == "" || key.Exe == "" || gr.Exe == key.Exe) && !g.expired(gr) {
			return &gr, nil
		}
	}
	return nil, nil
}

// Add stores gr, replacing an older answer to the same. Only session and always
// are ever remembered. ID, UID, the times and the life are filled in; a
// session's TTL may be given (default 8 h). The command is masked.
func (g *Grants) Add(gr Grant) error {
	switch {
	case gr.Choice != Session && gr.Choice != Always:
		return fmt.Errorf("an answer %q is not remembered", gr.Choice)
	case gr.Choice == Session && gr.Session == "":
		return errors.New("no session to remember the answer for")
	case gr.Rule == "" || gr.Dir == "" || !isHash(gr.ArgvSHA):
		return errors.New("a grant needs a rule, a directory and the hash of a command")
	}
	key := Key{Session: gr.Session, Dir: gr.Dir, ArgvSHA: gr.ArgvSHA}
	gr.Key = g.key(gr.Choice, gr.Rule, key)
	gr.V, gr.ID, gr.UID, gr.End = 1, gr.Key[:12], g.uid, true
	gr.Command, _ = cutMiddle(gr.Command, 16*maxCommand)
	gr.Command, _ = cutMiddle(mask.Text(gr.Command), maxCommand)
	gr.Dir, gr.Reason, gr.At = clip(gr.Dir), clip(gr.Reason), g.wall().Round(0)
	if gr.Choice == Always {
		gr.Session, gr.TTL, gr.BootID, gr.BootNS, gr.Until = "", 0, "", 0, time.Time{}
	} else {
		if gr.TTL <= 0 {
			gr.TTL = DefaultSessionTTL
		}
		gr.BootID, gr.BootNS, gr.Until = g.id(), int64(g.boot()), gr.At.Add(gr.TTL)
		if gr.BootID == "" {
			return errors.New("this system names no boot, so an answer for the session could outlive it; answer once or always")
		}
	}
	data, err := encode(gr)
	if err != nil {
		return err
	}
	if len(data) > maxRecord {
		return fmt.Errorf("a grant of more than %d bytes", maxRecord)
	}
	if err := makeParents(filepath.Dir(g.dir)); err != nil {
		return err
	}
	if err := makeDir(g.dir, g.uid); err != nil {
		return err
	}
	return config.Replace(filepath.Join(g.dir, gr.Key+".json"), data, true)
}

func (g *Grants) read(key string) (Grant, error) {
	data, err := readStrict(filepath.Join(g.dir, key+".json"), g.uid, 1, maxRecord)
	if err != nil {
		return Grant{}, err
	}
	gr, err := decodeGrant(data)
	if err == nil && (gr.Key != key || gr.ID != key[:12]) {
		err = errors.New("its content is that of another grant")
	}
	return gr, err
}

func decodeGrant(data []byte) (Grant, error) {
	var gr Grant
	if err := json.Unmarshal(data, &gr); err != nil {
		return Grant{}, err
	}
	switch {
	case gr.V != recordVersion:
		return Grant{}, ofVersion(gr.V)
	case !gr.End:
		return Grant{}, errNoEnd
	case gr.Choice != Session && gr.Choice != Always:
		return Grant{}, fmt.Errorf("a remembered answer of %d", gr.Choice)
	case gr.Choice == Session && (gr.Session == "" || gr.BootID == "" || gr.TTL <= 0):
		return Grant{}, errors.New("a session answer without session or life span")
	case gr.Rule == "" || gr.Dir == "" || !isHash(gr.ArgvSHA):
		return Grant{}, errors.New("a grant without rule, directory or command hash")
	}
	return gr, nil
}

// expired reports whether a session answer is over: by its time, with suspend
// counted, or because the machine was started anew.
func (g *Grants) expired(gr Grant) bool {
	if gr.Choice == Always {
		return false
	}
	age := g.boot() - time.Duration(gr.BootNS)
	return gr.BootID != g.id() || age < 0 || age >= gr.TTL
}

// List returns the grants in force, oldest first. Expired ones are removed on
// the way. The error joins a *GrantProblem for each file that is ignored; the
// grants beside it are good.
func (g *Grants) List() ([]Grant, error) {
	entries, err := os.ReadDir(g.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Grant
	var problems []error
	for _, e := range entries {
		path := filepath.Join(g.dir, e.Name())
		if strings.HasPrefix(e.Name(), ".new-") {
			if fi, err := e.Info(); err == nil && g.wall().Sub(fi.ModTime()).Abs() > time.Hour {
				os.Remove(path) // of a process killed while writing
			}
			continue
		}
		key, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || len(key) != 32 {
			problems = append(problems, &GrantProblem{path, errors.New("it is not a grant")})
			continue
		}
		gr, err := g.read(key)
		switch {
		case errors.Is(err, fs.ErrNotExist): // revoked just now
		case err != nil:
			problems = append(problems, &GrantProblem{path, err})
		case g.expired(gr):
			os.Remove(path)
		default:
			out = append(out, gr)
		}
	}
	slices.SortFunc(out, func(a, b Grant) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return out, errors.Join(problems...)
}

// Revoke forgets the grant with this id, of which the first 4 characters are
// enough if they fit one grant only.
func (g *Grants) Revoke(id string) error {
	list, err := g.List()
	var found []string
	for _, gr := range list {
		if gr.ID == id || len(id) >= 4 && strings.HasPrefix(gr.ID, id) {
			found = append(found, gr.Key+".json")
		}
	}
	switch len(found) {
	case 1:
		if err := os.Remove(filepath.Join(g.dir, found[0])); err != nil {
			return err
		}
		return config.SyncDir(g.dir)
	case 0:
		var pe *fs.PathError
		if len(list) == 0 && errors.As(err, &pe) {
			return err
		}
		return fmt.Errorf("no grant has the id %q; see: safeshell grants list", clip(id))
	}
	return fmt.Errorf("%d grants begin with %q; give more of the id, see: safeshell grants list", len(found), clip(id))
}
