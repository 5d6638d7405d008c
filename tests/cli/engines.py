#!/usr/bin/env python3
"""One scenario on both engines of real packets, on one kernel: relay and netem, side by side.

Usage: engines.py NARROWLINK [--short] [--only STRATEGY] [--data FILE]

For each strategy the same job runs on one engine and then on the other. The mean time of all
exchanges after the warm-up has to be within 3 %, the useful work within 2 points. The links lose
nothing and their queues hold every window, since which packet a full queue drops is chance.

What a busy machine adds differs from run to run, what the engines do differently does not: a pair
that is invalid by its own checks or further apart is run again, once. What counts is the last pair
that was valid. Where none was there is nothing to compare, and the line says SKIP with the reason.

Both run slower than told (dilation), since user-mode Linux needs up to a millisecond for a packet.
--short: a quarter of the bytes, few exchanges, one strategy. Prints TAP. --data writes what was
measured, for docs/engines.gp.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

SCENARIO = """narrowlink: 1
title: two engines
seed: 7
links: {{wan: {{rate: 10 Mbit/s, delay: 5 ms, queue: 500 ms}}}}
sites: {{count: 3, link: wan}}
core: {{delay: 5 ms}}
workload:
  strategy: {strategy}
  parameters: {parameters} k
  step: {step} ms
  buckets: 2
  outer: {outer}
transport: {{congestion: reno, connections: 1, slow_start_after_idle: false}}
run: {{steps: {steps}, warmup: {warmup}}}
dilation: {dilation}
calibration: off
"""
# strategy: parameters in thousands, step in ms, period and what else is of `outer`
JOBS = {
    "data-parallel": (40, 200, 1, ""),
    "diloco": (40, 100, 2, ", bits: 16"),
    "streaming-diloco": (80, 100, 2, ", bits: 16, fragments: 2, overlap: 1"),
    "decoupled-diloco": (80, 100, 2, ", bits: 16, fragments: 2, overlap: 1"),
}
SHORT = ("diloco",)
ENGINES = ("relay", "netem")
EXCHANGE_LIMIT, USEFUL_LIMIT = .03, .02
ATTEMPTS = 2


def scenario(strategy, short):
    parameters, step, period, more = JOBS[strategy]
    if short:
        parameters, step = parameters // 4, step // 2
    return SCENARIO.format(
        strategy=strategy, parameters=parameters, step=step,
        outer=f"{{period: {period}{more}}}", steps=(2 if short else 5) * period, warmup=period,
        dilation=12 if short else 24)


def measure(program, text, folder):
    """What each engine says of the scenario."""
    path = os.path.join(folder, "engines.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    # no gnuplot by this PATH: on user-mode Linux charts take longer than the run
    cases = []
    for engine in ENGINES:
        done = subprocess.run([program, "run", "-q", path, "--engine", engine, "--json", "--out",
                               os.path.join(folder, engine)], capture_output=True, text=True,
                              env={"PATH": folder}, check=False)
        if not done.stdout:
            sys.exit(f"Bail out! {engine}: {done.stderr}")
        cases.append(json.loads(done.stdout)["cases"][0])
    return cases


class Pair:
    """One strategy's run on both engines."""

    def __init__(self, strategy, cases):
        self.strategy = strategy
        self.invalid = "; ".join(f"{engine}: {case['valid']['reasons'][0]}" for engine, case
                                 in zip(ENGINES, cases) if not case["valid"]["ok"])
        self.times = [case["exchange_s"]["values"] for case in cases]
        self.means = [statistics.fmean(values) for values in self.times]
        self.useful = [case["useful_work"] for case in cases]
        self.drops = sum(sum(w["drops"].values()) for case in cases for w in case["wire"])
        self.apart = self.means[1] / self.means[0] - 1
        self.points = self.useful[1] - self.useful[0]

    def agrees(self):
        return abs(self.apart) <= EXCHANGE_LIMIT and abs(self.points) <= USEFUL_LIMIT

    def text(self):
        return (f"{self.strategy}: exchange {1e3 * self.means[0]:.1f} ms on relay, "
                f"{1e3 * self.means[1]:.1f} on netem ({100 * self.apart:+.1f} %, "
                f"n {len(self.times[0])}), useful work {100 * self.useful[0]:.1f} %, "
                f"{100 * self.useful[1]:.1f} ({100 * self.points:+.1f} points), "
                f"{self.drops} dropped")

    def row(self):
        cells = [self.strategy]
        for mean, times, useful in zip(self.means, self.times, self.useful):
            cells += [f"{1e3 * x:.2f}" for x in (mean, min(times), max(times))]
            cells.append(f"{100 * useful:.2f}")
        return "\t".join(cells + [str(len(self.times[0])), "invalid" if self.invalid else "valid"])


def compare(program, strategy, short):
    counts = None
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as folder:
            pair = Pair(strategy, measure(program, scenario(strategy, short), folder))
        print(f"# {pair.text()}{'; ' + pair.invalid if pair.invalid else ''}", flush=True)
        if counts is None or not pair.invalid:
            counts = pair
        if not pair.invalid and pair.agrees():
            break
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", choices=JOBS)
    parser.add_argument("--data")
    options = parser.parse_args()
    pairs = []
    for strategy in [options.only] if options.only else SHORT if options.short else JOBS:
        pair = compare(options.program, strategy, options.short)
        pairs.append(pair)
        if pair.invalid:
            print(f"ok {len(pairs)} # SKIP {pair.invalid}", flush=True)
        else:
            print(f"{'ok' if pair.agrees() else 'not ok'} {len(pairs)} - {pair.text()}", flush=True)
    print(f"1..{len(pairs)}")
    if options.data:
        with open(options.data, "w", encoding="ascii") as file:
            file.write("# strategy\t" + "\t".join(
                f"{engine}: exchange ms\tleast\tmost\tuseful %" for engine in ENGINES) +
                "\texchanges\tvalid\n")
            file.writelines(pair.row() + "\n" for pair in pairs)
    sys.exit(any(not pair.invalid and not pair.agrees() for pair in pairs))


main()
