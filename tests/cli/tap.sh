# Sourced by the tests of the program as a user runs it. NARROWLINK is the program, SOURCE the
# source tree. Prints TAP: `check NAME COMMAND...` is one test; `finish` prints the plan.
set -u
number=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/check.out" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$work/check.out"
	fi
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

finish() {
	echo "1..$number"
}

# The program's exit status is $1, and what it said matches each following pattern.
expect() {
	local want=$1 got=0 out
	shift
	out=$("${command[@]}" 2>&1) || got=$?
	echo "$out"
	[ "$got" -eq "$want" ] || { echo "exit status $got, want $want"; return 1; }
	local pattern
	for pattern in "$@"; do
		grep -qE -- "$pattern" <<<"$out" || { echo "no match for: $pattern"; return 1; }
	done
}

need_root() {
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	[ -c /dev/net/tun ] || skip_all "needs /dev/net/tun"
}

# A small job that runs for $1 steps of 300 ms: three sites, 20 Mbit/s, and
# delays so long that a busy machine's lateness is small beside them.
small_scenario() {
	cat <<YAML
narrowlink: 1
title: small
seed: 7
sites: {count: 3, link: wan, accelerators: 8}
links:
  wan: {rate: 20 Mbit/s, delay: 100 ms, queue: 100 ms}
core: {delay: 1 ms}
calibration: off
workload:
  strategy: decoupled-diloco
  parameters: 1 M
  step: 300 ms
  outer: {period: 4, fragments: 4, overlap: 2, bits: 4, syncer: sharded, quorum: 1, grace: 0.5}
transport: {connections: 2, congestion: cubic, buffers: auto, slow_start_after_idle: true}
run: {steps: $1, warmup: 1}
expect: {useful_work: ">= 50 %"}
YAML
}
