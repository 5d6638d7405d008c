#!/usr/bin/env bash
# narrowlink run --engine model: the same bytes again, whatever names the folder; what is refused.
. "$(dirname "$0")/tap.sh"

small_scenario 12 | sed "s/50 %/30 %/" >"$work/job.yaml"
echo 'faults: [{kind: crash, target: site 2, at: 1 s, for: 400 ms}]' >>"$work/job.yaml"

has() {
	grep -q -- "$1" "$2"
}

has_not() {
	! grep -q -- "$1" "$2"
}

command=("$NARROWLINK" run -q "$work/job.yaml" --engine model --out "$work/first")
check "a simulated run ends well" expect 0 'holds'
command=("$NARROWLINK" run -q "$work/job.yaml" --engine model "--out=$work/second")
check "and again" expect 0
check "run.json is the same bytes" cmp "$work/first/run.json" "$work/second/run.json"
check "events.csv too" cmp "$work/first/events.csv" "$work/second/events.csv"
check "it names the engine" has '"engine": "model"' "$work/first/run.json"
check "and no host" has '"kernel": null' "$work/first/run.json"
check "the report says simulated" has 'Simulated' "$work/first/report.html"
check "and never measured" has_not 'Measured' "$work/first/report.html"
check "links were sampled" has 'site-3' "$work/first/samples.csv"
interrupt() {
	"$NARROWLINK" run -q "$work/job.yaml" --engine model --set run.steps=1000000 \
		--set 'run.limit=365 d' --out "$work/long" >"$work/long.out" 2>&1 &
	local pid=$! status=0
	for _ in $(seq 100); do
		[ -s "$work/long/events.csv" ] && break
		sleep 0.1
	done
	kill -TERM $pid
	wait $pid || status=$?
	cat "$work/long.out"
	[ $status -eq 4 ] && has '"partial"' "$work/long/run.json" && [ -s "$work/long/report.html" ]
}
check "SIGTERM: written, marked partial, status 4" interrupt
slashes() {
	"$NARROWLINK" run -q "$work/job.yaml" --engine model --out "$work/slashes//" | grep -q "^report: $work/slashes/report.html$" &&
		"$NARROWLINK" report "$work/slashes///" | grep -q "^report: $work/slashes/report.html$"
}
check "a folder's name is shown without the slashes at its end" slashes

# What could not be recorded is no verdict, and a report that is not there has no path.
limited() {
	(ulimit -f 1 && "$NARROWLINK" run "$work/job.yaml" --engine model --out "$work/limited")
}
moved() {
	local status=0
	"$NARROWLINK" run "$work/job.yaml" --engine model --out "$work/moved" \
		--set run.steps=1000000 --set 'run.limit=365 d' &
	for _ in $(seq 100); do
		[ -s "$work/moved/events.csv" ] && break
		sleep 0.1
	done
	kill -STOP $! # so that it does not miss its folder before it is interrupted
	mv "$work/moved" "$work/away"
	kill -TERM $!
	kill -CONT $!
	wait $! || status=$?
	return $status
}
says_nothing_good() {
	! "$1" 2>&1 | grep -E 'holds|^report:'
}
command=(limited)
check "no room for the record: status 3" expect 3 'cannot write .*run.json'
rm -r "$work/limited"
check "and neither a verdict nor a report's path" says_nothing_good limited
command=(moved)
check "the folder is moved away, then interrupted: status 4" expect 4 'cannot write .*run.json'
rm -r "$work/away"
check "and no report's path either" says_nothing_good moved
command=("$NARROWLINK" run -q "$work/job.yaml" --set transport.tcp=ideal --out "$work/ideal")
check "ideal TCP is simulated without being asked" expect 0
check "and says so" has '"engine": "model"' "$work/ideal/run.json"
command=("$NARROWLINK" run -q "$work/job.yaml" --set transport.tcp=ideal --engine relay --out "$work/none")
check "real packets are refused ideal TCP" expect 2 'write real, or --engine model'
check "and nothing is created" test ! -e "$work/none"
command=("$NARROWLINK" run -q "$work/job.yaml" --engine mode)
check "an engine that does not exist" expect 2 'auto, netem, relay or model'


