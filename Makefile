# safeshell: `make demo` shows it, `make test` proves it, `make install` puts it
# into PREFIX/bin, its man pages and completions into PREFIX/share. Everything else is for people who work on it.

GO      ?= go
PREFIX  ?= /usr/local
BIN     ?= bin/safeshell
# The version, the commit and its date are in the program, and nothing else of where
# and when it was built.
VERSION ?= $(shell test -e .git && git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell test -e .git && git rev-parse HEAD 2>/dev/null)
DATE    ?= $(shell test -e .git && TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)

# On linux/amd64 the program starts at an entry of its own, which notes what
# the Go runtime would change (closed standard files, ignored signals), so that
# a guarded command inherits exactly what an unguarded one would.
GOOS   := $(shell $(GO) env GOOS)
GOARCH := $(shell $(GO) env GOARCH)
ENTRY  := $(if $(filter linux/amd64,$(GOOS)/$(GOARCH)),-E safeshell/shims.entry)
LDFLAGS = -s -w -X safeshell/cli.Version=$(VERSION) -X safeshell/cli.Commit=$(COMMIT) -X safeshell/cli.Date=$(DATE) \
	$(if $(ENTRY),-X safeshell/cli.Entry=$(lastword $(ENTRY)))

export CGO_ENABLED = 0

.PHONY: all build install demo test lint cover race fuzz builds bench bench-compare chaos clean tools clients landlock pictures release install-test release-test

all: build

# The binary is lean where it counts: a shim links no monitor and no command line
# grammar. Those are a second program, which the binary carries and runs from
# memory (linux; elsewhere everything is linked together).
build:
	@mkdir -p $(dir $(BIN))
ifeq ($(GOOS),linux)
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o program/safeshell-whole ./program/whole
	$(GO) build -trimpath -tags split -ldflags '$(LDFLAGS) $(ENTRY)' -o $(BIN) .
else
	$(GO) build -trimpath -ldflags '$(LDFLAGS) $(ENTRY)' -o $(BIN) .
endif

install: build
	@{ install -d '$(DESTDIR)$(PREFIX)/bin' && t=$$(mktemp '$(DESTDIR)$(PREFIX)/bin/.safeshell.XXXXXX') && rm "$$t"; } 2>/dev/null || { \
	echo "make install: $(DESTDIR)$(PREFIX)/bin cannot be written: make install PREFIX=\$$HOME/.local, or: sudo make install PREFIX=$(PREFIX)" >&2; exit 1; }
	install -m 0755 $(BIN) $(DESTDIR)$(PREFIX)/bin/safeshell
	ln -sf safeshell $(DESTDIR)$(PREFIX)/bin/safeshell-wrapper
	rm -rf bin/docs
	GOOS= GOARCH= $(GO) run ./internal/release/docs -version '$(VERSION)' -date '$(or $(firstword $(subst T, ,$(DATE))),1970-01-01)' -out bin/docs
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 bash-completion/completions zsh/site-functions fish/vendor_completions.d)
	install -m 0644 bin/docs/man/man1/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 0644 bin/docs/completions/safeshell.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/safeshell
	install -m 0644 bin/docs/completions/_safeshell $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_safeshell
	install -m 0644 bin/docs/completions/safeshell.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/safeshell.fish
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) \
	first=$$(command -v safeshell || :); [ '$(PREFIX)/bin/safeshell' -ef "$$first" ] || [ -n '$(DESTDIR)' ] || \
	echo "$$first comes before $(PREFIX)/bin/safeshell in your PATH; which of them judges: $(PREFIX)/bin/safeshell status" ;; *) \
	echo "$(PREFIX)/bin is not in your PATH; set up with: $(PREFIX)/bin/safeshell init" ;; esac

# What tests and the demo need beside Go; nothing happens where it is there or
# cannot be had (then those tests say which tool they lack).
tools:
	@./.ci/tools

demo: build
	@./docs/demo.sh $(abspath $(BIN))

# dist/: archives, packages, npm's, a formula, sums and signature (docs/verify.md).
# make release VERSION=v0.1.0 REPOSITORY=owner/name MINISIGN_KEY=file, the key's
# password in MINISIGN_PASSWORD; ALLOW_DIRTY=1 for a trial.
REPOSITORY ?= owner/safeshell
release:
	@$(GO) run ./internal/release -version '$(VERSION)' -repository '$(REPOSITORY)' $(if $(ALLOW_DIRTY),-allow-dirty) $(RELEASEFLAGS)

