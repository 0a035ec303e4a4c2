#!/usr/bin/env bash
# The main job on a real scratch repository with a scratch HOME: a blocked
# commit, a file trashed and restored, an approval answered in the monitor.
# Usage: docs/demo.sh /path/to/safeshell
# shellcheck disable=SC2016 # run() prints and evaluates its text
set -euo pipefail

bin=${1:?usage: docs/demo.sh /path/to/safeshell}
top=$(mktemp -d "${TMPDIR:-/tmp}/safeshell-demo.XXXXXX")
watcher=
cleanup() {
  exec 9>&- || true
  [ -z "$watcher" ] || { kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
  command rm -rf "$top"
}
trap cleanup EXIT

# A scratch home, and nothing of the caller's agent or settings.
export HOME=$top/home PATH=$top/bin:/usr/local/bin:/usr/bin:/bin
mkdir -p "$HOME" "$top/bin" "$top/repo"
unset SAFESHELL_HOME SAFESHELL_CONTEXT SAFESHELL_SPOOL XDG_DATA_HOME CLAUDECODE AI_AGENT AGENT
ln -s "$bin" "$top/bin/safeshell"
ln -s "$bin" "$top/bin/safeshell-wrapper"
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.org
export GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.org

say() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; eval "$*" || printf '(exit %s)\n' "$?"; }

say "Guard this shell (a person would put this into a start-up file with: safeshell init)"
# A real terminal shell: the answers of a person need one.
run 'eval "$(safeshell init - --shell bash)"'
run 'command -v rm | sed "s,$HOME,~,"'

cd "$top/repo"
git init -q -b main .
printf 'the only copy\n' > notes.txt
git add notes.txt

say "1. A commit on main is refused, with a reason to act on"
run 'git commit -q -m "quick fix"'
run 'git switch -q -c fix-1 && git commit -q -m "quick fix" && git log --oneline | cut -d" " -f2-'

say "2. rm goes to the trash, and comes back"
run 'rm -f notes.txt; ls'
run 'safeshell trash list | sed "s,$HOME,~,; s,'"$top"',...,"'
run 'safeshell trash restore | sed "s,'"$top"',...,"; cat notes.txt'

say "3. A risky push of an agent waits until a person says yes in another terminal"
git init -q --bare ../remote.git
git remote add origin ../remote.git
git push -q origin fix-1
git commit -q --amend -m "quick fix, better said"
# The other terminal: `safeshell watch` on a pseudo-terminal, with a hand that
# types into it through descriptor 9.
mkfifo "$top/hand"
script -qefc "safeshell watch --plain" /dev/null < "$top/hand" > "$top/screen" 2>&1 &
watcher=$!
exec 9> "$top/hand"
for _ in $(seq 100); do safeshell status 2>/dev/null | grep -q "a monitor is running" && break; sleep 0.1; done
printf '$ CLAUDECODE=1 git push --force origin fix-1     # as an agent would\n'
CLAUDECODE=1 git push --force origin fix-1 > "$top/push" 2>&1 &
push=$!
for _ in $(seq 100); do [ -n "$(safeshell pending 2>/dev/null)" ] && break; sleep 0.1; done
sleep 1.2
printf '1 1\n' >&9
code=0; wait "$push" || code=$?
sed "s,$top,...,g; s/^/  agent  | /" "$top/push"
printf '(exit %s)\n' "$code"
sleep 0.3
printf -- '--- meanwhile, in the other terminal (safeshell watch):\n'
tr -d '\r' < "$top/screen" | sed "s,$top,...,g; s/^/  person | /"

say "What happened, from the journal"
run 'safeshell log | sed "s,'"$top"',...,g"'
say "And what would happen to a line that nobody should run (it is only judged)"
run 'safeshell check -- "cd / && rm -rf *" | sed "s,'"$top"',...,g"'
