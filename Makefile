# Nothing here that "go build" and "go test" could not do; this is where the flags and the order are
# written down once.

# SQLite is C. Without this a machine without a compiler builds a program that fails at its first query.
export CGO_ENABLED = 1

# One set of flags for every build, test and tool: other flags would compile SQLite once more. A
# checkout that git will not speak about (a container, another owner) is built without its revision.
ifeq ($(shell git rev-parse --verify -q HEAD 2>/dev/null),)
export GOFLAGS := $(GOFLAGS) -buildvcs=false
endif

PREFIX ?= /usr/local
FUZZTIME ?= 20s

# Packages whose goroutines share state: these are tested with the race detector, the others without.
RACE = core/alert,core/claim,core/engine,core/inbox,core/ledger,core/proc,core/sweep,core/tmux,core/usage,tray,web/...

TAGS = e2e,slow
GOTEST = go -C installer/tools run ./gotest -C ../..
# Files by a tag of theirs: $(call tagged,slow)
tagged = $$(grep -rlE --include='*_test.go' '^//go:build .*\b$(1)\b' . | xargs -r -n1 dirname | sort -u)

# $(call step,name,command): run it, say how long it took, keep its exit code
define step
@printf '== %s\n' '$(1)'; began=$$(date +%s); ( $(2) ); code=$$?; \
printf '   %s: %s s\n' '$(1)' $$(($$(date +%s) - began)); exit $$code
endef

.PHONY: help run build test e2e slow soak bench bench-peers race lint fuzz cross package install clean
.PHONY: lint-format lint-vet lint-static lint-vulnerabilities lint-windows lint-darwin

help: ## show this
	@grep -hE '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

run: ## build and start the tower: icon, page and all
	@sh installer/deps.sh run
	@$(MAKE) --no-print-directory build
	@exec bin/tower

build: ## build bin/tower and bin/tower-hook
	go build -o bin/tower ./tray
	CGO_ENABLED=0 go build -o bin/tower-hook ./hooks

test: ## every test, with what it needs installed first
	@sh installer/deps.sh test
	$(call step,vet,go vet ./...)
	$(call step,tests of the tools,go -C installer/tools run ./gotest -flags -shuffle=on ./gotest ./vulncheck)
	$(call step,tests,$(GOTEST) -race $(RACE) -flags -shuffle=on ./...)

race: ## every test with the race detector
	@sh installer/deps.sh test
	$(call step,tests with the race detector,$(GOTEST) -race ... -flags -shuffle=on ./...)

e2e: ## the real agents against a real tower
	@sh installer/deps.sh e2e
	$(call step,end to end,$(GOTEST) -tags e2e -v -flags '-count=1 -timeout=40m' ./tray/e2e)

slow: ## the long tests
	@dirs="$(call tagged,slow)"; if [ -z "$$dirs" ]; then echo 'slow: there is no long test yet'; exit 0; fi; \
	$(GOTEST) -tags slow -v -flags '-count=1 -timeout=4h' $$dirs

soak: ## the tests that watch it live for hours
	@dirs="$(call tagged,slow)"; grep -qsE '^func TestSoak' $$(for d in $$dirs; do echo $$d/*_test.go; done) /dev/null || { echo 'soak: there is no soak test yet'; exit 0; }; \
	$(GOTEST) -tags slow -v -flags '-count=1 -timeout=24h -run ^TestSoak' $$dirs

bench: ## the budgets, each with its reference in the same run
	go run ./tray/bench

bench-peers: ## the budgets, and other programs that read the same files
	go run ./tray/bench -peers

lint: lint-format lint-vet lint-static lint-vulnerabilities lint-windows lint-darwin ## everything that reads the code without running it

lint-format:
	$(call step,gofmt,out=$$(find . -name '*.go' -not -path './.*/*' -exec gofmt -l {} +); [ -z "$$out" ] || { echo "not formatted:"; echo "$$out"; exit 1; })

lint-vet:
	$(call step,vet,go vet -tags $(TAGS) ./... && go -C installer/tools vet ./...)

lint-static:
	$(call step,staticcheck,go tool -modfile=installer/tools/go.mod staticcheck -tags $(TAGS) ./...)

lint-vulnerabilities:
	$(call step,govulncheck,go -C installer/tools run ./vulncheck -C ../.. ./tray ./hooks)

lint-windows:
	$(call step,vet for windows,CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go vet ./...)

lint-darwin:
	$(call step,vet for darwin,CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go vet ./...)

fuzz: ## each fuzz target for a while: FUZZTIME=20s
	@grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's/:[0-9]+:func / /' | while read -r file name; do \
		printf '== %s %s\n' "$$name" "$$(dirname "$$file")"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null || exit 1; \
	done

cross: ## build for the systems that nobody runs it on here
	@for target in windows/amd64 darwin/arm64 linux/arm64; do \
		printf '== %s\n' $$target; export CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/}; \
		end=; [ $$GOOS != windows ] || end=.exe; \
		mkdir -p bin/$$GOOS-$$GOARCH && go build -o bin/$$GOOS-$$GOARCH/tower$$end ./tray && \
		go build -o bin/$$GOOS-$$GOARCH/tower-hook$$end ./hooks || exit 1; \
	done

package: ## make a package to install
	@echo 'package: packages are not made yet; "make install" puts the programs into PREFIX ($(PREFIX))' >&2; exit 1

install: build ## put the programs into PREFIX (/usr/local); DESTDIR goes before it
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 0755 bin/tower bin/tower-hook "$(DESTDIR)$(PREFIX)/bin/"

clean: ## remove what was built
	rm -rf bin
