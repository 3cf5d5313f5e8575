"""python bench.py MODULE [--json]

What a decision costs, the best of several rounds. With --json one line: {"engine","version","module","figures":[…]}.
"""

import json
import sys
import tempfile
import time
from importlib.metadata import version

import numpy

import podfate

RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "trainer"},
    "spec": {"containers": [{"name": "main", "image": "trainer:1", "restartPolicy": "Never", "restartPolicyRules": [RULE]}]},
}
RECORDS = 65536
figures = []


def measure(name, unit, per_second, count, call, rounds):
    """Notes the shortest time of one of count calls, in a unit of which a second has per_second."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    figures.append({"name": name, "value": float(f"{best * per_second / count:.3g}"), "unit": unit})


def main():
    file = sys.argv[1]
    with open(file + ".sha256") as digest:
        options = {"module": file, "sha256": digest.read().split()[0], "instances": 1}
    engine = podfate.Engine(**options)
    policy = engine.compile(POD)
    events = numpy.zeros(RECORDS, podfate.event_dtype())
    events["exit_code"] = numpy.arange(RECORDS) % 256
    restart = podfate.ACTIONS.index("Restart")
    assert ((policy.batch(events)["action"] == restart) == (events["exit_code"] == 42)).all()
    measure("batch, NumPy array in and out", "ns", 1e9, RECORDS, lambda: policy.batch(events), 60)
    try:
        import pyarrow
        from podfate.arrow import Judge
    except ImportError as cause:
        print(f"left out, Arrow: {cause}", file=sys.stderr)
    else:
        batch = pyarrow.record_batch({"exit_code": pyarrow.array(events["exit_code"])})
        judge = Judge(policy)
        measure("batch, Arrow in and out", "ns", 1e9, RECORDS, lambda: judge(batch), 60)
        paced = pyarrow.record_batch({"exit_code": batch.column(0), "ran_for_millis": pyarrow.array(events["ran_for_millis"]), "history": pyarrow.array(events["history"])})
        measure("batch, Arrow with times", "ns", 1e9, RECORDS, lambda: judge(paced), 60)
    event = b'{"container":"main","exitCode":42}'
    measure("eval, bytes in and out", "us", 1e6, 1000, lambda: [policy.eval(event) for _ in range(1000)], 40)
    ask = podfate.Exit("main", 42)
    measure("eval, dataclass in and out", "us", 1e6, 1000, lambda: [policy.decide(ask) for _ in range(1000)], 40)
    request = json.dumps({"manifest": POD, "exits": [{"container": "main", "exitCode": 42}]}).encode()
    measure("decide", "us", 1e6, 200, lambda: [engine.call("decide", request) for _ in range(200)], 40)
    measure("compile and one instance", "ms", 1e3, 1, lambda: podfate.Engine(**options), 3)
    with tempfile.TemporaryDirectory() as folder:
        podfate.Engine(cache=folder, **options)
        measure("the same from a cache", "ms", 1e3, 1, lambda: podfate.Engine(cache=folder, **options), 8)
    if "--json" in sys.argv:
        print(json.dumps({"engine": "wasmtime-python", "version": version("wasmtime"), "module": engine.sha256, "figures": figures}))
    else:
        for f in figures:
            print(f"{f['value']:>9} {f['unit']:<3} {f['name']}")


if __name__ == "__main__":
    main()
