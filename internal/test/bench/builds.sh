#!/usr/bin/env bash
# Builds and tests real projects three times: plain, under the shims as a person,
# and under the wrapper and the shims as an agent. The exit codes, the summaries
# of their tests and the files they leave must be the same, nobody is asked, and
# nothing is stopped. Prints one line for each project and way; fails when
# anything differs. Everything happens below one scratch directory with a scratch
# HOME; what cannot be fetched here is named and left out.
# Usage: internal/test/bench/builds.sh /path/to/safeshell [PROJECT...]; KEEP=1 leaves the logs,
# ROUNDS=3 builds each way so often, in turns, and gives the medians of the times.
# shellcheck disable=SC2034,SC2016,SC2317 # steps are text, functions are called by name
set -euo pipefail

bin=$(readlink -f "${1:?usage: internal/test/bench/builds.sh /path/to/safeshell [PROJECT...]}")
shift
top=$(mktemp -d "${TMPDIR:-/tmp}/safeshell-builds.XXXXXX")
[ -n "${KEEP:-}" ] || trap 'chmod -R u+w "$top"; rm -rf "$top"' EXIT
echo "builds: in $top"
mkdir -p "$top"/{src,log,home}
tools=$PATH
failed=0 done=0 rounds=${ROUNDS:-1}
skip() { printf 'builds: skipped: %s\n' "$*"; }

# --- the projects: fetch_NAME puts the source into $top/src/NAME and says which
# version it is; NAME_steps is what a person would type; NAME_summary picks the
# lines of the log that tell how the tests went.

