"""Exits in Dask: each partition is judged by a process of its own, which compiles the policies once.

python dask_exits.py month.parquet
"""

import sys
from collections import Counter

import dask
import podfate
import pyarrow.parquet
from podfate.arrow import Judge

import policies


@dask.delayed
def count(judge: Judge, file: str, group: int) -> Counter:
    """The verdicts of one row group."""
    exits = pyarrow.parquet.ParquetFile(file).read_row_group(group)
    verdicts = judge(exits)
    return Counter(zip(verdicts["policy"].to_pylist(), verdicts["action"].to_pylist()))


def actions(file: str) -> list:
    judge = Judge(policies.today(podfate.Engine()), keep=["policy"])
    groups = pyarrow.parquet.ParquetFile(file).num_row_groups
    counted = dask.compute([count(judge, file, group) for group in range(groups)], scheduler="processes", num_workers=2)[0]
    return sorted((*key, number) for key, number in sum(counted, Counter()).items())


if __name__ == "__main__":
    for policy, action, number in actions(sys.argv[1]):
        print(policy, action, number)
