"""Exits in DuckDB: a query reads them, Podfate judges them as a stream of batches, another query counts.

python duckdb_exits.py month.parquet
"""

import sys

import duckdb
import podfate
import pyarrow
from podfate.arrow import Judge

import policies


def actions(file: str) -> list:
    judge = Judge(policies.today(podfate.Engine()), keep=["pod", "policy"], words="string")
    with duckdb.connect() as db:
        exits = db.cursor().from_parquet(file).to_arrow_reader(100_000)  # a cursor: two queries are under way
        verdicts = pyarrow.RecordBatchReader.from_batches(judge.schema(exits.schema), judge.map(exits))
        return db.sql("SELECT policy, action, count(*) FROM verdicts GROUP BY ALL ORDER BY ALL").fetchall()


if __name__ == "__main__":
    for policy, action, count in actions(sys.argv[1]):
        print(policy, action, count)
