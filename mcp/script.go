package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/eval"
	"safeshell/gate"
	"safeshell/permit"
	"safeshell/permit/ts"
)

// defaultLimit is the time limit of a run that names none.
const defaultLimit = 120 * time.Second

// job is a script that is asked for, with all that a run depends on.
type job struct {
	kind     permit.Kind
	code     []byte
	file     string // where the code came from; empty: from the call
	args     []string
	dir      string
	env      []string
	commands []string           // declared
	decl     permit.Declaration // of a shell script
	limit    time.Duration      // in force; 0: none
	asked    time.Duration      // as the call gave it
}

// mayRead judges a script's file as what it is read by: cat FILE. Nobody is
// asked.
func (s *server) mayRead(file, dir string) error {
	g := gate.New(gate.Env{Environ: s.environ(), Paths: s.o.Paths})
	v := g.Judge(context.Background(), gate.Request{Layer: gate.Check, Argv: []string{"cat", file}, Dir: dir, Context: eval.AI})
	if v.Action < eval.RequireApproval {
		return nil
	}
	return fmt.Errorf("%s has not been read: %s (rule %s); nothing has run", permit.Show(file), strings.TrimRight(v.Message, "."), v.Rule)
}

// source reads the script of a call; what may also be "commands", in messages.
func (s *server) source(code, language, file, dir string) (job, error) {
	j := job{dir: dir}
	switch {
	case code != "" && file != "":
		return j, errors.New("give code or file, not both; nothing has run")
	case len(code) > permit.MaxScript:
		return j, fmt.Errorf("code has %d bytes, and at most %d can be run; write what it carries to a file and read it from there; nothing has run", len(code), permit.MaxScript)
	case file != "":
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		if err := s.mayRead(file, dir); err != nil {
			return j, err
		}
		b, err := readScript(file)
		if err != nil {
			return j, fmt.Errorf("%w; nothing has run", err)
		}
		j.code, j.file = b, file
	case strings.TrimSpace(code) == "":
		return j, errors.New("give the script as code, or name its file; nothing has run")
	default:
		j.code = []byte(code)
	}
	switch strings.ToLower(language) {
	case "":
		j.kind = permit.Shell
		if j.file != "" && ts.Handles(j.file) {
			j.kind = permit.Module
		}
	case "shell", "sh", "bash":
		j.kind = permit.Shell
	case "typescript", "ts", "javascript", "js":
		j.kind = permit.Module
	default:
		return j, fmt.Errorf("language %q is not known; it is shell or typescript; nothing has run", language)
	}
	return j, j.declare()
}

// readScript reads a regular file, without waiting for a pipe or a device.
func readScript(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case fi.Size() > permit.MaxScript:
		return nil, fmt.Errorf("%s has %d bytes, and at most %d can be run", path, fi.Size(), permit.MaxScript)
	}
	return io.ReadAll(io.LimitReader(f, permit.MaxScript))
}

// name is what messages call the script.
func (j job) name() string {
	if j.file != "" {
		return j.file
	}
	return "code"
}

// declare reads the declaration, without running anything.
func (j *job) declare() (err error) {
	if j.kind == permit.Module {
		if j.commands, err = ts.Declared(j.code); err != nil {
			return fmt.Errorf("%s:%w; nothing has run", j.name(), err)
		}
		return nil
	}
	if j.decl, err = permit.ParseScript(j.name(), j.code); err != nil {
		return fmt.Errorf("%w; nothing has run", err)
	}
	j.commands = j.decl.All()
	return nil
}

// environOf is a call's environment. What says where safeshell's files are and
// who asks is not a call's to change.
func (s *server) environOf(more map[string]string) ([]string, error) {
	env := s.environ()
	for name, value := range more {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0):
			return nil, fmt.Errorf("env: %q cannot be a variable; nothing has run", name)
		case strings.HasPrefix(name, "SAFESHELL_"):
			return nil, fmt.Errorf("env: %s is safeshell's own; leave it out; nothing has run", name)
		case changesStart(name):
			return nil, fmt.Errorf("env: %q changes how shells, interpreters, git or the loader start, so that what runs is not what was shown; leave it out, or set it in the script; nothing has run", name)
		}
		env = set(env, name, value)
	}
	// Agents' markers may be emptied: these hold.
	env = set(env, "SAFESHELL_HOME", s.o.Paths.Home)
	env = set(env, "SAFESHELL_SPOOL", s.o.Paths.Spool)
	return set(env, "SAFESHELL_CONTEXT", "ai"), nil
}