# debsource NAME unpacks the upstream source of a Debian package.
debsource() {
  local apt=$top/apt suite orig o
  command -v apt-get >/dev/null || { echo "no apt-get" >&2; return 1; }
  mkdir -p "$apt"/{lists/partial,cache/archives/partial,"$1"} "$top/src/$2"
  o=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=)
  if [ ! -f "$apt/sources.list" ]; then
    suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    orig=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources 2>/dev/null | sed -n 's/^URIs: *//p; s/^deb  *\(h[^ ]*\) .*/\1/p' | head -n 1)
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $orig ${suite:-stable} main" >"$apt/sources.list"
    apt-get "${o[@]}" -qq update || return 1
  fi
  (cd "$apt/$1" && apt-get "${o[@]}" -qq --download-only source "$1") || return 1
  for orig in "$apt/$1"/*.orig.tar.*; do
    case $orig in *.asc) ;; *) tar -xf "$orig" -C "$top/src/$2" --strip-components=1 || return 1 ;; esac
  done
  basename "$apt/$1"/*.dsc .dsc
}

# Autoconf: configure, make, some thirty test scripts.
fetch_gzip() { debsource gzip gzip; }
gzip_steps='./configure --quiet && make -j2 && make check && make install DESTDIR="$PWD/dest" && make clean'
gzip_summary='^# (TOTAL|PASS|SKIP|FAIL|ERROR|XFAIL|XPASS):|^(PASS|FAIL|SKIP|ERROR): '

# An npm project: hundreds of packages, some with scripts of their own, then its
# own scripts with the usual shell in them.
fetch_npm() {
  command -v npm >/dev/null || return 1
  mkdir -p "$top/src/npm/src" "$top/src/npm/test"
  cat >"$top/src/npm/package.json" <<'P'
{"name": "built", "version": "1.0.0", "private": true,
 "scripts": {
  "clean": "rm -rf dist coverage && rm -f *.log; find . -name '*.tsbuildinfo' -not -path './node_modules/*' -delete",
  "prebuild": "npm run clean && mkdir -p dist",
  "build": "tsc -p . && esbuild src/main.ts --bundle --platform=node --outfile=dist/bundle.js && webpack --mode production --entry ./dist/main.js -o dist/web",
  "postbuild": "cp package.json dist/ && chmod +x dist/bundle.js && (cd dist && ls | sort > FILES)",
  "lint": "eslint --no-config-lookup test/main.test.js || exit 1",
  "pretest": "npm run build",
  "test": "node --test --test-reporter=tap test/ && sh -c 'for f in dist/*.js; do node --check \"$f\" || exit 1; done'"},
 "dependencies": {"core-js": "3.38.1"},
 "devDependencies": {"typescript": "5.6.3", "esbuild": "0.24.0", "webpack": "5.95.0", "webpack-cli": "5.1.4", "eslint": "9.13.0", "jest": "29.7.0", "bufferutil": "4.0.8", "@types/node": "22.8.1"}}
P
  echo '{"compilerOptions": {"target": "es2022", "module": "commonjs", "outDir": "dist", "rootDir": "src", "incremental": true, "strict": true, "types": ["node"]}, "include": ["src"]}' >"$top/src/npm/tsconfig.json"
  echo 'export function add(a: number, b: number): number { return a + b } if (require.main === module) console.log(add(1, 2))' >"$top/src/npm/src/main.ts"
  cat >"$top/src/npm/test/main.test.js" <<'P'
const t = require('node:test'), a = require('node:assert'), { execSync } = require('child_process')
t('adds', () => a.equal(require('../dist/main.js').add(2, 3), 5))
t('prints', () => a.equal(execSync("node dist/bundle.js | sed 's/^/=/'").toString(), '=3\n'))
P
  # Once, so that every way finds the same lock file and a warm cache.
  (cd "$top/src/npm" && HOME=$top/home npm_config_cache=$top/npm-cache npm install --package-lock-only --no-audit --no-fund --silent) || return 1
  (cd "$top/src/npm" && mkdir w && cp package*.json w && cd w && HOME=$top/home npm_config_cache=$top/npm-cache npm ci --no-audit --no-fund --silent --ignore-scripts) >&2 || return 1
  rm -rf "$top/src/npm/w"
  echo "$(grep -c '"resolved"' "$top/src/npm/package-lock.json") packages"
}
npm_steps='npm ci --no-audit --no-fund --offline && npm run lint && npm test && npx --no-install tsc --version'
npm_summary='^# (tests|pass|fail|skipped)|^(not )?ok |^Version|^added '

# A Go module with cgo and C sources of its own.
fetch_go() {
  command -v gcc >/dev/null && command -v go >/dev/null || return 1
  mkdir -p "$top/src/go"
  local dir
  dir=$(cd "$top" && GOFLAGS=-modcacherw go mod download -json github.com/DataDog/zstd@v1.5.6 | sed -n 's/^\t"Dir": "\(.*\)",/\1/p') || return 1
  cp -r "$dir/." "$top/src/go" && chmod -R u+w "$top/src/go"
  echo github.com/DataDog/zstd v1.5.6
}
go_steps='export CGO_ENABLED=1; go vet . ; go build ./... && go test -count=1 -short . && go test -c -o zstd.test . && rm zstd.test'
go_summary='^(ok|FAIL|---)|^PASS'

# A Python package with a C extension, built from its source distribution.
fetch_python() {
  command -v gcc >/dev/null && python3 -c 'import setuptools' && debsource simplejson python
}
python_steps='python3 setup.py -q build_ext --inplace && python3 -m unittest simplejson.tests.additional_tests simplejson.tests.test_dump simplejson.tests.test_decode simplejson.tests.test_speedups simplejson.tests.test_unicode && python3 setup.py -q clean --all && find . -name "*.pyc" -delete && find . -name __pycache__ -type d -exec rm -rf {} +'
python_summary='^(OK|FAILED|Ran [0-9]+ tests)'

# --- one build in one way

homes() {
  export HOME=$top/home
  env -i HOME="$HOME" PATH="$tools" SHELL=/bin/bash "$bin" init --yes >"$top/log/init" 2>&1 || { cat "$top/log/init"; exit 1; }
  git init -q "$top/repo" 2>/dev/null || true
}

way() { # PROJECT WAY
  local p=$1 w=$2 dir=$top/work log=$top/log/$1.$2 steps=${1}_steps code=0 t0 t1
  chmod -R u+w "$dir" 2>/dev/null || true
  rm -rf "$dir" "$top/tmp" "$top/gocache"
  mkdir -p "$top/tmp"
  cp -a "$top/src/$p" "$dir"
  local vars=(HOME="$top/home" TERM=dumb LC_ALL=C TMPDIR="$top/tmp" GOCACHE="$top/gocache" GOFLAGS=-modcacherw GOMODCACHE="$(go env GOMODCACHE 2>/dev/null || true)"
    npm_config_cache="$top/npm-cache" npm_config_update_notifier=false PYTHONDONTWRITEBYTECODE= PYENV_ROOT="${PYENV_ROOT:-}" SOURCE_DATE_EPOCH=1700000000)
  local run=(bash -c)
  case $w in
    plain) vars+=(PATH="$tools") ;;
    person) vars+=(PATH="$top/home/.safeshell/shims:$tools" SAFESHELL_CONTEXT=human) ;;
    agent)
      vars+=(PATH="$top/home/.safeshell/shims:$tools" CLAUDECODE=1)
      run=("$bin" -c)
      ;;
  esac
  t0=$(date +%s%N)
  # The time that counts is that of the processors: the clock's depends on who
  # else is at work.
  { TIMEFORMAT='%U %S' && time { (cd "$dir" && setsid -w env -i "${vars[@]}" timeout 3600 "${run[@]}" "${!steps}") </dev/null >"$log" 2>&1; }; } 2>"$log.cpu" || code=$?
  awk '{ printf "%d\n", ($1 + $2) * 1000 }' "$log.cpu" >>"$log.cpums"
  t1=$(date +%s%N)
  echo "$code" >"$log.code"
  echo $(((t1 - t0) / 1000000)) >>"$log.ms"
  local pick=${p}_summary
  grep -E "${!pick}" "$log" | sed -E 's/[0-9.]+ ?m?s( |$)/T\1/g; s/\(cached\)//' | sort >"$log.summary" || true
  # Which files are there, of which kind and mode.
  (cd "$dir" && find . -name node_modules -prune -o -printf '%y %m %p %l\n' -o -true; find node_modules -printf '%y %m %p %l\n' 2>/dev/null || true) |
    LC_ALL=C sort >"$log.files"
}

median() { sort -n "$1" | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

compare() { # PROJECT WAY
  local p=$1 w=$2 log=$top/log/$1.$2 plain=$top/log/$1.plain ok=same part stopped=0 calls=0 ms pms cpu pcpu
  for part in code summary files; do
    cmp -s "$plain.$part" "$log.$part" || { ok=DIFFERENT; { diff "$plain.$part" "$log.$part" || true; } | sed "20q; s/^/builds: $p $w $part: /" || true; }
  done
  if [ "$w" != plain ]; then
    calls=$(wc -l <"$log.journal")
    stopped=$(grep -cE '"action":"(deny|require_approval|asked)"|"kind":"request"' "$log.journal" || true)
    [ "$stopped" -eq 0 ] || { ok=STOPPED; sed -nE '/"action":"(deny|require_approval|asked)"|"kind":"request"/p' "$log.journal" | sed 5q || true; }
    ! grep -q '\[SafeShell\]' "$log" || { ok=SPOKE; grep -A3 '\[SafeShell\]' "$log" | sed 12q || true; }
  fi
  [ "$ok" = same ] || failed=1
  [ "$round" -eq "$rounds" ] || return 0
  ms=$(median "$log.ms") pms=$(median "$plain.ms") cpu=$(median "$log.cpums") pcpu=$(median "$plain.cpums")
  printf 'builds: %-7s %-7s exit %s, %s lines of results, %s files, %s guarded commands in the journal, %d.%01d s (%+d %%), %d.%01d s of processor (%+d %%): %s\n' \
    "$p" "$w" "$(cat "$log.code")" "$(wc -l <"$log.summary")" "$(wc -l <"$log.files")" "$calls" $((ms / 1000)) $((ms % 1000 / 100)) $(((ms - pms) * 100 / (pms + 1))) \
    $((cpu / 1000)) $((cpu % 1000 / 100)) $(((cpu - pcpu) * 100 / (pcpu + 1))) "$ok"
}

homes
journal=$top/home/.safeshell/log/journal.jsonl
[ $# -gt 0 ] || set -- gzip npm go python
for p; do
  if ! version=$("fetch_$p" 2>"$top/log/$p.fetch"); then
    skip "$p: $(tail -n 1 "$top/log/$p.fetch" | cut -c 1-200)"
    continue
  fi
  echo "builds: $p: $version"
  for ((round = 1; round <= rounds; round++)); do
    for w in plain person agent; do
      rm -f "$journal"
      way "$p" "$w"
      cp "$journal" "$top/log/$p.$w.journal" 2>/dev/null || : >"$top/log/$p.$w.journal"
      compare "$p" "$w"
    done
  done
  [ "$(cat "$top/log/$p.plain.code")" -eq 0 ] || { echo "builds: $p fails without safeshell, too:"; tail -n 5 "$top/log/$p.plain"; failed=1; }
  done=$((done + 1))
done
echo "builds: $done projects, $([ $failed -eq 0 ] && echo all alike || echo NOT alike)"
exit "$failed"
