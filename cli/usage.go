package cli

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// asShell is what the program also is, which no subcommand shows.
const asShell = `
As a shell (SHELL=safeshell-wrapper, or ~/.safeshell/shell/bash):
  safeshell -c 'line' [args]
                Judge a command line, then run it in the delegate shell.`

// outputError is a result that could not be written.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// versionFlag prints the version, and says it when that fails.
type versionFlag bool

func (v versionFlag) BeforeReset(k *kong.Kong, vars kong.Vars) error {
	if _, err := fmt.Fprintln(k.Stdout, vars["version"]); err != nil {
		return outputError{err}
	}
	k.Exit(0)
	return nil
}

// printHelp is kong's help, without arguments that are only safeshell's own, with
// options in front of arguments where they count only there, and with what the
// program is beside its subcommands.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	out := ctx.Stdout
	var b bytes.Buffer
	ctx.Stdout = &b
	defer func() { ctx.Stdout = out }()
	n := ctx.Selected()
	if n != nil {
		n.Positional = slices.DeleteFunc(n.Positional, func(v *kong.Positional) bool { return v.Help == "" })
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	text, name := b.String(), ""
	if n == nil {
		text += asShell + "\n"
	} else {
		name = strings.TrimPrefix(n.FullPath(), "safeshell ")
		if len(n.Positional) > 0 && n.Positional[0].Passthrough {
			args := n.Positional[0].Summary()
			text = strings.Replace(text, " "+args+" [flags]\n", " [flags] [--] "+args+"\n", 1)
		}
	}
	text += manual[name].end()
	if _, err := io.WriteString(out, text); err != nil {
		return outputError{err}
	}
	return nil
}

// plainString takes an argument as it is: kong's own way through JSON replaces
// what is not UTF-8, and names of files need not be.
func plainString(ctx *kong.DecodeContext, target reflect.Value) error {
	t, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	target.SetString(fmt.Sprint(t.Value))
	return nil
}

// maxQuoted bounds how much of a wrong argument is repeated, in runes.
const maxQuoted = 200

// usageText says what is wrong with a command line, in words of this program.
func usageText(err error) string {
	text := err.Error()
	for _, r := range [][2]string{
		{`,"" but got`, " but got"}, // "" is "not given"
		{"expected a valid 64 bit int but got", "takes a whole number, not"},
		{"expected int value but got", "takes a whole number, not"},
		{"bool value must be true, 1, yes, false, 0 or no but got", "takes nothing, true or false, not"},
		{"expected duration value but got", "takes a time such as 90s or 10m, not"},
		{"expected duration but got", "takes a time such as 90s or 10m, not"},
	} {
		text = strings.Replace(text, r[0], r[1], 1)
	}
	if opt, ok := strings.CutSuffix(text, ` value but got "EOL" (<EOL>)`); ok {
		opt, _, _ = strings.Cut(opt, ": expected ")
		text = opt + " needs a value"
	}
	text, _, _ = strings.Cut(text, " (short flag); perhaps try")
	if opt, value, ok := strings.Cut(text, `: expected string value but got "`); ok {
		text = opt + ` needs a value, which the option "` + value + " is not"
	}
	text, _, _ = strings.Cut(text, ": time: ")
	if arg, ok := strings.CutPrefix(text, "unexpected argument "); ok {
		arg, hint, _ := strings.Cut(arg, ", did you mean ")
		text = fmt.Sprintf("unexpected argument %q", short(visible(arg)))
		if hint != "" && arg != "" {
			text += ", did you mean " + hint
		}
	}
	if arg, ok := strings.CutPrefix(text, "expected one of "); ok {
		text = "the command is missing: one of " + arg
	} else if arg, ok := strings.CutPrefix(text, `expected "`); ok {
		text = strings.TrimSuffix(arg, `"`) + " is missing"
	}
	return short(text)
}

func short(s string) string {
	if r := []rune(s); len(r) > maxQuoted {
		return string(r[:maxQuoted]) + "…"
	}
	return s
}

// commandPrefix returns "name " or "name name " of the subcommand in args, if it
// has one.
func commandPrefix(root *kong.Node, args []string) string {
	path := ""
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		i := slices.IndexFunc(root.Children, func(n *kong.Node) bool { return n.Name == a })
		if i < 0 {
			break
		}
		root = root.Children[i]
		path += a + " "
	}
	return path
}
