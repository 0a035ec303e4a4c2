#!/usr/bin/env bash
# The main job on a real scratch repository with a scratch HOME: a blocked
# commit, a file trashed and restored, an approval answered in the monitor.
# Usage: docs/demo.sh /path/to/safeshell
# shellcheck disable=SC2016 # run() prints and evaluates its text
set -euo pipefail

bin=${1:?usage: docs/demo.sh /path/to/safeshell}
tool() { command -v "$1" || { echo "demo: $1 is not installed; install it with your package manager" >&2; exit 1; }; }
git=$(tool git)
script=$(tool script)
top=$(mktemp -d "${TMPDIR:-/tmp}/safeshell-demo.XXXXXX")
watcher=
# What the demo does for itself goes by absolute paths, past the shims.
cleanup() {
  exec 9>&- || true
  [ -z "$watcher" ] || { kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
  /bin/rm -rf "$top"
}
trap cleanup EXIT

# A scratch home, and nothing of the caller's agent or settings.
export HOME=$top/home PATH=$top/bin:/usr/local/bin:/usr/bin:/bin
/bin/mkdir -p "$HOME" "$top/bin" "$top/repo"
unset SAFESHELL_HOME SAFESHELL_CONTEXT SAFESHELL_SPOOL XDG_DATA_HOME CLAUDECODE AI_AGENT AGENT
/bin/ln -s "$bin" "$top/bin/safeshell"
/bin/ln -s "$bin" "$top/bin/safeshell-wrapper"
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.org
export GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.org

tidy() { /usr/bin/env -i /bin/sed "s,$top/home,~,g; s,$top/,,g; s,$top,~,g"; }
say() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
run() {
  printf '$ %s\n' "$*"
  local code=0
  { eval "$*" 2>&1 || code=$?; } > "$top/out"
  tidy < "$top/out"
  [ "$code" = 0 ] || printf '(exit %s)\n' "$code"
}
until_true() { for _ in {1..100}; do "$@" && return; /bin/sleep 0.1; done; }
monitor_runs() { case $(safeshell status 2>/dev/null) in *"a monitor is running"*) ;; *) return 1 ;; esac; }
one_waits() { [ -n "$(safeshell pending 2>/dev/null)" ]; }

say "Guard this shell (a start-up file would hold this line: safeshell init)"
printf '$ eval "$(safeshell init -)"\n'
eval "$(safeshell init - --shell bash)"
run 'command -v rm'

cd "$top/repo"
"$git" init -q -b main .
printf 'the only copy\n' > notes.txt
"$git" add notes.txt

say "1. A commit on main is refused, with a reason to act on"
run 'git commit -q -m "quick fix"'
run 'git switch -q -c fix-1 && git commit -q -m "quick fix" && git log --oneline'

say "2. rm goes to the trash, and comes back"
run 'rm -f notes.txt; ls'
run 'safeshell trash list'
run 'safeshell trash restore notes.txt; cat notes.txt'

say "3. A risky push of an agent waits until a person says yes in another terminal"
"$git" init -q --bare ../remote.git
"$git" remote add origin ../remote.git
"$git" push -q origin fix-1
"$git" commit -q --amend -m "quick fix, better said"
# The other terminal: `safeshell watch` on a pseudo-terminal, with a hand that
# types into it through descriptor 9.
/usr/bin/mkfifo "$top/hand"
"$script" -qefc "safeshell watch --plain" /dev/null < "$top/hand" > "$top/screen" 2>&1 &
watcher=$!
exec 9> "$top/hand"
until_true monitor_runs
want=0
/bin/sleep 0.3
if /usr/bin/env -i /bin/grep -q 'under an agent' "$top/screen"; then
  want=126
  printf 'approval: {timeout_seconds: 6}\n' > "$HOME/.safeshell/config.yaml"
  printf '(An agent runs this demo: the answer typed below is not taken for a yes of a person,\nand nothing is pushed. To see it answered: make demo, in a terminal of your own.)\n'
fi
printf '$ git push --force origin fix-1     # typed by an agent (CLAUDECODE=1)\n'
CLAUDECODE=1 git push --force origin fix-1 > "$top/push" 2>&1 &
push=$!
until_true one_waits
/bin/sleep 1.2
printf '1 1\n' >&9
code=0
wait "$push" || code=$?
tidy < "$top/push" | /bin/sed 's/^/  agent  | /'
printf '(exit %s)\n' "$code"
/bin/sleep 0.3
printf -- '--- meanwhile, in the other terminal (safeshell watch --plain):\n'
tidy < "$top/screen" | /usr/bin/tr -d '\r' | /bin/sed 's/^/  person | /'

say "What happened, from the journal"
run 'safeshell log'
say "And what would happen to a line that nobody should run (it is only judged)"
run 'safeshell check -- "cd / && rm -rf *"'
[ "$code" = "$want" ]
