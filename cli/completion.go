package cli

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

//go:embed completion/safeshell.*
var completionScripts embed.FS

func (c *completionCmd) Run(a *app) error {
	text, err := Completion(c.Shell)
	if err != nil {
		return err
	}
	return a.printf("%s", text)
}

// Completion returns the script for a shell. It asks the program what may follow
// (completeCmd), so that it stays true when the program is replaced.
func Completion(shell string) (string, error) {
	text, err := completionScripts.ReadFile("completion/safeshell." + shell)
	return string(text), err
}

// completeCmd says what may follow the words of a command line: a first line
// that says how the shell goes on (words, files, dirs; command N: another
// program's line begins at word N), then a word a line, with what it is behind a
// tab. It takes the shell and its words, the last being the one to complete; of
// bash the line itself, see bashLine. It changes nothing, and nothing that it
// prints is run.
type completeCmd struct {
	Args []string `arg:"" optional:""`
}

func (c *completeCmd) Run(a *app, k *kong.Kong) error {
	if len(c.Args) < 2 {
		return usageError{fmt.Errorf("this is for the scripts of `safeshell completion`")}
	}
	words := c.Args[1:]
	var line bashLine
	if c.Args[0] == "bash" {
		var err error
		if line, err = newBashLine(words); err != nil {
			return usageError{err}
		}
		words = line.texts()[1:]
	}
	next := a.following(k.Model.Node, words)
	if c.Args[0] == "bash" {
		next = line.insertions(next)
	}
	out := a.lines()
	kind := next.kind
	if kind == "command" {
		kind += " " + strconv.Itoa(next.at)
	}
	_ = out.printf("%s\n", kind) // an error comes again at the end
	for _, w := range next.list {
		_ = out.printf("%s\n", strings.TrimRight(w.word+"\t"+w.about, "\t"))
	}
	return out.flush()
}

// candidate is a word that may follow, and what it is.
type candidate struct{ word, about string }

// following is what may follow.
type following struct {
	kind string // words, files, dirs, command
	at   int    // command: where it begins
	list []candidate
}

// place is where a command line has come to.
type place struct {
	node  *kong.Node
	flag  *kong.Flag // whose value comes next
	args  []string   // given to the node
	ended bool       // by --
}

// following says what the last of words may become.
func (a *app) following(root *kong.Node, words []string) following {
	if words[0] == "help" && len(words) > 1 {
		words = words[1:]
	}
	p, last := place{node: root}, len(words)-1
	for i, w := range words[:last] {
		if p.foreign(w) {
			return following{kind: "command", at: i}
		}
		p.take(w)
	}
	word := words[last]
	if p.flag != nil {
		return a.values(p.flag.Value, "", word, nil)
	}
	if name, value, ok := strings.Cut(word, "="); ok && p.option(name) {
		if f := p.find(name); f != nil {
			return a.values(f.Value, name+"=", value, nil)
		}
		return following{kind: "words"}
	}
	if p.option(word) {
		return following{kind: "words", list: p.options()}
	}
	if len(p.node.Children) > 0 && len(p.args) == 0 && !p.ended {
		var list []candidate
		for _, c := range p.node.Children {
			if !c.Hidden {
				list = append(list, candidate{c.Name, c.Help})
			}
		}
		return following{kind: "words", list: list}
	}
	v := p.argument()
	if p.foreign(word) || v != nil && v.Tag.Get("complete") == "commands" {
		return following{kind: "command", at: last}
	}
	if v != nil {
		return a.values(v, "", word, p.args)
	}
	return following{kind: "words"}
}

// option reports whether a word is one here.
func (p *place) option(w string) bool {
	theirs := p.node.Passthrough || len(p.args) > 0 && len(p.node.Positional) > 0 && p.node.Positional[0].Passthrough
	return strings.HasPrefix(w, "-") && !p.ended && !theirs
}

// foreign reports whether another program's command line begins with w.
func (p *place) foreign(w string) bool {
	v := p.argument()
	return p.flag == nil && v != nil && v.Passthrough && v.Tag.Get("complete") == "" && !p.option(w)
}

// take goes on over a word.
func (p *place) take(w string) {
	child := slices.IndexFunc(p.node.Children, func(n *kong.Node) bool { return n.Name == w })
	switch {
	case p.flag != nil:
		p.flag = nil
	case w == "--" && !p.node.Passthrough:
		p.ended = true
	case p.option(w) && w != "-":
		name, _, valued := strings.Cut(w, "=")
		if f := p.find(name); f != nil && !valued && !f.IsBool() {
			p.flag = f
		}
	case child >= 0 && len(p.args) == 0 && !p.ended:
		p.node = p.node.Children[child]
	default:
		p.args = append(p.args, w)
	}
}

// flags are those that may stand here.
func (p *place) flags() (out []*kong.Flag) {
	for _, group := range p.node.AllFlags(true) {
		out = append(out, group...)
	}
	if p.node.DefaultCmd != nil {
		out = append(out, p.node.DefaultCmd.Flags...)
	}
	return out
}

// find returns the option of that name; of short ones together, the last, which
// alone may take a value from the next word.
func (p *place) find(name string) *kong.Flag {
	long, isLong := strings.CutPrefix(name, "--")
	for _, f := range p.flags() {
		if isLong && f.Name == long || !isLong && f.Short != 0 && strings.HasSuffix(name, string(f.Short)) {
			return f
		}
	}
	return nil
}

func (p *place) options() (list []candidate) {
	for _, f := range p.flags() {
		list = append(list, candidate{"--" + f.Name, f.Help})
	}
	return list
}

// argument is the one that comes next; nil when all are given.
func (p *place) argument() *kong.Value {
	all := p.node.Positional
	switch n := len(p.args); {
	case n < len(all):
		return all[n]
	case len(all) > 0 && all[len(all)-1].IsCumulative():
		return all[len(all)-1]
	}
	return nil
}

// values are those of an option or an argument, as far as they are known.
// before is what stands before the value in its word; given are other values.
func (a *app) values(v *kong.Value, before, value string, given []string) following {
	from := v.Tag.Get("complete")
	switch from {
	case "files", "dirs":
		return following{kind: from}
	}
	if v.Flag != nil && v.IsSlice() && v.Tag.Sep != -1 {
		if i := strings.LastIndexByte(value, ','); i >= 0 {
			given = strings.Split(value[:i], ",")
			before, value = before+value[:i+1], value[i+1:]
		}
	}
	var list []candidate
	if source := sources[from]; source != nil {
		list = source(a, value)
	} else {
		for w := range strings.SplitSeq(v.Enum, ",") {
			list = append(list, candidate{w, ""})
		}
	}
	seen := map[string]bool{"": true}
	for _, g := range given {
		seen[g] = true
	}
	out := following{kind: "words"}
	for _, c := range list {
		// What a terminal cannot show, and what would be an option, has an id or is
		// typed by hand.
		if seen[c.word] || visible(c.word) != c.word || strings.HasPrefix(c.word, "-") && c.word != "-" {
			continue
		}
		seen[c.word] = true
		out.list = append(out.list, candidate{before + c.word, short(visible(c.about))})
	}
	return out
}
