package gate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// terminalPrograms hold terminals for people, or start their sessions: logins,
// terminal emulators, multiplexers, editors. A terminal that hangs below a
// process of init's (or of systemd's for the user) is a person's if that is one
// of these, or draws windows. The kernel cuts names after 15 characters.
const terminalPrograms = `
	sshd sshd-session dropbear tinysshd login agetty getty mingetty sulogin telnetd in.telnetd rlogind mosh-server
	etterminal etserver ttyd gotty wetty shellinaboxd tailscaled teleport ssm-session-wor session-manager cockpit-bridge
	SessionLeader init lxd-agent incus-agent conmon containerd-shim systemd-nspawn flatpak-session kmscon fbterm
	s6-supervise runsv supervisord launchd gdm-session-wor gdm-x-session gdm-wayland-ses lightdm sddm-helper greetd
	xinit startx xdm lxdm ly slim gnome-session-b gnome-shell plasmashell kwin_wayland sway Hyprland river weston i3
	gnome-terminal- gnome-terminal kgx ptyxis ptyxis-agent tilix terminator guake yakuake konsole dolphin kate
	xfce4-terminal mate-terminal lxterminal qterminal deepin-terminal terminology cool-retro-term sakura roxterm
	xterm uxterm urxvt urxvtd rxvt mlterm aterm eterm st foot footclient havoc kitty alacritty wezterm-gui wezterm-mux-ser
	ghostty rio contour tabby hyper warp warp-terminal waveterm zed zed-editor
	emacs emacs-gtk emacs-lucid neovide gvim code code-insiders codium vscodium code-server code-tunnel openvscode-serv
	cursor windsurf idea pycharm goland webstorm clion rubymine phpstorm rustrover studio jupyter-lab jupyter-noteboo
	jupyter jupyterhub rstudio rsession theia
	tmux tmate screen SCREEN zellij dtach abduco shpool`

// multiplexers keep terminals that nobody may be looking at.
const multiplexers = "tmux tmate screen SCREEN zellij dtach abduco shpool"

// is reports whether a process is one of the programs in a list, by its name or,
// for programs of an interpreter, by its script's.
func (p process) is(list string) bool {
	known := func(name string) bool {
		name, _, _ = strings.Cut(name, ":") // "tmux: server", "sshd: user@pts/0"
		return slices.Contains(strings.Fields(list), name)
	}
	if known(p.comm) {
		return true
	}
	for i, a := range p.argv[:min(len(p.argv), 3)] {
		script := i > 0 && !strings.HasPrefix(a, "-") && (isInterpreter(p.argv[0]) || strings.HasSuffix(p.argv[0], "sh"))
		if (i == 0 || script) && known(filepath.Base(a)) {
			return true
		}
	}
	return false
}

// holdsTerminals reports whether a process is known to hold terminals for
// people.
func (p process) holdsTerminals(proc string) bool {
	if p.is(terminalPrograms) || strings.HasPrefix(p.comm, "Relay(") || drawsWindows(proc, p.pid) {
		return true
	}
	// VS Code and its kin on a machine that is reached by ssh.
	line := strings.Join(p.argv, " ")
	for _, dir := range []string{"/.vscode-server", "/.cursor-server", "/.windsurf-server", "/.cache/JetBrains/"} {
		if strings.Contains(line, dir) {
			return true
		}
	}
	return false
}

// drawsWindows reports whether a process has a library for windows loaded: what
// names are to be known for every new terminal emulator is so for few.
func drawsWindows(proc string, pid int) bool {
	maps, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "maps"))
	if err != nil {
		return false
	}
	for _, lib := range []string{"/libX11.so", "/libxcb.so", "/libwayland-client.so", "/libgtk-", "/libQt"} {
		if bytes.Contains(maps, []byte(lib)) {
			return true
		}
	}
	return false
}

