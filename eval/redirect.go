package eval

import (
	"errors"
	"fmt"
	"safeshell/eval/condition"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// parseRedirect reads redirect_to: one simple command, whose words may use
// $ARGS (all arguments, each whole; a word of its own), $CMD and $PWD.
func parseRedirect(text string) ([]redirectWord, error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, condition.ParseError(err)
	}
	if len(f.Stmts) != 1 {
		return nil, fmt.Errorf("%d commands, not one", len(f.Stmts))
	}
	st := f.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || st.Negated || st.Background || st.Coprocess || len(st.Redirs) > 0 || len(call.Assigns) > 0 {
		return nil, errors.New("not one simple command (no pipes, redirections, assignments or lists)")
	}
	var out []redirectWord
	for i, w := range call.Args {
		rw, err := redirectWordOf(w)
		if err != nil {
			return nil, err
		}
		if i == 0 && !rw.fixed() {
			return nil, errors.New("the command must be a plain name or path")
		}
		out = append(out, rw)
	}
	return out, nil
}

// fixed says that the word does not depend on the command.
func (w redirectWord) fixed() bool {
	for _, p := range w.parts {
		if p.kind == rdCmd || p.kind == rdDir || p.kind == rdText && p.text == "" {
			return false
		}
	}
	return !w.args
}

func redirectWordOf(w *syntax.Word) (redirectWord, error) {
	var out redirectWord
	var walk func(parts []syntax.WordPart, quoted bool) error
	text := func(s string) { out.parts = append(out.parts, redirectPart{rdText, s}) }
	walk = func(parts []syntax.WordPart, quoted bool) error {
		for i, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				s := condition.Unescape(p.Value, quoted)
				if !quoted {
					if strings.ContainsAny(p.Value, "*?[{") && !strings.Contains(p.Value, `\`) {
						return fmt.Errorf("%q: patterns are not expanded here", p.Value)
					}
					if i == 0 && len(out.parts) == 0 && (s == "~" || strings.HasPrefix(s, "~/")) {
						out.parts = append(out.parts, redirectPart{kind: rdHome})
						s = s[1:]
					}
				}
				text(s)
			case *syntax.SglQuoted:
				if p.Dollar {
					return errors.New("$'...' is not supported here")
				}
				switch p.Value {
				case "$ARGS", "${ARGS}":
					out.args = true
				case "$CMD", "${CMD}":
					out.parts = append(out.parts, redirectPart{kind: rdCmd})
				case "$PWD", "${PWD}":
					out.parts = append(out.parts, redirectPart{kind: rdDir})
				default:
					text(p.Value)
				}
			case *syntax.DblQuoted:
				if err := walk(p.Parts, true); err != nil {
					return err
				}
			case *syntax.ParamExp:
				if !condition.PlainParam(p) {
					return errors.New("only $ARGS, $CMD and $PWD can be used, without operators")
				}
				switch p.Param.Value {
				case "ARGS":
					out.args = true
				case "CMD":
					out.parts = append(out.parts, redirectPart{kind: rdCmd})
				case "PWD":
					out.parts = append(out.parts, redirectPart{kind: rdDir})
				default:
					return fmt.Errorf("$%s is not known; only $ARGS, $CMD and $PWD are", p.Param.Value)
				}
			default:
				return errors.New("only words, quotes, $ARGS, $CMD and $PWD can be used")
			}
		}
		return nil
	}
	if err := walk(w.Parts, false); err != nil {
		return out, err
	}
	if out.args && (len(out.parts) > 0 || argsCount(w) != 1) {
		return out, errors.New("$ARGS must be a word of its own, because it may become several")
	}
	if out.parts == nil && !out.args {
		text("")
	}
	return out, nil
}

func argsCount(w *syntax.Word) int {
	n := 0
	syntax.Walk(w, func(node syntax.Node) bool {
		switch x := node.(type) {
		case *syntax.ParamExp:
			if x.Param.Value == "ARGS" {
				n++
			}
		case *syntax.SglQuoted:
			n += strings.Count(x.Value, "ARGS")
		}
		return true
	})
	return n
}

// expandRedirect returns the argv that the words stand for. ok is false when a word
// that is needed is not known.
func expandRedirect(words []redirectWord, cmd, dir, home string, args []string, known bool) (argv []string, ok bool) {
	for _, w := range words {
		if w.args {
			if !known {
				return nil, false
			}
			argv = append(argv, args...)
			continue
		}
		var b strings.Builder
		for _, p := range w.parts {
			switch p.kind {
			case rdText:
				b.WriteString(p.text)
			case rdCmd:
				if !known {
					return nil, false
				}
				b.WriteString(cmd)
			case rdDir:
				if dir == "" {
					return nil, false
				}
				b.WriteString(dir)
			case rdHome:
				b.WriteString(home)
			}
		}
		argv = append(argv, b.String())
	}
	return argv, true
}

// aroundArgs returns the words of a redirect before and behind $ARGS. before is
// nil when the redirect does not hold $ARGS, or needs words that are not known.
func aroundArgs(words []redirectWord, cmd, dir, home string, known bool) (before, after []string) {
	for i, w := range words {
		if !w.args {
			continue
		}
		b, okB := expandRedirect(words[:i], cmd, dir, home, nil, known)
		a, okA := expandRedirect(words[i+1:], cmd, dir, home, nil, known)
		if okB && okA {
			return b, a
		}
		return nil, nil
	}
	return nil, nil
}
