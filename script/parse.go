package script

func fromArgv(argv []string, o Options) Analysis {
	c := Command{Dir: Lit(o.Dir), TailOf: -1}
	for _, a := range argv {
		c.Argv = append(c.Argv, Lit(a))
	}
	return Analysis{Commands: []Command{c}}
}

func parse(text string, o Options) Analysis {
	return Analysis{Text: text, Unknown: []Unknown{{Reason: "the text was not analysed", Span: Span{0, len(text)}}}}
}
