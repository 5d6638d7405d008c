#!/usr/bin/env python3
"""Simulated time against real packets: the same scenarios on both engines, side by side.

Usage: bench-agree.py NARROWLINK OUT [--only TEXT] [--seeds N] [--lossy]

Runs the four strategies at round trips of 20, 100 and 600 ms (loss-free; with --lossy short ones
under random loss, N seeds each) with --engine relay and --engine model, appends what each said to
OUT/agree.csv, and prints the table. Rows that OUT/agree.csv has already are not run again, so
that it can be done in pieces. Needs root and /dev/net/tun.
"""
import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys

SCENARIO = """narrowlink: 1
links: {{wan: {{rate: {rate} Mbit/s, delay: {delay} ms, queue: 50 ms, loss: {loss} %}}}}
sites: {{count: 4, link: wan}}
workload:
  strategy: {strategy}
  parameters: {parameters}
  step: {step} ms
  buckets: 4
  outer: {{period: {period}{more}}}
run: {{steps: {steps}, warmup: {warmup}}}
seed: {seed}
"""

# strategy: parameters, step (ms), period, steps and warm-up at a round trip of 20, 100 and 600 ms
LOSS_FREE = {
    "data-parallel": [("8 M", 1200, 1, 6, 1), ("4 M", 1500, 1, 5, 1), ("2 M", 4000, 1, 2, 1)],
    "diloco": [("16 M", 500, 4, 16, 4), ("8 M", 500, 4, 16, 4), ("2 M", 1000, 4, 8, 4)],
    "streaming-diloco": [("16 M", 400, 4, 20, 4), ("16 M", 400, 4, 20, 4), ("8 M", 1500, 4, 8, 4)],
    "decoupled-diloco": [("12 M", 400, 4, 20, 4), ("12 M", 400, 4, 20, 4), ("6 M", 1500, 4, 8, 4)],
}
ROUND_TRIPS = [20, 100, 600]
FIELDS = ["case", "engine", "seed", "exchange_mean_s", "exchange_p50_s", "exchange_max_s",
          "exchanges", "useful_work", "wire_bytes", "drop_queue", "drop_random", "verdict"]


def scenario(strategy, rtt, loss, seed):
    parameters, step, period, steps, warmup = LOSS_FREE[strategy][ROUND_TRIPS.index(rtt)]
    more = ", bits: 16" if strategy != "data-parallel" else ""
    if strategy in ("streaming-diloco", "decoupled-diloco"):
        more += ", fragments: 4, overlap: " + ("1" if strategy == "streaming-diloco" else "2")
    if loss:
        steps = max(period, steps // 2)
    return SCENARIO.format(rate=200, delay=rtt / 4, loss=loss, strategy=strategy,
                           parameters=parameters, step=step, period=period, more=more,
                           steps=steps, warmup=warmup, seed=seed)


def run(program, engine, text, folder):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "agree.yaml")
    with open(path, "w") as f:
        f.write(text)
    shutil.rmtree(os.path.join(folder, "run"), ignore_errors=True)
    done = subprocess.run([program, "run", "-q", path, "--engine", engine, "--json", "--out",
                           os.path.join(folder, "run")], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{engine}: {done.stderr}")
    return json.loads(done.stdout)["cases"][0]


def row(name, engine, seed, c):
    times = c["exchange_s"]["values"]
    return {"case": name, "engine": engine, "seed": seed,
            "exchange_mean_s": f"{statistics.fmean(times):.6f}" if times else "",
            "exchange_p50_s": c["exchange_s"]["p50"], "exchange_max_s": c["exchange_s"]["max"],
            "exchanges": len(times), "useful_work": c["useful_work"],
            "wire_bytes": sum(w["bytes"] for w in c["wire"] if w["direction"] == "up"),
            "drop_queue": sum(w["drops"]["queue"] for w in c["wire"]),
            "drop_random": sum(w["drops"]["random"] for w in c["wire"]),
            "verdict": c["verdict"] if c["valid"]["ok"] else "; ".join(c["valid"]["reasons"])}


def cases(lossy, seeds):
    for rtt in ROUND_TRIPS if not lossy else [20, 100]:
        for strategy in LOSS_FREE:
            for loss in [0] if not lossy else [0.1]:
                for seed in range(1, seeds + 1):
                    name = f"{strategy}, {rtt} ms" + (f", {loss} % loss" if loss else "")
                    yield name, strategy, rtt, loss, seed


def table(rows):
    print(f"{'case':36} {'packets':>9} {'model':>9} {'ratio':>7}   {'useful':>7} {'model':>7} "
          f"{'points':>7}   {'n':>3}")
    for name in dict.fromkeys(r["case"] for r in rows):
        got = {}
        for engine in ("relay", "model"):
            mine = [r for r in rows if r["case"] == name and r["engine"] == engine]
            times = [float(r["exchange_mean_s"]) for r in mine if r["exchange_mean_s"]]
            if times:
                got[engine] = (statistics.fmean(times),
                               statistics.fmean(float(r["useful_work"]) for r in mine), len(mine))
        if len(got) < 2:
            continue
        (a, u, n), (b, v, _) = got["relay"], got["model"]
        print(f"{name:36} {a:8.3f}s {b:8.3f}s {b / a:7.3f}   {100 * u:6.1f}% {100 * v:6.1f}% "
              f"{100 * (v - u):+7.1f}   {n:3}")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("program")
    p.add_argument("out")
    p.add_argument("--only", default="")
    p.add_argument("--seeds", type=int, default=1)
    p.add_argument("--lossy", action="store_true")
    p.add_argument("--again", help="run this engine again", default="")
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    path = os.path.join(a.out, "agree.csv")
    rows = list(csv.DictReader(open(path))) if os.path.exists(path) else []
    rows = [r for r in rows if r["engine"] != a.again]
    have = {(r["case"], r["engine"], int(r["seed"])) for r in rows}
    for name, strategy, rtt, loss, seed in cases(a.lossy, a.seeds):
        if a.only not in name:
            continue
        for engine in ("model", "relay"):
            if (name, engine, seed) in have:
                continue
            folder = os.path.join(a.out, f"{name}, {engine}, {seed}".replace(" ", ""))
            rows.append(row(name, engine, seed, run(a.program, engine, scenario(
                strategy, rtt, loss, seed), folder)))
            with open(path, "w", newline="") as f:
                w = csv.DictWriter(f, FIELDS)
                w.writeheader()
                w.writerows(rows)
    table(rows)


main()
