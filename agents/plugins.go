package agents

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"
)

var (
	//go:embed plugins/common.js
	commonJS string
	//go:embed plugins/opencode.js
	opencodeJS string
	//go:embed plugins/pi.js
	piJS string
	//go:embed plugins/amp.js
	ampJS string
	//go:embed plugins/cline.sh
	clineSH string
)

// pluginText returns the file that is installed for an agent that takes a
// program instead of a configuration.
func pluginText(a Agent, bin string, limit time.Duration, help string) (string, error) {
	var text, binary, args string
	switch a.Name {
	case "opencode", "kilo":
		text = commonJS + opencodeJS
	case "pi":
		text = commonJS + piJS
	case "amp":
		text = commonJS + ampJS
	case "cline", "cline-vscode":
		text = clineSH
		binary, args = shellQuote(bin), strings.Join(hookArgs(a, limit), " ")
		help = "[SafeShell] BLOCKED: the hook failed. " + help
	default:
		return "", fmt.Errorf("%s takes no hooks from a file (%s); what to do is in safeshell's docs/agents/%s.md", a.Display, a.Limits, a.Name)
	}
	if binary == "" {
		binary, args, help = quoteJSON(bin), quoteList(hookArgs(a, limit)), quoteJSON(help)
	}
	path := quoteJSON("/dev/null/" + strings.ReplaceAll(help, "/", "\u2215")) // as clineNowhere has it
	return strings.NewReplacer("@RUN@", shellQuote(`{"overrideInput":{"commands":[`+quoteJSON(clineSays(help))+`]}}`),
		"@READ@", shellQuote(`{"overrideInput":{"files":[{"path":`+path+`}]}}`),
		"@EDIT@", shellQuote(`{"overrideInput":{"path":`+path+`,"new_text":""}}`),
		"@CANCEL@", shellQuote(strings.TrimSpace(clineCancel(help).stdout)), "@NAME@", a.Name, "@BINARY@", binary, "@ARGS@", args, "@TOOLS@", quoteList(a.Tools.Matched()), "@HELP@", help,
		"@LIMIT@", strconv.FormatInt(limit.Milliseconds(), 10)).Replace(text), nil
}

// ourPlugin tells a file that Install wrote from one of somebody else.
func ourPlugin(a Agent, text string) bool {
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "#!/bin/sh\n"), "\n")
	head = strings.TrimLeft(head, "/# ")
	return strings.HasPrefix(head, "safeshell plugin for ") || strings.HasPrefix(head, "safeshell hook for ")
}

// pluginCall reads the program and its arguments out of an installed file.
func pluginCall(text string) []string {
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "const BINARY = "); ok {
			if doc, err := parseJSON([]byte(v), strictJSON, false); err == nil {
				words = append(words, doc.root.str)
			}
		}
		if v, ok := strings.CutPrefix(line, "const ARGS = "); ok {
			if doc, err := parseJSON([]byte(v), strictJSON, false); err == nil {
				for _, el := range doc.root.elems {
					words = append(words, el.str)
				}
			}
		}
		if v, ok := strings.CutPrefix(line, "binary="); ok {
			words = append(words, splitShell(v)...)
		}
		if _, v, ok := strings.Cut(line, `"$binary" `); ok {
			v, _, _ = strings.Cut(v, ")")
			words = append(words, splitShell(v)...)
		}
	}
	return words
}

// splitShell splits a simple command line into words; it knows quotes and
// backslashes and nothing else.
func splitShell(s string) []string {
	var words []string
	var b strings.Builder
	in, open := byte(0), false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case in == '\'' && c == '\'', in == '"' && c == '"':
			in = 0
		case in == '\'':
			b.WriteByte(c)
		case c == '\\' && i+1 < len(s) && (in == 0 || strings.IndexByte(`"\$`+"`", s[i+1]) >= 0):
			i++
			b.WriteByte(s[i])
			open = true
		case in == '"':
			b.WriteByte(c)
		case c == '\'' || c == '"':
			in, open = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if open {
				words = append(words, b.String())
				b.Reset()
				open = false
			}
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words
}
