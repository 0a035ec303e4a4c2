package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"safeshell/cli"
)

// pages are the manual's, by their names: safeshell, and one for each command
// with its subcommands, as man(7) has them.
func pages(root *kong.Node, version, date string) map[string]string {
	out := map[string]string{}
	commands := visible(root.Children)
	p := newPage(root, version, date)
	p.section("NAME", inline("safeshell, safeshell-wrapper - a safety layer between AI coding agents and your shell"))
	p.section("SYNOPSIS")
	p.synopsis("safeshell", "\\fIcommand\\fR", "[\\fIoption\\fR ...\\&]", "[\\fIargument\\fR ...\\&]")
	for _, shell := range []string{"safeshell \\-c", "safeshell\\-wrapper \\-c"} {
		p.synopsis(shell, "\\fIline\\fR", "[\\fIargument\\fR ...\\&]")
	}
	p.section("DESCRIPTION")
	p.paragraphs(cli.ManualPage("").Detail)
	p.section("COMMANDS")
	for _, c := range commands {
		p.tagged("\\fBsafeshell\\-"+c.Name+"\\fR(1)", inline(c.Help))
		out["safeshell-"+c.Name] = commandPage(c, version, date)
	}
	p.section("OPTIONS")
	p.options(root)
	p.closing("")
	see := make([]string, len(commands))
	for i, c := range commands {
		see[i] = "safeshell-" + c.Name
	}
	p.seeAlso(see)
	out["safeshell"], out["safeshell-wrapper"] = p.String(), ".so man1/safeshell.1\n"
	return out
}

func commandPage(n *kong.Node, version, date string) string {
	p := newPage(n, version, date)
	p.section("NAME", inline("safeshell-"+n.Name+" - "+lowered(n.Help)))
	p.section("SYNOPSIS")
	leaves := visible(n.Children)
	if len(leaves) == 0 {
		leaves = []*kong.Node{n}
	}
	for _, l := range leaves {
		p.synopsisOf(l)
	}
	p.section("DESCRIPTION", inline(n.Help))
	p.paragraphs(n.Detail)
	if leaves[0] == n {
		p.section("OPTIONS")
		p.options(n)
	} else {
		p.section("COMMANDS")
		for _, l := range leaves {
			p.line(".SS " + escape(l.FullPath()))
			p.line(inline(l.Help))
			p.paragraphs(l.Detail)
			p.options(l)
		}
	}
	words := []string{n.Name}
	for _, l := range visible(n.Children) {
		words = append(words, n.Name+" "+l.Name)
	}
	p.closing(words...)
	see := []string{"safeshell"}
	for _, c := range strings.Fields(cli.ManualPage(n.Name).See) {
		see = append(see, "safeshell-"+c)
	}
	p.seeAlso(see)
	return p.String()
}

// page is a page as it is written, in lines.
type page struct{ strings.Builder }

func newPage(n *kong.Node, version, date string) *page {
	p := &page{}
	title := strings.ToUpper(strings.ReplaceAll(n.FullPath(), " ", "-"))
	p.line(".nr HY 0", ".nh") // names are copied, so they stay whole
	p.line(fmt.Sprintf(`.TH %s 1 %s "%s" "User Commands"`, escape(title), date, version), ".ad l")
	return p
}

// line adds lines that are escaped already.
func (p *page) line(lines ...string) {
	for _, l := range lines {
		p.WriteString(l + "\n")
	}
}

func (p *page) section(name string, lines ...string) {
	p.line(".SH " + name)
	p.line(lines...)
}

func (p *page) tagged(tag, text string) { p.line(".TP", tag, text) }

func (p *page) synopsis(command string, words ...string) {
	p.line(`.SY "`+command+`"`, strings.Join(words, "\n"), ".YS")
}

func (p *page) synopsisOf(n *kong.Node) {
	var words []string
	for _, f := range n.Flags {
		if !f.Hidden {
			words = append(words, "["+flagText(f)+"]")
		}
	}
	for _, arg := range arguments(n) {
		text := `\fI` + escape(arg.Name) + `\fR`
		if arg.IsCumulative() {
			text += ` ...\&`
		}
		if arg.Passthrough {
			words = append(words, `[\fB\-\-\fR]`)
		}
		if !arg.Required {
			text = "[" + text + "]"
		}
		words = append(words, text)
	}
	p.synopsis(escape(n.FullPath()), words...)
}

func (p *page) options(n *kong.Node) {
	for _, arg := range arguments(n) {
		p.tagged(`\fI`+escape(arg.Name)+`\fR`, inline(arg.Help))
	}
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		tag := flagText(f)
		if f.Short != 0 {
			tag = `\fB\-` + string(f.Short) + `\fR, ` + tag
		}
		p.tagged(tag, inline(f.Help))
	}
	if n.Parent != nil {
		p.tagged(`\fB\-h\fR, \fB\-\-help\fR`, "Print a summary and quit.")
	}
}

