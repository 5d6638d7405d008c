#!/usr/bin/env bash
# A signal while the links or the machine are being measured: what was measured is written, the exit
# status is 4, and no process is left. Of two sites probes take two processes, a flow of libiperf with
# probes beside it four.
. "$(dirname "$0")/tap.sh"
need_root

small_scenario 500 | sed 's/count: 3/count: 2/' >"$work/long.yaml"

measuring() {
	pgrep -P "$1" -x nl-measure | wc -l
}

# signalled SIGNAL OUTPUT N COMMAND...: when N processes measure; 0 when it ended with status 4.
signalled() {
	local signal=$1 out=$2 n=$3 status=0
	shift 3
	# a background job of a script ignores SIGINT from birth, but for env
	env --default-signal=INT timeout -k 1 120 "$@" >"$work/$out" 2>&1 &
	local timer=$! pid=
	for i in $(seq 600); do
		pid=$(pgrep -P $timer -x narrowlink | head -1)
		[ -n "$pid" ] && [ "$(measuring "$pid")" -ge "$n" ] && break
		sleep 0.1
	done
	local children
	children=$(pgrep -P "$pid")
	kill -"$signal" "$pid"
	wait $timer || status=$?
	cat "$work/$out"
	for child in $children; do
		[ ! -e "/proc/$child" ] || { echo "left: $(tr '\0' ' ' <"/proc/$child/cmdline")"; return 1; }
	done
	[ $status -eq 4 ] || { echo "exit status $status"; return 1; }
}

calibration() {
	signalled "$1" "run-$1.out" 4 "$NARROWLINK" run "$work/long.yaml" --set calibration=full \
		--out "$work/run-$1" || return 1
	[ -s "$work/run-$1/report.html" ] && [ -s "$work/run-$1/probes.csv" ] || return 1
	python3 - "$work/run-$1/run.json" <<'PY'
import json, sys
c = json.load(open(sys.argv[1]))["cases"][0]
print(c["verdict"], c["because"], c["fidelity"])
assert c["verdict"] == "partial" and "interrupted while the links were measured" in c["because"]
results = [k["check"] for k in c["fidelity"]["checks"]]
assert "rtt" in results and "loss" in results, results
PY
}
check "SIGINT while the links are measured: partial, with the checks made so far" calibration INT
check "SIGTERM: the same" calibration TERM

dilation() {
	signalled TERM auto.out 2 "$NARROWLINK" run "$work/long.yaml" --set dilation=auto --out "$work/auto" ||
		return 1
	grep -q "interrupted while this machine was measured: nothing was run" "$work/auto.out" &&
		[ ! -e "$work/auto" ]
}
check "SIGTERM while dilation: auto measures: nothing was run, and nothing is made" dilation

command_itself() {
	signalled INT calibrate.out 4 "$NARROWLINK" calibrate fibre-national-1g || return 1
	grep -q 'round trip .*holds\|round trip .*OFF' "$work/calibrate.out" &&
		grep -q interrupted "$work/calibrate.out"
}
check "Ctrl-C of narrowlink calibrate: the table so far" command_itself
finish
