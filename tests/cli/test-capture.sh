#!/usr/bin/env bash
# Captured packets and events.csv have one clock: what an exchange sends lies between its beginning and
# its end, and a blackout is a hole. Slowed by 2, so that a time which is not the scenario's shows.
. "$(dirname "$0")/tap.sh"
need_root

cat >"$work/job.yaml" <<'YAML'
narrowlink: 1
title: captured
seed: 7
sites: {count: 2, link: wan, accelerators: 8}
links:
  wan: {rate: 10 Mbit/s, delay: 50 ms, queue: 200 ms}
core: {delay: 50 ms}
dilation: 2
calibration: off
workload: {strategy: diloco, parameters: 600 k, step: 200 ms, outer: {period: 3}}
transport: {connections: 1, slow_start_after_idle: false}
run: {steps: 6, warmup: 0}
capture: {sites: [1, 2], limit: 20 MB}
faults:
  - {kind: blackout, target: site 2, at: 1.5 s, for: 800 ms}
YAML
run() { # 4: a machine that was busy
	local status=0
	"$NARROWLINK" run -q "$work/job.yaml" --out "$work/run" || status=$?
	[ $status -eq 0 ] || [ $status -eq 4 ]
}
check "a captured run" run


# What the tests share. `new`: times of packets whose payload goes further than any before it.
cat >"$work/read.py" <<'PY'
import csv, json, struct, sys
run = sys.argv[1]
LEAST = 500  # bytes: what an exchange sends, not a message about it

def packets(site, way):
    data = open(f"{run}/capture/{site}-{way}.pcap", "rb").read()
    at, out = 24, []
    while at < len(data):
        s, ns, kept, size = struct.unpack_from("=IIII", data, at)
        if s or ns:  # at time zero: before the run
            out.append((s + ns / 1e9, size, struct.unpack_from(">I", data, at + 16 + 24)[0]))
        at += 16 + kept
    return out

def new(site, way):
    furthest, out = None, []
    for t, size, seq in packets(site, way):
        if size < LEAST:
            continue
        if furthest is None or 0 < (seq - furthest) % 2**32 < 2**31:
            furthest = seq
            out.append(t)
    return out

exchanges, faults = {"site-1": [], "site-2": []}, {}
for e in csv.DictReader(open(run + "/events.csv")):
    t = float(e["t_s"])
    if e["event"] == "exchange":
        exchanges[e["participant"]].append((t - float(e["amount"]), t))
    if "blackout" in e["event"]:
        faults[e["event"]] = t
wire = json.load(open(run + "/run.json"))["cases"][0]["wire"]
late = max(w["lateness_s"]["max"] for w in wire if w["lateness_s"])
PY

# Nothing is sent before an exchange begins, and nothing that it needs arrives after its end: were the
# clocks apart either way, one of the two would not hold. Events have microseconds.
cat >"$work/exchanges.py" <<'PY'
import os, sys
exec(open(os.path.dirname(sys.argv[0]) + "/read.py").read())
for site, peer in ("site-1", "site-2"), ("site-2", "site-1"):
    (start, end), (_, last_end) = exchanges[site]
    sent, heard = new(site, "up"), new(site, "down")
    first_heard = [t for t in heard if t < exchanges[peer][1][0]]
    print(f"{site}: first sent {1e3 * (sent[0] - start):.2f} ms after the beginning, last heard "
          f"{1e3 * (end - first_heard[-1]):.2f} and {1e3 * (last_end - heard[-1]):.2f} ms before the end")
    assert start - 1e-6 <= sent[0] <= end
    assert start <= first_heard[-1] <= end + 1e-6
    assert end < heard[-1] <= last_end + 1e-6
PY
check "what an exchange sends lies within it" python3 "$work/exchanges.py" "$work/run"

# 100 ms of delay and up to 200 ms of queue are still under way when the link goes down.
cat >"$work/blackout.py" <<'PY'
import os, sys
exec(open(os.path.dirname(sys.argv[0]) + "/read.py").read())
begins, ends, delay, queue = 1.5, 2.3, 0.1, 0.2
print(faults, "late by", late)
assert begins <= faults["fault:blackout"] and ends <= faults["fault_end:blackout"]
for site in "site-1", "site-2":
    times = [t for t, _, _ in packets(site, "down")]
    last = max(t for t in times if t < ends)
    after = min(t for t in times if t >= ends)
    print(f"{site}: nothing from {last:.3f} to {after:.3f} s")
    assert begins < last <= begins + delay + queue + late and after >= ends + delay
PY
check "a blackout is a hole where events.csv has it" python3 "$work/blackout.py" "$work/run"
finish
