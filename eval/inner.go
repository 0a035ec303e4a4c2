package eval

import (
	"strings"

	"safeshell/script"
)

// inner returns commands that are hidden in the arguments of this one and that
// the analysis does not list: what safeshell itself would judge and run, and
// scripts that frameworks give a command line of their own (manage.py flush,
// artisan migrate:fresh).
func (v *view) inner() []*script.Analysis {
	switch v.line.name {
	case "safeshell", "safeshell-wrapper":
		return v.throughSafeshell()
	case "python", "php", "ruby", "node", "perl":
		if a := v.scriptCommand(); a != nil {
			return []*script.Analysis{a}
		}
	}
	return nil
}

// throughSafeshell is the command of safeshell exec -- cmd and safeshell -c
// text.
func (v *view) throughSafeshell() []*script.Analysis {
	args := v.words(1)
	options := func() script.Options {
		return script.Options{Dir: v.dir, Lookup: v.lookup, GitAliases: v.r.GitAliases, Wrappers: v.r.Wrappers(), Budget: v.a.Budget}
	}
	for i, w := range args {
		s, ok := w.Text()
		if !ok {
			return nil
		}
		if i == 0 && s == "exec" && v.line.name == "safeshell" {
			rest := args[1:]
			if len(rest) > 0 {
				if s, _ := rest[0].Text(); s == "--" {
					rest = rest[1:]
				}
			}
			var argv []string
			for _, w := range rest {
				s, ok := w.Text()
				if !ok {
					// The words as they are, under their own name.
					c := *v.c
					c.Argv, c.TailOf = rest, -1
					return []*script.Analysis{{Text: v.a.Text, Commands: []script.Command{c}, Budget: v.a.Budget}}
				}
				argv = append(argv, s)
			}
			if len(argv) == 0 {
				return nil
			}
			a := script.FromArgv(argv, options())
			return []*script.Analysis{&a}
		}
		if !strings.HasPrefix(s, "-") {
			return nil
		}
		if s[1:] != "" && s[1] != '-' && strings.Contains(s, "c") {
			for _, t := range args[i+1:] {
				if text, ok := t.Text(); ok && !strings.HasPrefix(text, "-") {
					a := script.Parse(text, options())
					return []*script.Analysis{&a}
				}
			}
		}
	}
	return nil
}

func (v *view) lookup(name string) (string, bool) {
	for _, e := range v.r.o.Environ {
		if n, value, ok := strings.Cut(e, "="); ok && n == name {
			return value, true
		}
	}
	return "", false
}

// scriptCommand reads interpreter script args as the command script args.
func (v *view) scriptCommand() *script.Analysis {
	for i := 1; i < len(v.line.kinds); i++ {
		if v.line.kinds[i] == argOption {
			if s, _ := leading(v.line.words[i]); s == "-c" || s == "-e" || s == "-r" || s == "-m" {
				return nil
			}
			continue
		}
		if v.line.kinds[i] != argOperand {
			continue
		}
		if s, ok := v.line.words[i].Text(); !ok || s == "-" {
			return nil
		}
		c := *v.c
		c.Argv, c.Effects, c.Redirects, c.FedBy, c.FeedsTo, c.TailOf = v.line.words[i:], nil, nil, nil, nil, -1
		return &script.Analysis{Text: v.a.Text, Commands: []script.Command{c}, Budget: v.a.Budget}
	}
	return nil
}
