#!/usr/bin/env bash
# Instruments that die: each is one clear line, and the run goes on without them.
. "$(dirname "$0")/tap.sh"
need_root

small_scenario 6 | sed 's/count: 3/count: 2/' >"$work/small.yaml"

# bereave OUTPUT N COMMAND...: kills all measuring processes once there are N, or sends them $signal.
# The command's status; 0 for 4, with which a busy machine ends a run.
signal=KILL
bereave() {
	local out=$1 n=$2 status=0
	shift 2
	timeout -k 1 120 "$@" >"$work/$out" 2>&1 &
	local timer=$! pid=
	for i in $(seq 600); do
		pid=$(pgrep -P $timer -x narrowlink | head -1)
		[ -n "$pid" ] && [ "$(pgrep -P "$pid" -x nl-measure | wc -l)" -ge "$n" ] && break
		sleep 0.1
	done
	pkill -$signal -P "$pid" -x nl-measure
	wait $timer || status=$?
	cat "$work/$out"
	[ $status -ne 4 ] || status=0
	return $status
}

# said FOLDER CALIBRATION PATTERN: that is in run.json, and in a note of one line.
said() {
	python3 - "$work/$1/run.json" "$2" "$3" <<'PY'
import json, re, sys
c = json.load(open(sys.argv[1]))["cases"][0]
print(c["verdict"], c["fidelity"]["calibration"], c["notes"])
assert c["verdict"] in ("holds", "invalid") and c["exchange_s"]["n"] > 0
assert c["fidelity"]["calibration"] == sys.argv[2]
assert any(re.search(sys.argv[3], note) and "\n" not in note for note in c["notes"])
PY
}

flows() {
	bereave flows.out 4 "$NARROWLINK" run "$work/small.yaml" --set calibration=short --out "$work/flows" &&
		said flows unavailable 'could not be calibrated: the sending libiperf was killed by signal 9'
}
check "libiperf is killed: calibration unavailable, the run goes on" flows

probes() {
	bereave probes.out 2 "$NARROWLINK" run "$work/small.yaml" --set calibration=full --out "$work/probes" &&
		said probes unavailable 'could not be calibrated: the probe was killed by signal 9'
}
check "the probes are killed: the same" probes

# Without an end in time there is a figure less.
hang() {
	signal=STOP bereave hang.out 4 "$NARROWLINK" run "$work/small.yaml" --set calibration=short --out "$work/hang" &&
		python3 - "$work/hang/run.json" <<'PY'
import json, sys
f = json.load(open(sys.argv[1]))["cases"][0]["fidelity"]
why = [c["why"] for c in f["checks"] if c["check"] == "rate_udp" and c["result"] == "unmeasured"]
print(f["calibration"], why)
assert f["calibration"] == "short" and "libiperf did not end in time" in why[0] and "\n" not in why[0]
PY
}
check "libiperf does not end: not measured, the run goes on" hang

rights() {
	local status=0
	setpriv --bounding-set -net_raw "$NARROWLINK" run "$work/small.yaml" \
		--set 'capture={sites: [1], limit: 1 MB}' --out "$work/rights" >"$work/rights.out" 2>&1 || status=$?
	cat "$work/rights.out"
	[ $status -eq 0 ] || [ $status -eq 4 ] || return 1
	said rights off 'no packets were captured: the capture at site-1 failed: .*permission'
}
if command -v setpriv >/dev/null; then
	check "no permission to capture: the run goes on, without its figures" rights
fi

capture() {
	bereave capture.out 4 "$NARROWLINK" run "$work/small.yaml" \
		--set 'capture={sites: [1, site-2], limit: 1 MB}' --out "$work/capture" &&
		said capture off 'the capture failed: the capture at site-1 was killed by signal 9'
}
check "libpcap is killed: the run goes on, without its figures" capture

command=("$NARROWLINK" calibrate "$work/small.yaml")
killed() {
	! bereave calibrate.out 4 "${command[@]}" || return 1
	[ "$(grep -c '^narrowlink:' "$work/calibrate.out")" -eq 1 ] &&
		grep -q '^narrowlink: the sending libiperf was killed by signal 9' "$work/calibrate.out"
}
check "narrowlink calibrate says it in a line" killed
finish
