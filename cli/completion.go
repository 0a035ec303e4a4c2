package cli

import (
	"fmt"
	"sort"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints a script that is made from the grammar itself, so that it cannot
// drift from it.
func (c *completionCmd) Run(a *app, k *kong.Kong) error {
	words := completionWords(k.Model.Node, "")
	var b strings.Builder
	switch c.Shell {
	case "bash":
		b.WriteString("# bash completion for safeshell: source it, or put it into a completions directory\n_safeshell() {\n  local cur=${COMP_WORDS[COMP_CWORD]} path w i\n  path=\n  for ((i = 1; i < COMP_CWORD; i++)); do\n    w=${COMP_WORDS[i]}\n    case $w in -*) continue ;; esac\n    case \"$path $w\" in\n")
		for _, p := range paths(words) {
			if p != "" {
				fmt.Fprintf(&b, "      %s) path=\"%s\" ;;\n", shellWord(joined(p)), p)
			}
		}
		b.WriteString("      *) ;;\n    esac\n  done\n  case $path in\n")
		for _, p := range paths(words) {
			fmt.Fprintf(&b, "    %s) w=%s ;;\n", shellWord(p), shellWord(strings.Join(words[p], " ")))
		}
		b.WriteString("  esac\n  mapfile -t COMPREPLY < <(compgen -W \"$w\" -- \"$cur\")\n  [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}\ncomplete -F _safeshell safeshell\n")
		return a.printf("%s", b.String())
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
			if onlyOptions(words[p]) {
				line = "if [[ ${words[CURRENT]} == -* ]]; then " + line + "; else _files; fi"
			}
			fmt.Fprintf(&b, "    %s) %s ;;\n", shellWord(p), line)
		}
		b.WriteString("  esac\n}\nif [ \"${funcstack[1]-}\" = _safeshell ]; then _safeshell \"$@\"; else compdef _safeshell safeshell; fi\n")
		return a.printf("%s", b.String())
	}
	b.WriteString("# fish completion for safeshell: save as ~/.config/fish/completions/safeshell.fish\n")
	for _, p := range paths(words) {
		for _, w := range words[p] {
			cond := "__fish_use_subcommand"
			if p != "" {
				cond = "__fish_seen_subcommand_from " + strings.ReplaceAll(p, " ", "; and __fish_seen_subcommand_from ")
			}
			if l, ok := strings.CutPrefix(w, "--"); ok {
				fmt.Fprintf(&b, "complete -c safeshell -n '%s' -l %s\n", cond, l)
			} else {
				fmt.Fprintf(&b, "complete -c safeshell -n '%s' -f -a %s\n", cond, w)
			}
		}
	}
	return a.printf("%s", b.String())
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

// completionWords maps each path of subcommands, also one that nothing follows,
// to what may follow it.
func completionWords(n *kong.Node, path string) map[string][]string {
	out := map[string][]string{path: nil}
	for _, arg := range n.Positional {
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
		for k, v := range completionWords(ch, p) {
			out[k] = v
		}
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			out[path] = append(out[path], "--"+f.Name)
		}
	}
	return out
}

func paths(m map[string][]string) []string {
	var out []string
	for p := range m {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}
