package permit

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"safeshell/internal/test/testdir"
)

// Signals and abstract sockets stay among the confined where the kernel can keep
// them there.
func TestConfinementScope(t *testing.T) {
	if LandlockABI() < scopeABI {
		t.Skipf("this kernel's Landlock is of version %d", LandlockABI())
	}
	sh, err := exec.LookPath("sh")
	must(t, err)
	dir := testdir.New(t)
	c := Confinement{Write: []string{dir}}
	if runConfined(t, c, sh, "-c", "kill -0 "+strconv.Itoa(os.Getpid())) {
		t.Error("a process outside is signalled")
	}
	if !runConfined(t, c, sh, "-c", "sleep 60 & kill $!") {
		t.Error("its own child is not")
	}
	for name, want := range map[string]bool{"@safeshell-test-" + strconv.Itoa(os.Getpid()): false, filepath.Join(dir, "s"): true} {
		l, err := net.Listen("unix", name)
		must(t, err)
		defer l.Close()
		if got := runConfined(t, c, "dial", name); got != want {
			t.Errorf("dial %s: %v, want %v", name, got, want)
		}
	}
}
