package script

import (
	"safeshell/command"
	"strings"
)

// tmux follows the commands that start programs or type keys; a line may hold
// several, separated by ";".
func (a *analyzer) tmux(k *call, i int) {
	k.c.sink.lose()
	at := skipOptions(k.argv, 1, " -c -f -L -S -T ")
	for j := 1; j+1 < at && j+1 < len(k.argv); j++ {
		if wordIs(k.argv[j], "-c") {
			a.codeWord(k.argv[j+1], POSIX, a.child(k), k.typed("tmux"), "the command given to tmux")
		}
	}
	for at < len(k.argv) {
		end := at
		for end < len(k.argv) {
			t, ok := k.argv[end].Text()
			if ok && (t == ";" || t == `\;`) {
				break
			}
			end++
			if ok && strings.HasSuffix(t, ";") && !strings.HasSuffix(t, `\;`) {
				break
			}
		}
		if end > at { // else a separator stands first
			a.tmuxCommand(k, i, at, end)
		}
		for at = end; at < len(k.argv); at++ {
			if t, ok := k.argv[at].Text(); !ok || t != ";" && t != `\;` {
				break
			}
		}
	}
}

// typed is the surrounding of a command that runs in another terminal.
func (k *call) typed(via string) *ctx {
	c := k.inner(via)
	c.sink, c.stdin, c.fedBy = nil, nil, nil
	return c
}

func (a *analyzer) tmuxCommand(k *call, i, at, end int) {
	sub, _ := k.argv[at].Text()
	words := k.argv[at+1 : end]
	rest := func(takes string) []Word {
		if n := skipOptions(words, 0, takes); n < len(words) {
			return words[n:]
		}
		return nil
	}
	start := func(ws []Word) {
		if len(ws) == 0 {
			return
		}
		st := a.child(k)
		for j := 0; j+1 < len(words)-len(ws); j++ {
			if wordIs(words[j], "-c") {
				st.dir = under(k.dir, words[j+1])
			}
		}
		c := k.typed("tmux " + sub)
		if len(ws) == 1 {
			a.codeWord(ws[0], POSIX, st, c, "the command given to tmux")
			return
		}
		sub := *k
		sub.argv, sub.c, sub.dir, sub.outside, sub.tail = ws, c, st.dir, true, 0
		sub.redirs, sub.keyword = nil, false
		a.run(&sub)
	}
	for _, w := range words {
		if strings.Contains(wordName(w), "#(") {
			a.unknown("tmux runs what stands in #()", k.c.src, k.span)
		}
	}
	switch sub {
	case "new", "new-session", "new-s":
		start(rest(" -c -e -f -F -n -s -t -x -y "))
	case "neww", "new-window", "splitw", "split-window", "respawnp", "respawn-pane", "respawnw", "respawn-window":
		start(rest(" -c -e -F -l -n -p -t "))
	case "popup", "display-popup":
		start(rest(" -b -c -d -e -h -s -S -t -T -w -x -y "))
	case "run", "run-shell", "pipe-pane", "pipep":
		if ws := rest(" -c -d -t "); len(ws) > 0 {
			a.codeWord(ws[0], POSIX, a.child(k), k.typed("tmux "+sub), "the command given to tmux")
		}
	case "if", "if-shell":
		if ws := rest(" -t "); len(ws) > 0 {
			a.codeWord(ws[0], POSIX, a.child(k), k.typed("tmux "+sub), "the command given to tmux")
			for _, w := range ws[1:] {
				if t, ok := w.Text(); ok && !strings.HasPrefix(t, "display") {
					a.unknown("tmux commands in text are not analysed: "+clip(t), k.c.src, k.span)
				}
			}
		}
	case "bind", "bind-key", "set-hook", "confirm", "confirm-before", "command-prompt", "choose-tree", "choose-buffer", "choose-client":
		if ws := rest(" -t -T -N -p -I -F -f -K -O "); len(ws) > 0 {
			a.unknown("tmux commands that run later are not analysed", k.c.src, k.span)
		}
	case "set", "set-option", "setw", "set-window-option":
		if ws := rest(" -t "); len(ws) > 1 && (wordIs(ws[0], "default-command") || wordIs(ws[0], "default-shell")) {
			a.codeWord(ws[1], POSIX, a.child(k), k.typed("tmux "+sub), "the command given to tmux")
		}
	case "send", "send-keys", "set-buffer", "setb":
		a.keys(k, rest(" -t -N -c -b -n "), "tmux "+sub)
	case "source", "source-file":
		for _, w := range rest(" -t ") {
			if len(a.fileOf(k.dir, w)) > 0 {
				a.unknown("tmux reads a file that the same text wrote", k.c.src, k.span)
			}
		}
	}
}

// keys follows text that is typed into a terminal.
func (a *analyzer) keys(k *call, words []Word, via string) {
	line := Word{}
	for _, w := range words {
		t, ok := w.Text()
		switch {
		case !ok:
			line.Parts = append(line.Parts, w.Parts...)
		case t == "Enter" || t == "KPEnter" || t == "C-m" || t == "C-j" || t == "^M":
			line.Parts = append(line.Parts, Part{Text: "\n"})
		case t == "Space":
			line.Parts = append(line.Parts, Part{Text: " "})
		case t == "Tab" || t == "Escape" || len(t) == 3 && (t[:2] == "C-" || t[:2] == "M-"):
		default:
			line.Parts = append(line.Parts, Part{Text: t})
		}
	}
	line.Parts = merge(line.Parts)
	for i := range line.Parts {
		if p := &line.Parts[i]; p.Kind == Literal {
			p.Text = strings.NewReplacer("\r", "\n", "^M", "\n", `\n`, "\n", `\015`, "\n", `\r`, "\n").Replace(p.Text)
		}
	}
	st := awayState()
	st.noEnv = k.st.noEnv
	a.codeWord(line, Bash, st, k.typed(via), "what "+via+" types")
}

// screen follows its command, and -X stuff.
func (a *analyzer) screen(k *call, i int) {
	k.c.sink.lose()
	opts, at, _ := scan(k.argv, 1, command.Of("screen"))
	if at >= len(k.argv) {
		return
	}
	if hasOpt(opts, "-X") {
		switch t, _ := k.argv[at].Text(); t {
		case "stuff":
			a.keys(k, k.argv[at+1:], "screen stuff")
		case "exec", "screen":
			a.tailAt(k, i, at+1, "screen")
		}
		return
	}
	a.tailAt(k, i, at, "screen")
}
