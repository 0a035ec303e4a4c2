#!/bin/bash
# Runs the tests that need Landlock under a kernel that has it: `make landlock`.
# KERNEL names a bzImage (default: the newest in /boot); where that is Debian's,
# nothing else is needed than qemu-system-x86, busybox and ext4's mke2fs. The
# machine gets a copy of this system's programs, no network and no disk of ours.
# What a test lacks in there it names and skips. LSM=yama shows the same kernel
# without Landlock; TESTS names other scenarios. Emulated, it takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck disable=SC2012  # names of kernels
kernel=${KERNEL:-$(ls -t /boot/vmlinuz-* 2>/dev/null | head -n 1 || true)}
want=${TESTS:-'TestScripts/(run_confined|run_reach|run_odd|run_later|ts_)'}
for tool in qemu-system-x86_64 busybox ldd; do
  command -v "$tool" >/dev/null || { echo "landlock: $tool is not installed" >&2; exit 1; }
done
[[ -r $kernel ]] || { echo "landlock: no kernel image; set KERNEL=/path/to/vmlinuz" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
root=$work/root
mkdir -p "$root"/{usr/{bin,sbin,lib,lib64,local/bin},proc,sys,dev,tmp,root,home,run,var/tmp,t/testdata}
chmod 1777 "$root/tmp" "$root/var/tmp"
ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root/"
ln -s ../run "$root/var/run"

# put copies a file with what it links to and loads.
put() {
  local f=$1 l real
  [[ -e $f && ! -e $root$f ]] || return 0
  real=$(readlink -f "$f")
  mkdir -p "$root$(dirname "$f")" "$root$(dirname "$real")"
  [[ -e $root$real ]] || cp -a "$real" "$root$real"
  [[ -e $root$f || $f == "$real" ]] || ln -sf "$real" "$root$f"
  [[ -f $real ]] || return 0
  while read -r l; do put "$l"; done < <(ldd "$real" 2>/dev/null | grep -o '/[^ ]*')
}
for p in bash dash zsh coreutils findutils grep sed mawk procps git util-linux diffutils psmisc; do
  while read -r f; do
    [[ -f $f && -x $f ]] && put "$f"
  done < <(dpkg -L "$p" 2>/dev/null | grep -E '^(/usr)?/s?bin/|/git-core/')
done
cp -a /usr/lib/git-core/. "$root/usr/lib/git-core/"
for f in /usr/bin/python3 /usr/bin/awk /etc/passwd /etc/group /etc/nsswitch.conf /usr/bin/busybox; do put "$f"; done
cp -a /usr/lib/python3* "$root/usr/lib/" 2>/dev/null || true
for d in /usr/lib/*/zsh /usr/share/zsh/functions; do
  [[ -d $d ]] && mkdir -p "$root$(dirname "$d")" && cp -a "$d" "$root$d"
done
mkdir -p "$root/usr/share"
cp -a /usr/share/git-core "$root/usr/share/"
# shellcheck disable=SC2012
deno=$(ls -t "${XDG_CACHE_HOME:-$HOME/.cache}"/safeshell-test/deno/node_modules/@deno/*/deno 2>/dev/null | head -n 1 || true)
[[ -z $deno ]] || { put "$deno"; ln -s "$deno" "$root/usr/local/bin/deno"; }

make -s build BIN="$root/t/safeshell"
go test -c -o "$root/t/permit.test" ./permit
go test -c -o "$root/t/root.test" .
cp -a testdata "$root/t/"

cat >"$root/init" <<INIT
#!/bin/busybox sh
/usr/bin/busybox mount -t proc proc /proc
/usr/bin/busybox mount -t sysfs sys /sys
/usr/bin/busybox mount -t devtmpfs dev /dev
/usr/bin/busybox mkdir -p /dev/pts /dev/shm
/usr/bin/busybox mount -t devpts pts /dev/pts
/usr/bin/busybox mount -t tmpfs tmp /tmp
/usr/bin/busybox mount -t tmpfs tmp /dev/shm
ln -s /proc/self/fd /dev/fd; ln -s /proc/self/fd/0 /dev/stdin; ln -s /proc/self/fd/1 /dev/stdout; ln -s /proc/self/fd/2 /dev/stderr
/usr/bin/busybox ip link set lo up
export HOME=/root PATH=/usr/local/bin:/usr/bin:/bin TMPDIR=/tmp LC_ALL=C SAFESHELL_TEST_BINARY=/t/safeshell
cd /t
uname -r; ./safeshell doctor 2>&1 | grep -i landlock
bad=0
run() {
  echo "== \$*"
  { "\$@" 2>&1 || echo "EXIT \$?"; } | tee /tmp/out | grep -E '^ *(--- (FAIL|SKIP|PASS: Test))|is not '
  if grep -q '^EXIT' /tmp/out; then bad=1; cat /tmp/out; fi
}
run ./permit.test -test.v -test.run 'TestConfinement|TestFindArea|TestWritable|TestNeeds'
run ./root.test -test.v -test.run '$want'
echo "RESULT \$bad"
/usr/bin/busybox poweroff -f
INIT
ln -sf usr/bin "$root/bin"
chmod 755 "$root/init"
(cd "$root" && find . -print0 | busybox cpio -0 -o -H newc 2>/dev/null) | gzip -1 >"$work/initrd"

timeout "${LIMIT:-1500}" qemu-system-x86_64 -machine accel="${ACCEL:-tcg}" -cpu max -m "${MEMORY:-4096}" -smp 2 -nographic -no-reboot -nic none \
  -kernel "$kernel" -initrd "$work/initrd" -append 'console=ttyS0 quiet panic=-1 lsm='"${LSM-landlock,yama}" | tee "$work/log"
grep -q '^RESULT 0' "$work/log"