// startNames are the variables by which a shell, an interpreter, git or the loader
// run code or change what names mean before the script's first line; with * any
// of that beginning.
var startNames = strings.Fields(`
	BASH_* SHELLOPTS BASHOPTS ENV PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND IFS PATH HOME CDPATH GLOBIGNORE EXECIGNORE FPATH FUNCNEST FIGNORE HISTFILE HISTTIMEFORMAT TIMEFORMAT ZDOTDIR NULLCMD READNULLCMD KSH_ENV SHELL INPUTRC TERMINFO* TERMCAP POSIXLY_CORRECT XDG_*
	LD_* DYLD_* GTK_MODULES QT_PLUGIN_PATH GIO_* GCONV_PATH NLSPATH LOCPATH HOSTALIASES GLIBC_TUNABLES NIX_LD*
	GIT_* SSH_ASKPASS* SUDO_ASKPASS SUDO_EDITOR EDITOR VISUAL FCEDIT PAGER MANPAGER SYSTEMD_PAGER SYSTEMD_EDITOR BROWSER LESS LESSOPEN LESSCLOSE LESSKEY* LESSEDIT MORE HGRCPATH HGEDITOR DIRENV_* MISE_*
	PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONEXECUTABLE PYTHONUSERBASE PYTHONPLATLIBDIR PYTHONPYCACHEPREFIX PYTHONWARNINGS PYTHONCASEOK PIP_* UV_* PYTEST_ADDOPTS PYTEST_PLUGINS COVERAGE_PROCESS_START
	NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NPM_CONFIG_* npm_config_* YARN_* COREPACK_* DENO_* BUN_OPTIONS BUN_INSPECT* TS_NODE_* ELECTRON_RUN_AS_NODE
	PERL5OPT PERL5LIB PERLLIB PERL5DB PERL5SHELL RUBYOPT RUBYLIB RUBYSHELL RUBYPATH RUBYGEMS_* GEM_* BUNDLE_* PHPRC PHP_INI_SCAN_DIR LUA_INIT* LUA_PATH* LUA_CPATH* R_PROFILE* R_ENVIRON* JULIA_* TCLLIBPATH GUILE_* CAML_LD_LIBRARY_PATH AWKPATH AWKLIBPATH
	JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS JAVA_OPTS DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_* COR_* ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS
	GOFLAGS GOENV GOTOOLCHAIN GOROOT GOTOOLDIR RUSTC* RUSTFLAGS RUSTDOC* RUSTUP_* CARGO_* CC CXX LD AR GCC_EXEC_PREFIX COMPILER_PATH CMAKE_* MAKE MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES
	RSYNC_RSH CVS_RSH SVN_SSH TAR_OPTIONS GREP_OPTIONS ZIPOPT UNZIP WGETRC CURL_HOME VIMINIT EXINIT MYVIMRC VIM VIMRUNTIME EMACSLOADPATH PSQLRC PARALLEL* GNUPGHOME KUBECONFIG KUBE_EDITOR HELM_* DOCKER_CONFIG AWS_CONFIG_FILE AWS_PROFILE AWS_DEFAULT_PROFILE CLOUDSDK_* TF_CLI_* ANSIBLE_* OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES`)

// changesStart says that a variable is one of those.
func changesStart(name string) bool {
	if strings.ContainsAny(name, "%()") {
		return true // a function of bash
	}
	return slices.ContainsFunc(startNames, func(s string) bool {
		prefix, many := strings.CutSuffix(s, "*")
		return name == s || many && strings.HasPrefix(name, prefix)
	})
}

// judged is what the lists say of a job's commands.
type judged struct {
	set    *permit.Set
	result permit.Result
	caller gate.Caller
	cfg    config.Config
	// warnings are what does not count and why.
	warnings []string
}

// judge checks commands as `safeshell run` will do again.
func (s *server) judge(commands, env []string, dir string) (judged, error) {
	cfg, cfgErr := config.Load(s.o.Paths.Config)
	j := judged{cfg: cfg, caller: gate.New(gate.Env{Environ: env, Paths: s.o.Paths}).Caller()}
	if cfgErr != nil {
		j.warnings = append(j.warnings, s.o.Paths.Unreadable(cfgErr))
	}
	set, err := permit.Load(permit.Env{Paths: s.o.Paths, Config: cfg.Permissions, Environ: env, Dir: dir, Session: j.caller.Session})
	if err != nil {
		return j, err
	}
	j.set, j.result = set, set.Check(commands)
	j.warnings = append(j.warnings, set.Warnings...)
	return j, nil
}

// keep writes a script that came as text to a file that lives as long as the
// session, or until remove is called.
func (s *server) keep(j job) (file string, remove func(), err error) {
	s.mu.Lock()
	s.files++
	n := s.files
	s.mu.Unlock()
	dir := filepath.Join(s.scratch(), fmt.Sprint(n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	name := "code.sh"
	if j.kind == permit.Module {
		name = "code.ts"
	}
	file = filepath.Join(dir, name)
	return file, func() { os.RemoveAll(dir) }, os.WriteFile(file, j.code, 0o600)
}
