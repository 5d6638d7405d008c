#!/usr/bin/env bash
# A job over the kernel's own links, from scenario to verdict, where there are any. Delays are so
# long that what a busy machine's timers add is small beside them.
. "$(dirname "$0")/tap.sh"

"$NARROWLINK" doctor | grep -q '^ok  *engine netem' || skip_all "this kernel has no netem"

cat >"$work/far.yaml" <<'YAML'
narrowlink: 1
title: three sites, far apart
seed: 7
sites: {count: 3, link: wan, accelerators: 8}
links:
  wan: {rate: 10 Mbit/s, delay: 300 ms, queue: 200 ms}
core: {delay: 100 ms}
workload:
  strategy: decoupled-diloco
  parameters: 100 k
  step: 1 s
  outer: {period: 4, fragments: 4, overlap: 2, bits: 16 bit, syncer: sharded, quorum: 3}
transport: {connections: 2, congestion: cubic, slow_start_after_idle: false}
run: {steps: 8, warmup: 0}
expect: {useful_work: ">= 20 %"}
calibration: off
YAML

command=("$NARROWLINK" run "$work/far.yaml" --out "$work/far")
check "auto is netem, and the expectation holds" expect 0 'decoupled-diloco +holds'

cat >"$work/look.py" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["engine"] == "netem", run["engine"]
for w in run["cases"][0]["wire"]:
    print(w)
    assert w["bytes"] > 0 and w["segments"] > 0
    assert not any(w["drops"].values())
PY
check "the record has the kernel's counters" python3 "$work/look.py" "$work/far/run.json"
finish
