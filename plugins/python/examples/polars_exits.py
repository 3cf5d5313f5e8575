"""Exits in Polars: the columns of a frame are Arrow already, and so are those of the verdicts.

python polars_exits.py month.parquet
"""

import sys

import podfate
import polars
from podfate.arrow import Judge

import policies


def actions(file: str) -> list:
    judge = Judge(policies.today(podfate.Engine()), keep=["policy"])
    frame = polars.read_parquet(file)
    verdicts = polars.from_arrow(judge(frame.to_arrow()))
    counted = verdicts.group_by("policy", "action").len()
    return sorted((str(policy), str(action), count) for policy, action, count in counted.rows())


if __name__ == "__main__":
    for policy, action, count in actions(sys.argv[1]):
        print(policy, action, count)
