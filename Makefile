# `make` prints the targets; `make test` is what CI runs.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run test race lint clients sim fuzz bench conformance

# golangci-lint is run from its module, so that nothing but Go has to be installed. Its build is cached by Go: about
# 90 s on two cores the first time, and nothing after that.
LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# synctests is kgo's tag: its mutexes then count as blocked in a testing/synctest bubble. -count=1: crash tests and the
# simulation draw fresh seeds, which a cached result would hide.
GOTEST := go test -tags synctests -count=1

# What shares memory between goroutines. The coordinator has none, so its long simulation runs without the detector.
RACE := ./broker/... ./cmd/... ./offsetslog/... ./partitionlog/journal/... ./partitionlog/vfs/... ./protocol/...

# Length of `make sim`, and of each target of `make fuzz`.
SIM  := 60s
FUZZ := 30s

ROUNDS := 5

# How many jobs of `make clients` run at a time. They wait for session timeouts more than they work.
PARALLEL := 6

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start a broker in memory on 127.0.0.1:9092
	go run ./cmd/kohort dev

test: lint ## lint, vet, all tests, the race detector, and the clients in integration/
	@missing=; for need in kcat zsh fish; do command -v $$need >/dev/null || missing="$$missing $$need"; done; \
	test -z "$$missing" || { \
		echo "==> installing$$missing, for the tests that run it"; \
		as=; test "$$(id -u)" = 0 || as=sudo; \
		$$as apt-get update -qq; \
		$$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; \
	}
	@echo '==> go vet'
	go vet -tags synctests ./...
	@echo '==> go test (all packages, a minute or two)'
	$(GOTEST) ./...
	@$(MAKE) --no-print-directory race
	@if test -f integration/go.mod; then \
		echo '==> integration: real clients against real processes'; \
		cd integration; go vet ./...; go test -count=1 -timeout 15m ./...; \
	fi

race: ## the tests of packages with goroutines, under the race detector
	@echo '==> go test -race (a few minutes)'
	$(GOTEST) -race $(RACE)
	$(GOTEST) -race ./partitionlog -crash.seeds=500

lint: ## golangci-lint with .golangci.yml; FIX=1 formats first
	@echo '==> lint (golangci-lint is built first where Go has not cached it)'
	$(if $(FIX),$(LINT) fmt ./...)
	$(LINT) run --allow-parallel-runners --build-tags synctests ./...

clients: ## every client in docs/clients.md, which it writes, against the binary; ONLY=regexp, such as 'kafkajs:zombie'
	@missing=; for need in java:openjdk-17-jdk-headless mvn:maven node:nodejs npm:npm python3:python3 kcat:kcat; do \
		command -v "$${need%%:*}" >/dev/null || missing="$$missing $${need#*:}"; \
	done; \
	python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$$missing python3-venv"; \
	test -z "$$missing" || { \
		echo "==> installing$$missing"; \
		as=; test "$$(id -u)" = 0 || as=sudo; \
		$$as apt-get update -qq; \
		$$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; \
	}
	@echo '==> clients: about 250 jobs, a line each (a few minutes; the first time each client is installed before its first job)'
	cd integration && go vet -tags clients ./clients/... && go test -c -tags clients -o ../.bin/clients.test ./clients
	cd integration/clients && ../../.bin/clients.test -test.timeout 20m -test.parallel $(PARALLEL) \
		$(if $(ONLY),-test.run 'TestClients/$(ONLY)',-doc ../../docs/clients.md)

sim: ## simulate groups with fresh seeds for a minute; SIM=10m for longer
	go test ./coordinator -count=1 -timeout 0 -run '^TestSim$$' -v -sim.budget=$(SIM)

fuzz: ## every fuzz target for half a minute; FUZZ=10m for longer
	@grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r dir; do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -d' ' -f2 | sort -u); do \
			echo "==> $$dir $$target"; \
			go test "$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ); \
		done; \
	done

# What a live Apache Kafka needs.
define JAVA
for program in mvn java; do command -v $$program >/dev/null || { \
	echo '==> installing Maven and a Java runtime'; \
	as=; test "$$(id -u)" = 0 || as=sudo; \
	$$as apt-get update -qq; \
	$$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq maven openjdk-17-jre-headless >/dev/null; \
}; done
endef

bench: ## against kfake, the machine's floor and, with KAFKA=1, Apache Kafka; writes docs/bench.md; ROUNDS=5
	@$(if $(KAFKA),$(JAVA))
	cd integration/bench && go run . -rounds $(ROUNDS) -doc ../../docs/bench.md

conformance: ## compare with a live Apache Kafka (needs Maven and Java 17); RECORD=1 keeps its answers, ONLY=regexp, HISTORIES=5000
	@$(JAVA)
	cd integration && go run ./conformance/$(if $(HISTORIES),histories -count $(HISTORIES),compare -run '$(ONLY)' $(if $(RECORD),-record))
	$(if $(HISTORIES)$(ONLY)$(RECORD),,cd integration && go run ./bytes/compare)
