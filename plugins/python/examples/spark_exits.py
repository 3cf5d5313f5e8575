"""Exits in Spark: mapInArrow gives Podfate the batches as they are; no row becomes a Python object.

python spark_exits.py month.parquet          counts verdicts
python spark_exits.py --bench ROWS           the time beside that of a function that does nothing
"""

import os
import sys
import time
from typing import Iterator

import podfate
import pyarrow
from podfate.arrow import DDL, Judge
from pyspark.sql import DataFrame, SparkSession

import policies


def session() -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers need the same packages
    build = SparkSession.builder.master("local[2]").appName("exits").config("spark.ui.enabled", "false")
    return build.config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536").getOrCreate()


def actions(file: str) -> list:
    judge = Judge(policies.today(podfate.Engine()), keep=["policy"], words="string")
    spark = session()
    spark.sparkContext.setLogLevel("ERROR")
    counted = spark.read.parquet(file).mapInArrow(judge.map, "policy string, " + DDL).groupBy("policy", "action").count()
    return sorted(tuple(row) for row in counted.collect())


class Identity:
    """Takes what a judge takes and gives columns of the types and lengths that it gives, without a look at a row."""

    def __init__(self, answer: pyarrow.RecordBatch) -> None:
        self.answer = answer

    def map(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            yield self.answer.slice(0, batch.num_rows)


def bench(rows: int) -> None:
    """Prints seconds of both, the best of several runs each, in turn; and their ratio."""
    spark = session()
    spark.sparkContext.setLogLevel("ERROR")
    exits: DataFrame = spark.range(rows, numPartitions=8).selectExpr("cast(id % 256 as int) as exit_code").cache()
    exits.count()
    judge = Judge(policies.today(podfate.Engine())["worker"], words="string")
    answer = judge(pyarrow.record_batch({"exit_code": pyarrow.array([i % 256 for i in range(65536)], pyarrow.int32())}))
    best = {}
    for _ in range(5):
        for name, function in (("identity", Identity(answer).map), ("podfate", judge.map)):
            begun = time.perf_counter()
            exits.mapInArrow(function, DDL).write.format("noop").mode("overwrite").save()
            taken = time.perf_counter() - begun
            best[name] = min(taken, best.get(name, taken))
    print(f"{rows} rows: identity {best['identity']:.2f} s, podfate {best['podfate']:.2f} s, ratio {best['podfate'] / best['identity']:.3f}")


if __name__ == "__main__":
    if sys.argv[1] == "--bench":
        bench(int(sys.argv[2]))
    else:
        for policy, action, count in actions(sys.argv[1]):
            print(policy, action, count)
