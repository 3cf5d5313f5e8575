"""Writes a month of exits as Parquet, the input of the other examples: python history.py FILE [ROWS]"""

import sys

import numpy
import pyarrow
import pyarrow.parquet


def month(rows: int) -> pyarrow.Table:
    """Exits of two kinds of Pods: their policy's name, the container, the code, whether memory ran out, and how the back-off stood."""
    random = numpy.random.default_rng(1)
    codes = numpy.array([0, 1, 3, 42, 137, 143], numpy.int32)
    code = random.choice(codes, rows, p=[0.55, 0.2, 0.05, 0.1, 0.07, 0.03])
    trainer = random.random(rows) < 0.5
    return pyarrow.table(
        {
            "pod": pyarrow.array([f"pod-{i % 1000}" for i in range(rows)]).dictionary_encode(),
            "policy": pyarrow.array(numpy.where(trainer, "trainer", "worker")).dictionary_encode(),
            "container": pyarrow.array(["main"] * rows).dictionary_encode(),
            "exit_code": code,
            "oom_killed": (code == 137) & (random.random(rows) < 0.8),
            "ran_for_millis": random.integers(0, 3_600_000, rows),
            "history": random.integers(0, 8, rows, numpy.uint32),
        }
    )


if __name__ == "__main__":
    pyarrow.parquet.write_table(month(int(sys.argv[2]) if len(sys.argv) > 2 else 100_000), sys.argv[1])