# A crash in the warm-up: what it costs when the others measure is counted. $1: at, $2: for.
struck() {
	small_scenario 30 >"$work/struck.yaml"
	echo "faults: [{kind: crash, target: site 1, at: $1, for: $2}]" >>"$work/struck.yaml"
	"$NARROWLINK" run -q "$work/struck.yaml" --engine model --set 'run.limit=12 s' --json \
		--out "$work/struck-$number" >"$work/struck.json"
	python3 - "$work/struck.json" <<'PYTHON'
import json, sys
case = json.load(open(sys.argv[1]))["cases"][0]
learners = [p for p in case["participants"] if p["role"] == "learner"]
for p in learners:
    assert abs(sum(p["ledger_s"].values()) - p["wall_s"]) < 1e-8, p
away = sum(p["ledger_s"]["down"] + p["ledger_s"]["recover"] for p in learners)
wall = sum(p["wall_s"] for p in learners)
assert abs(case["availability"] - (1 - away / wall)) < 1e-9, case["availability"]
# site-1 is measured as long as the others, who began after the one step of warm-up
assert learners[0]["wall_s"] > learners[1]["wall_s"] - 0.3, [p["wall_s"] for p in learners]
assert learners[0]["ledger_s"]["down"] + learners[0]["ledger_s"]["recover"] > 0.5, learners[0]
assert not any("before the measured" in n for n in case["notes"]), case["notes"]
PYTHON
}
check "a crash at time zero costs its site what the others measure" struck '0 s' '1 s'
check "a crash late in the warm-up too" struck '250 ms' '1 s'
check "and one that nobody repairs" struck '0 s' '10 h'

# Whoever closed the standard files finds the same tables as others.
closed() {
	"$NARROWLINK" run -v "$work/job.yaml" --engine model --out "$work/closed" <&- >&- 2>&- || return 1
	for table in samples.csv tcp.csv events.csv; do
		cmp "$work/first/$table" "$work/closed/$table" || return 1
	done
}
check "closed standard files: what is said is in no table" closed
small_file() {
	! (ulimit -f 4; "$NARROWLINK" report "$work/first" 2>&1) >"$work/small.out" || return 1
	cat "$work/small.out"
	grep -q 'File too large' "$work/small.out"
}
check "a file beyond the limit: its name and the reason" small_file

# A link that is dead for good: what is never merged is not useful, however much is computed.
sed 's/grace: 0.5/grace: 0.5, late: skip/; s/steps: 12/steps: 60/' "$work/job.yaml" | grep -v '^faults' >"$work/dark.yaml"
echo 'faults: [{kind: blackout, target: all, at: 2 s, for: 1000 s}]' >>"$work/dark.yaml"
command=("$NARROWLINK" run -q "$work/dark.yaml" --engine model --out "$work/dark")
check "steps that are overdue do not count" expect 1 'were overdue when the run ended' 'useful_work [12]?[0-9]\.. %'
command=("$NARROWLINK" run -q "$work/job.yaml" --engine model --set 'run.limit=500 ms' --out "$work/cut")
check "the limit is named in the reason" expect 1 'why: .*run.limit ended the run at 500 ms, before all steps were done'

# The table and the report do not wait for charts: gnuplot here takes for ever.
mkdir "$work/slow"
printf '#!/bin/sh\nexec sleep 1000\n' >"$work/slow/gnuplot"
chmod +x "$work/slow/gnuplot"
not_waiting() {
	PATH=$work/slow:$PATH "$NARROWLINK" run -q "$work/job.yaml" --engine model --out "$work/undrawn" >"$work/undrawn.out" &
	local pid=$!
	for _ in $(seq 100); do
		[ -s "$work/undrawn/report.html" ] && grep -q useful "$work/undrawn.out" && break
		sleep 0.1
	done
	kill -TERM $pid
	wait $pid
	has 'holds' "$work/undrawn.out" && has 'not drawn yet' "$work/undrawn/report.html"
}
check "table and report are there before the charts" not_waiting

finish
