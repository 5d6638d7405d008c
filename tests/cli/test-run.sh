#!/usr/bin/env bash
# The program as a user runs it: a verdict and a run folder, an interruption, a full disk.
. "$(dirname "$0")/tap.sh"
need_root

small_scenario 6 >"$work/small.yaml"
command=("$NARROWLINK" run "$work/small.yaml" --out "$work/run")
check "a small run holds" expect 0 'holds' 'report.html'
for file in run.json samples.csv tcp.csv events.csv scenario.yaml resolved.yaml report.html; do
	check "the run folder has $file" test -s "$work/run/$file"
done
check "scenario.yaml is the file as given" cmp "$work/small.yaml" "$work/run/scenario.yaml"
check "run.json has the schema" grep -q '"narrowlink/run/1"' "$work/run/run.json"
check "no NaN in run.json" bash -c '! grep -qi nan "$1"' - "$work/run/run.json"
payload() {
	python3 - "$work/run/run.json" <<PY
import json, sys
p = json.load(open(sys.argv[1]))["cases"][0]["payload_bytes"]
print(p)
sys.exit(p["sent"] != p["expected"] or p["sent"] == 0)
PY
}
check "payload on the wire equals the formula" payload
check "the report tells how to repeat it" grep -q "narrowlink run" "$work/run/report.html"
no_tun() {
	unshare -m bash -c '
		mount -t tmpfs none /dev/net
		status=0
		"$1" run "$2/small.yaml" --out "$2/none" >"$2/none.out" 2>&1 || status=$?
		cat "$2/none.out"
		[ $status -eq 3 ] && grep -q "/dev/net/tun" "$2/none.out" && [ ! -e "$2/none" ]
	' - "$NARROWLINK" "$work"
}
check "no /dev/net/tun: status 3, the remedy, nothing made" no_tun
# In a user namespace that permits no further one, and without any capability there.
no_rights() {
	local status=0
	unshare -U -r bash -c '
		echo 0 >/proc/sys/user/max_user_namespaces || exit 77
		exec setpriv --bounding-set=-all --inh-caps=-all "$@"
	' - "$NARROWLINK" run "$work/small.yaml" --out "$work/none" >"$work/rights.out" 2>&1 || status=$?
	cat "$work/rights.out"
	[ $status -eq 3 ] && grep -q "run as root" "$work/rights.out" &&
		grep -q "user.max_user_namespaces" "$work/rights.out" && [ ! -e "$work/none" ]
}
check "missing rights: status 3, the remedy, nothing made" no_rights
# Network namespaces share tcp_mem, but only the first one has the file.
tcp_memory() {
	unshare -n "$NARROWLINK" doctor --json >"$work/doctor.json"
	python3 - "$work/doctor.json" <<PY
import json, sys
findings = json.load(open(sys.argv[1]))
f, = [f for f in findings if f["name"] == "tcp memory"]
print(f)
assert f["status"] == "limited" and f["limit_bytes"] is None
assert "cannot be seen from inside this network namespace" in f["text"]
assert not any("limit_bytes" in g for g in findings if g is not f)
PY
}
check "doctor in another network namespace: TCP's memory cannot be seen" tcp_memory
cp -r "$work/run" "$work/copy"
command=("$NARROWLINK" report "$work/copy")
check "report makes it again" expect 0 'holds'
command=("$NARROWLINK" run "$work/small.yaml" --out "$work/run")
check "a run folder is never overwritten" expect 2 "$work/run"
command=("$NARROWLINK" run "$work/small.yaml" --set transport.congestion=nosuch --out "$work/nosuch")
check "a congestion control that the kernel has not: what it has" expect 3 '"nosuch" is not available' 'available: .*(reno|cubic)'
check "and no folder is made" test ! -e "$work/nosuch"
command=("$NARROWLINK" run "$work/small.yaml" --out "$work/$(printf 'x%.0s' $(seq 3000))")
check "a path too long for the system: the reason is not cut off" expect 2 'File name too long'
command=("$NARROWLINK" run -q "$work/small.yaml" --set 'expect.exchange_p50=<= 1 ms' --out "$work/fails")
check "an expectation that fails: status 1" expect 1 'fails'
command=("$NARROWLINK" run -q "$work/small.yaml" --dilation 2 --out "$work/slow")
check "dilation 2 holds too" expect 0 'holds'

# Links that are measured before, packets that are captured meanwhile.
command=("$NARROWLINK" run -q "$work/small.yaml" --set calibration=short --set 'capture={sites: [1, site-2], limit: 100 kB}' --out "$work/measured")
check "calibrated and captured" expect 0 'holds'
fidelity() {
	python3 - "$work/measured" <<PY
import json, struct, sys
f = json.load(open(sys.argv[1] + "/run.json"))["cases"][0]["fidelity"]
print(f)
assert f["calibration"] == "short"
results = {c["check"]: c["result"] for c in f["checks"]}
assert results["loss"] == results["reordering"] == "holds", results
assert len(f["capture"]) == 4
for c in f["capture"]:
    assert c["kernel_drops"] == 0 and abs(c["bytes"] - c["relay_bytes"]) <= 1e5 and c["packets"] > 0
assert not all(c["complete"] for c in f["capture"])  # 100 kB are soon full
for site in "site-1", "site-2":
    for way in "up", "down":
        data = open(f"{sys.argv[1]}/capture/{site}-{way}.pcap", "rb").read()
        assert data[:4] == struct.pack("=I", 0xa1b23c4d)  # nanoseconds
        at, last = 24, 0
        while at < len(data):
            s, ns, kept, size = struct.unpack_from("=IIII", data, at)
            assert ns < 10**9 and kept <= 96 and kept <= size
            assert s < 60  # the scenario's time
            at += 16 + kept
        assert at == len(data)
PY
}
check "what was measured and captured" fidelity
delays() {
	awk -F, 'NR > 1 && $4 < 0.2 { print; bad = 1 } END { exit NR < 2 || bad }' "$work/measured/capture/delays.csv"
}
check "no packet is faster than the link" delays