# What a release made, installed as people do it: the deb in a fresh Debian (mmdebstrap, a chroot
# with mounts of its own), the rpm by rpm --root, the npm packages from a registry of its own
# (verdaccio), the formula, the README word for word. The scenarios are in
# internal/installtest/testdata; a table in the end says what was tried and what was skipped for
# want of which tool. What they need is kept in INSTALLTEST.
INSTALLTEST ?= bin/installtest
install-test:
	@./.ci/install-test $(INSTALLTEST)
	@for v in v0.0.9 v0.1.0; do $(GO) run ./internal/release -version $$v -allow-dirty -platforms linux_$(GOARCH) -out $(INSTALLTEST)/$$v || exit; done
	@code=0; SAFESHELL_DIST=$(abspath $(INSTALLTEST)/v0.1.0) SAFESHELL_OLD_DIST=$(abspath $(INSTALLTEST)/v0.0.9) SAFESHELL_INSTALLTEST=$(abspath $(INSTALLTEST)) \
	  $(GO) test -count=1 -timeout 30m $(INSTALLTESTFLAGS) ./internal/installtest || code=$$?; cat $(INSTALLTEST)/table; exit $$code

# Two releases of all platforms, made in two places: the same bytes; and looked at by
# dpkg, rpm, npm, minisign, lintian. Takes ten minutes and more.
release-test:
	SAFESHELL_TEST_RELEASE=all $(GO) test -count=1 -timeout 90m -v ./internal/release

# The README's pictures, from the real program; needs tmux.
pictures: build
	$(GO) run ./docs/pictures $(BIN) docs/pictures

test: tools build
	$(GO) vet ./...
	SAFESHELL_TEST_BINARY=$(abspath $(BIN)) $(GO) test -timeout 30m $(TESTFLAGS) ./...

# The hooks against the real agents: installs those with npm into CLIENTS (once;
# remove the directory to update them) and drives them with a fake model. Needs
# npm and its registry, no model and no account.
CLIENTS ?= bin/clients
clients: build
	@test -d $(CLIENTS)/node_modules || ./.ci/clients $(CLIENTS)
	SAFESHELL_TEST_CLIENTS=$(abspath $(CLIENTS)) SAFESHELL_TEST_BINARY=$(abspath $(BIN)) $(GO) test -count=1 -timeout 60m -v ./internal/test/clienttest

# Figures beside their limits; BENCHFLAGS="-entries 100000 -tree 100000" for the
# full sizes. make bench-compare A=before.json B=after.json holds two side by side.
BENCHOUT ?= bin/bench.json
bench: build
	$(GO) run ./internal/test/bench -binary $(abspath $(BIN)) -json $(BENCHOUT) $(BENCHFLAGS)
	$(GO) test -run '^$$' -bench 'Parse|Judge|FromArgv|Open' -benchmem -benchtime 200x ./script ./eval

bench-compare:
	$(GO) run ./internal/test/bench -compare $(A) $(B)

# Faults and load, as a table of what was tried and what broke (nothing, else it
# fails): all of them take most of an hour. CHAOSFLAGS=-short ends within five minutes,
# CHAOSFLAGS="-each 60s" gives each a minute; -list prints the rows.
chaos: tools build
	$(GO) build -o bin/chaos ./internal/test/chaos
	./bin/chaos -binary $(abspath $(BIN)) $(CHAOSFLAGS)

lint: build
	@./.ci/lint

# Not part of test: boots a kernel in qemu, KERNEL=/path/to/vmlinuz, and runs the
# tests of Landlock there; for machines whose own kernel has none, or another.
landlock:
	./internal/test/landlock/run.sh

# make test with statement coverage; fails below the limit for what guards files
# and answers.
cover:
	@./.ci/cover

# Every package once more, in short, under the race detector.
race: tools build
	SAFESHELL_TEST_BINARY=$(abspath $(BIN)) ./.ci/race

# Each fuzz target for FUZZTIME; FUZZ=regexp picks some. Findings stay as seeds.
FUZZTIME ?= 4s
fuzz:
	@./.ci/fuzz $(FUZZTIME) $(FUZZ)

# Real projects built with and without safeshell; needs the package registries.
builds: build
	./internal/test/bench/builds.sh $(abspath $(BIN))

clean:
	rm -rf bin dist dist.new program/safeshell-whole
