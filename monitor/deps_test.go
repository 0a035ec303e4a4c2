package monitor

import (
	"os/exec"
	"strings"
	"testing"
)

// What must not be linked, and why.
func TestForbiddenImports(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("go is not installed")
	}
	out, err := exec.Command(goTool, "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		for prefix, why := range map[string]string{
			"github.com/charmbracelet/bubbletea": "version 1 asks the terminal while the program starts and waits up to 5 s",
			"github.com/charmbracelet/huh":       "version 1 brings bubbletea 1",
			"charm.land/lipgloss/v2/compat":      "asks the terminal while the program starts",
			"github.com/muesli/termenv":          "asks the terminal",
		} {
			if dep == prefix || strings.HasPrefix(dep, prefix+"/") {
				t.Errorf("%s is linked: %s", dep, why)
			}
		}
	}
}