# A background job of a script ignores SIGINT from birth, but for env.
interrupt() {
	env --default-signal=INT "$NARROWLINK" run "$work/long.yaml" --out "$work/$1" >"$work/$1.out" 2>&1 &
	local pid=$! status=0
	sleep 4
	kill -"$1" $pid
	wait $pid || status=$?
	cat "$work/$1.out"
	[ $status -eq 4 ] && grep -q '"partial"' "$work/$1/run.json" && [ -s "$work/$1/report.html" ]
}
small_scenario 500 >"$work/long.yaml"
check "SIGTERM: written, marked partial, status 4" interrupt TERM
check "SIGINT: the same" interrupt INT
# The short run ends by itself, some seconds after the signal.
ignored() {
	nohup "$NARROWLINK" run -q "$work/small.yaml" --out "$work/nohup" >"$work/nohup.out" 2>&1 &
	local pid=$! status=0
	for i in $(seq 300); do
		[ -e "$work/nohup/run.json" ] && break
		sleep 0.1
	done
	kill -HUP $pid
	kill -INT $pid
	wait $pid || status=$?
	cat "$work/nohup.out"
	[ $status -eq 0 ]
}
check "nohup, and SIGINT of a background job: the run goes on" ignored

hang() {
	"$NARROWLINK" run -q "$work/long.yaml" --out "$work/hang" >"$work/hang.out" 2>&1 &
	local pid=$! status=0
	sleep 3
	pkill -STOP -P $pid -x narrowlink-link
	wait $pid || status=$?
	cat "$work/hang.out"
	[ $status -eq 4 ] && grep -q "the relay has not moved" "$work/hang.out"
}
check "a relay that was stopped: status 4" hang

# A link on which no connection opens: that case is invalid, with the reason, and the next is run.
lossy() {
	"$NARROWLINK" run "$work/small.yaml" --set run.limit='10 s' --out "$work/lossy" \
		--set links.wan.delay='20 ms' --set 'matrix={links.wan.loss: [90 %, 0 %]}' >"$work/lossy.out" 2>&1
	local status=$?
	cat "$work/lossy.out"
	[ $status -eq 4 ] && grep -q 'connecting 0/' "$work/lossy.out" &&
		grep -q 'could not connect within .* lose 99 %' "$work/lossy.out" &&
		python3 - "$work/lossy/run.json" <<PY
import json, sys
a, b = json.load(open(sys.argv[1]))["cases"]
ok = a["verdict"] == "invalid" and not a["valid"]["ok"] and not a.get("partial")
sys.exit(not (ok and "could not connect" in a["because"] and "needed" in b and not b["because"].startswith("not run")))
PY
}
check "a case that cannot connect is invalid; the next one runs" lossy

# Failures far more frequent than anything can be restarted: the limit still ends the run.
check "restless faults are refused" bash -c '! "$1" check "$2" --set "faults=[{kind: crash, target: learner, mtbf: 1 us, repair: 1 us}]"' - "$NARROWLINK" "$work/small.yaml"

# A disk of 48 KiB fills within seconds; what was written stays readable by whole lines.
full_disk() {
	unshare -m bash -c '
		set -e
		mkdir "$2/disk"
		mount -t tmpfs -o size=48k none "$2/disk"
		status=0
		"$1" run "$2/long.yaml" --out "$2/disk/run" >"$2/full.out" 2>&1 || status=$?
		cat "$2/full.out"
		grep -q "No space left" "$2/full.out"
		[ $status -ne 0 ]
		[ -s "$2/disk/run/samples.csv" ]
		awk -F, "NR == 1 { n = NF } NF != n { exit 1 }" "$2/disk/run/samples.csv"
		[ -z "$(tail -c 1 "$2/disk/run/samples.csv")" ]
	' - "$NARROWLINK" "$work"
}
check "a full disk: a clear error, whole lines" full_disk
few_files() {
	local n status
	for n in 7 8 9; do
		status=0
		(ulimit -n $n; "$NARROWLINK" run -q "$work/small.yaml" --set sites.count=8 --engine relay \
			--out "$work/few-$n") >"$work/few.out" 2>&1 || status=$?
		[ $status -eq 3 ] && grep -q 'Too many open files; at most .*ulimit -n' "$work/few.out" && continue
		cat "$work/few.out"
		return 1
	done
}
check "too few files may be open: it says so, and what helps" few_files
check "a soft limit on open files is raised" bash -c 'ulimit -Sn 9; "$@"' - "$NARROWLINK" run -q "$work/small.yaml" \
	--engine relay --out "$work/soft"

finish