// terminal looks at where the controlling terminal of a chain's first process
// comes from. why is not empty where it is no person's, for certain. stray is
// what holds it where that runs apart from every login, and nobody is known to
// look at it: it may be an agent's, if it is the younger of the two.
func terminal(proc string, chain []process, depth int) (stray *process, why string) {
	me := chain[0]
	if me.sid == 0 && me.tty != 0 {
		return nil, "the session of its terminal cannot be seen from its PID namespace"
	}
	if i := slices.IndexFunc(chain, func(p process) bool { return p.pid == me.sid }); i >= 0 {
		chain = chain[i:]
	} else if me.sid != 0 {
		var gap string
		if chain, gap = lineage(proc, me.sid); gap != "" {
			return nil, "the session of its terminal cannot be followed: " + gap
		}
		if who := agentIn(proc, chain); who != "" {
			return nil, "its terminal is that of an agent: " + who
		}
	}
	top := belowReaper(chain)
	if top == nil || isConsole(top.tty) {
		return nil, ""
	}
	if !top.holdsTerminals(proc) {
		return top, ""
	}
	if top.is(multiplexers) && !attached(proc, *top, depth) {
		return top, ""
	}
	return nil, ""
}

// belowReaper is the process of a chain whose parent, init or the user's
// systemd, did not start it as part of its own session: a service, or what was
// left by its parent. nil when there is none.
func belowReaper(chain []process) *process {
	for i := range chain[:len(chain)-1] {
		p, parent := &chain[i], chain[i+1]
		reaps := parent.pid == 1 || parent.ppid == 1 && (parent.comm == "systemd" || parent.comm == "init")
		if !reaps {
			continue
		}
		if p.sid == parent.sid && (p.pgrp == p.pid || p.pgrp == parent.pgrp) {
			return nil
		}
		return p
	}
	return nil
}

// isConsole tells a terminal that hangs off the machine from a pseudo-terminal,
// which any program can make.
func isConsole(tty int) bool {
	major := unix.Major(uint64(uint32(tty)))
	return tty != 0 && (major < 136 || major > 143)
}

// attached reports whether a person looks at one of a multiplexer's terminals:
// the server has the terminals of its clients open, or there is a client on a
// person's terminal. What another user runs was not started by an agent of this
// one.
func attached(proc string, server process, depth int) bool {
	dir := filepath.Join(proc, strconv.Itoa(server.pid))
	if depth > 4 {
		return false
	}
	if uid, ok := realUID(dir); ok && uid != os.Getuid() && os.Getuid() != 0 {
		return true
	}
	ttys := map[int]bool{}
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	precise := err == nil && server.is("tmux tmate screen SCREEN")
	if precise {
		for _, fd := range fds {
			var st unix.Stat_t
			if unix.Stat(filepath.Join(dir, "fd", fd.Name()), &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR {
				ttys[int(uint32(st.Rdev))] = true
			}
		}
	}
	found := false
	eachProcess(proc, func(pid int) bool {
		p, err := readProc(proc, pid)
		if err != nil || p.tty == 0 || pid == server.pid {
			return true
		}
		if precise {
			if !ttys[p.tty] || p.pid != p.sid {
				return true
			}
		} else if !p.is(multiplexers) {
			return true
		}
		found = looksOn(proc, pid, depth+1)
		return !found
	})
	return found
}

// looksOn reports whether a process is at a person's terminal.
func looksOn(proc string, pid, depth int) bool {
	chain, gap := lineage(proc, pid)
	if gap != "" || agentIn(proc, chain) != "" {
		return false
	}
	stray, why := terminal(proc, chain, depth)
	return stray == nil && why == ""
}

// realUID is who started a process, whatever it may do by now.
func realUID(dir string) (int, bool) {
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return 0, false
	}
	_, line, _ := strings.Cut(string(status), "\nUid:")
	f := strings.Fields(line)
	if len(f) == 0 {
		return 0, false
	}
	uid, err := strconv.Atoi(f[0])
	return uid, err == nil
}

// agentIn names the first process of a chain that is an agent's, by its program
// or by the mark that it was started with; "" when there is none.
func agentIn(proc string, chain []process) string {
	for _, p := range chain {
		if name := p.agent(); name != "" {
			return fmt.Sprintf("process %d is %s", p.pid, name)
		}
		if marked(proc, p.pid) {
			return fmt.Sprintf("process %d (%s) carries an agent's mark", p.pid, p.comm)
		}
	}
	return ""
}

// olderAgent names a living process of this user's agents that was there before
// a moment (in ticks after boot); "" when there is none.
func olderAgent(proc string, start uint64) string {
	who := ""
	eachProcess(proc, func(pid int) bool {
		p, err := readProc(proc, pid)
		if err == nil && p.start <= start {
			who = agentIn(proc, []process{p})
		}
		return who == ""
	})
	return who
}
