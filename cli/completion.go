package cli

import (
	"fmt"
	"maps"
	"sort"
	"strings"

	"github.com/alecthomas/kong"

	"safeshell/agents"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints a script that is made from the grammar itself, so that it cannot
// drift from it.
func (c *completionCmd) Run(a *app) error {
	text, err := Completion(c.Shell)
	if err != nil {
		return err
	}
	return a.printf("%s", text)
}

// Completion returns the script for a shell.
func Completion(shell string) (string, error) {
	model, err := Model()
	if err != nil {
		return "", err
	}
	words, lists := completionWords(model.Node, "")
	var b strings.Builder
	switch shell {
	case "bash":
		b.WriteString("# bash completion for safeshell: source it, or put it into a completions directory\n_safeshell() {\n  local cur=${COMP_WORDS[COMP_CWORD]} path w i\n  path=\n  for ((i = 1; i < COMP_CWORD; i++)); do\n    w=${COMP_WORDS[i]}\n    case $w in -*) continue ;; esac\n    case \"$path $w\" in\n")
		for _, p := range paths(words) {
			if p != "" {
				fmt.Fprintf(&b, "      %s) path=\"%s\" ;;\n", shellWord(joined(p)), p)
			}
		}
		b.WriteString("      *) ;;\n    esac\n  done\n  case $path in\n")
		for _, p := range paths(words) {
			fmt.Fprintf(&b, "    %s)\n      w=%s\n", shellWord(p), shellWord(strings.Join(words[p], " ")))
			if l := lists[p]; l != "" {
				fmt.Fprintf(&b, "      w=\"$w $(safeshell %s 2>/dev/null | %s)\"\n", l, firstWords)
			}
			b.WriteString("      ;;\n")
		}
		b.WriteString("  esac\n  mapfile -t COMPREPLY < <(compgen -W \"$w\" -- \"$cur\")\n  [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}\ncomplete -F _safeshell safeshell\n")
		return b.String(), nil
	case "zsh":
		b.WriteString("#compdef safeshell\n# zsh completion for safeshell: put it into a directory of $fpath as _safeshell\n_safeshell() {\n  local p='' w i\n  for ((i = 2; i < CURRENT; i++)); do\n    w=${words[i]}\n    [[ $w == -* ]] && continue\n    case \"$p $w\" in\n")
		for _, p := range paths(words) {
			if p != "" {
				fmt.Fprintf(&b, "      %s) p=%s ;;\n", shellWord(joined(p)), shellWord(p))
			}
		}
		b.WriteString("    esac\n  done\n  case $p in\n")
		for _, p := range paths(words) {
			line := "compadd -- " + strings.Join(words[p], " ")
			if l := lists[p]; l != "" {
				line = fmt.Sprintf("if [[ ${words[CURRENT]} == -* ]]; then %s; else compadd -- ${(f)\"$(safeshell %s 2>/dev/null | %s)\"}; fi", line, l, firstWords)
			} else if onlyOptions(words[p]) {
				line = "if [[ ${words[CURRENT]} == -* ]]; then " + line + "; else _files; fi"
			}
			fmt.Fprintf(&b, "    %s) %s ;;\n", shellWord(p), line)
		}
		b.WriteString("  esac\n}\nif [ \"${funcstack[1]-}\" = _safeshell ]; then _safeshell \"$@\"; else compdef _safeshell safeshell; fi\n")
		return b.String(), nil
	}
	b.WriteString("# fish completion for safeshell: save as ~/.config/fish/completions/safeshell.fish\n")
	for _, p := range paths(words) {
		cond := "__fish_use_subcommand"
		if p != "" {
			cond = "__fish_seen_subcommand_from " + strings.ReplaceAll(p, " ", "; and __fish_seen_subcommand_from ")
			for _, w := range words[p] {
				if _, sub := words[p+" "+w]; sub {
					cond += "; and not __fish_seen_subcommand_from " + w
				}
			}
		}
		if l := lists[p]; l != "" {
			fmt.Fprintf(&b, "complete -c safeshell -n '%s' -f -a \"(safeshell %s 2>/dev/null | %s)\"\n", cond, l, firstWords)
		}
		for _, w := range words[p] {
			if l, ok := strings.CutPrefix(w, "--"); ok {
				fmt.Fprintf(&b, "complete -c safeshell -n '%s' -l %s\n", cond, l)
			} else {
				fmt.Fprintf(&b, "complete -c safeshell -n '%s' -f -a %s\n", cond, w)
			}
		}
	}
	return b.String(), nil
}

func onlyOptions(words []string) bool {
	for _, w := range words {
		if !strings.HasPrefix(w, "--") {
			return false
		}
	}
	return true
}

// joined is what the scripts' "$path $word" is at p.
func joined(p string) string {
	if strings.Contains(p, " ") {
		return p
	}
	return " " + p
}

// firstWords keeps what a list command's lines begin with: names and ids, not
// the lines below them, which are indented.
const firstWords = `sed -n 's/^\([^ ][^ ]*\).*/\1/p'`

// completionWords maps each path of subcommands, also one that nothing follows,
// to what may follow it; lists maps it to the command that lists the names or
// ids which its argument takes (the grammar's tag "complete").
func completionWords(n *kong.Node, path string) (out map[string][]string, lists map[string]string) {
	out, lists = map[string][]string{path: nil}, map[string]string{}
	for _, arg := range n.Positional {
		switch list := arg.Tag.Get("complete"); list {
		case "":
		case "agents":
			out[path] = append(out[path], agents.Names()...)
		default:
			lists[path] = list
		}
		if arg.Enum != "" {
			out[path] = append(out[path], strings.Split(arg.Enum, ",")...)
		}
	}
	for _, ch := range n.Children {
		if ch.Hidden {
			continue
		}
		p := strings.TrimSpace(path + " " + ch.Name)
		out[path] = append(out[path], ch.Name)
		words, below := completionWords(ch, p)
		maps.Copy(out, words)
		maps.Copy(lists, below)
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			out[path] = append(out[path], "--"+f.Name)
		}
	}
	return out, lists
}

func paths(m map[string][]string) []string {
	var out []string
	for p := range m {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}
