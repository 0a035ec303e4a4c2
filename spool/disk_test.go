package spool

import (
	"os"
	"os/exec"
	"testing"
)

// smallDisk mounts a tmpfs of 64 KiB on a directory of the test, as root only.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	os.Chmod(dir, 0o700)
	mount, err := exec.LookPath("mount")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("needs root and mount")
	}
	if out, err := exec.Command(mount, "-t", "tmpfs", "-o", "size=64k,mode=700", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("mount: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	return dir
}