// closing are the sections that the manual has for commands.
func (p *page) closing(commands ...string) {
	var exits, examples []string
	for _, c := range commands {
		m := cli.ManualPage(c)
		if m.Exit != "" {
			text := inline(m.Exit)
			if c != "" && len(commands) > 1 {
				text = `\fBsafeshell ` + escape(c) + `\fR: ` + text
			}
			exits = append(exits, text)
		}
		for _, e := range m.Examples {
			examples = append(examples, ".PP", inline(e.For)+":", ".PP", ".RS 4", ".EX")
			for line := range strings.SplitSeq(e.Line, "\n") {
				examples = append(examples, guarded(escape(line)))
			}
			examples = append(examples, ".EE", ".RE")
		}
	}
	if len(exits) == 0 {
		exits = []string{"0 done, 1 not, 2 a wrong call."}
	}
	p.section("EXIT STATUS", strings.Join(exits, "\n.PP\n"))
	p.entries("FILES", cli.Files, func(m cli.Page) string { return m.Files }, commands)
	p.entries("ENVIRONMENT", cli.Environment, func(m cli.Page) string { return m.Environment }, commands)
	if len(examples) > 0 {
		p.section("EXAMPLES", examples[1:]...)
	}
}

// entries are those lines of a list that the pages of the commands name.
func (p *page) entries(section string, list []cli.Line, named func(cli.Page) string, commands []string) {
	first := true
	for _, e := range list {
		if !slices.ContainsFunc(commands, func(c string) bool { return slices.Contains(strings.Fields(named(cli.ManualPage(c))), e.Key) }) {
			continue
		}
		if first {
			p.section(section)
		}
		first = false
		p.tagged(`\fI`+escape(e.Name)+`\fR`, inline(e.Does))
	}
}

func (p *page) seeAlso(commands []string) {
	var see []string
	for _, c := range commands {
		see = append(see, `\fB`+escape(c)+`\fR(1)`)
	}
	p.section("SEE ALSO", strings.Join(see, ",\n"))
}

// paragraphs adds a text in paragraphs; indented ones are as they are.
func (p *page) paragraphs(text string) {
	for _, para := range strings.Split(text, "\n\n") {
		switch {
		case para == "":
		case strings.HasSuffix(p.String(), ".SH DESCRIPTION\n"):
			p.line(inline(para))
		case strings.HasPrefix(para, "    "):
			p.line(".PP", ".RS 4", ".EX")
			for _, l := range strings.Split(para, "\n") {
				p.line(guarded(escape(strings.TrimPrefix(l, "    "))))
			}
			p.line(".EE", ".RE")
		default:
			p.line(".PP", inline(para))
		}
	}
}

// flagText is a flag with its value.
func flagText(f *kong.Flag) string {
	text := `\fB\-\-` + escape(f.Name) + `\fR`
	if !f.IsBool() {
		text += `=\fI` + escape(f.FormatPlaceHolder()) + `\fR`
	}
	return text
}

// arguments are those that --help shows.
func arguments(n *kong.Node) (out []*kong.Positional) {
	for _, arg := range n.Positional {
		if arg.Help != "" {
			out = append(out, arg)
		}
	}
	return out
}

func visible(nodes []*kong.Node) (out []*kong.Node) {
	for _, n := range nodes {
		if !n.Hidden {
			out = append(out, n)
		}
	}
	return out
}

// lowered is a help text as man pages have it behind a name.
func lowered(help string) string {
	help = strings.TrimSuffix(help, ".")
	first, rest := []rune(help)[0], help[1:]
	if second := []rune(rest)[0]; unicode.IsUpper(second) {
		return help
	}
	return string(unicode.ToLower(first)) + rest
}

// inline is a text whose backquoted parts are bold.
func inline(text string) string {
	text = escape(strings.TrimSpace(text))
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i > 0 {
			b.WriteString([]string{`\fR`, `\fB`}[i%2])
		}
		b.WriteString(part)
	}
	return filled(b.String())
}

// filled breaks a text into lines that linters and diffs can take.
func filled(text string) string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && len(line)+1+len(w) > 78 {
			lines, line = append(lines, guarded(line)), ""
		}
		line = strings.TrimSpace(line + " " + w)
	}
	return strings.Join(append(lines, guarded(line)), "\n")
}

// escape makes a text mean itself.
var escape = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "~", `\(ti`, "^", `\(ha`, `"`, `\(dq`, "…", `\&...`).Replace

// guarded keeps a line from being taken for a request.
func guarded(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
