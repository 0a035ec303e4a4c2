// Command docs writes what packages carry beside the program, made from its
// grammar and manual: a man page for safeshell and for each command, and the
// completions of the shells. The same version and date give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"safeshell/cli"
)

func main() {
	version := flag.String("version", "dev", "the `VERSION` that the pages name")
	date := flag.String("date", "", "the day of the release, `YYYY-MM-DD`")
	out := flag.String("out", "", "the `DIRECTORY` to write man/man1 and completions into")
	flag.Parse()
	if err := write(*version, *date, *out); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func write(version, date, out string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil || out == "" {
		return fmt.Errorf("usage: docs -version V -date YYYY-MM-DD -out DIRECTORY")
	}
	app, err := cli.Model()
	if err != nil {
		return err
	}
	files := map[string]string{}
	for name, text := range pages(app.Node, "safeshell "+version, date) {
		files["man/man1/"+name+".1"] = text
	}
	for shell, name := range map[string]string{"bash": "safeshell.bash", "zsh": "_safeshell", "fish": "safeshell.fish"} {
		text, err := cli.Completion(shell)
		if err != nil {
			return err
		}
		files["completions/"+name] = text
	}
	for name, text := range files {
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
