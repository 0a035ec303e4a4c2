package script

import "fmt"

// fromArgv analyses an argv as the kernel gets it. Nothing is evaluated again:
// words are what they are.
func fromArgv(argv []string, o Options) (res Analysis) {
	if len(argv) == 0 {
		return Analysis{}
	}
	name := base(argv[0])
	parts := make([]Part, len(argv))
	words := make([]Word, len(argv))
	for i, s := range argv {
		parts[i].Text = s
		words[i].Parts = parts[i : i+1 : i+1]
	}
	dir := noDirWord
	if o.Dir != "" {
		dir = Lit(o.Dir)
	}
	if inert(name) {
		if d, ok := dirOption(name, words, dir); ok {
			dir = d
		}
		return Analysis{Commands: []Command{{Argv: words, Dir: dir, TailOf: -1}}}
	}
	a := &analyzer{o: o}
	defer func() {
		if r := recover(); r != nil {
			a.unknownAt(fmt.Sprintf("the analysis failed: %v", r), Span{})
			if len(a.cmds) == 0 {
				a.cmds = append(a.cmds, Command{Argv: words, Dir: dir, TailOf: -1})
			}
			res = a.result()
		}
	}()
	total := 0
	for _, s := range argv {
		total += len(s)
	}
	if total > maxText*4 || len(argv) > maxSteps {
		a.cmds = append(a.cmds, Command{Argv: words, Dir: dir, TailOf: -1})
		a.unknownAt("the command is too long to analyse", Span{})
		return a.result()
	}
	st := a.start()
	st.params, st.paramsLost = nil, true
	c := &ctx{src: &source{lang: Bash, nested: true}}
	k := &call{argv: words, dir: dir, st: st, c: c, outside: true}
	// The words of an argv stand for themselves, and so do those of its tails:
	// only code inside them is Nested.
	c.src.nested = false
	a.program(k, name)
	return a.result()
}

var noDirWord = Word{Parts: []Part{{Kind: Variable, Name: "PWD"}}}
