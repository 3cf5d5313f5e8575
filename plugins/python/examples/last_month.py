"""Which of last month's exits would have been restarted in place under a new policy?

    python history.py month.parquet
    python last_month.py month.parquet

Reads the history batch by batch, judges every exit under today's policies and under the proposed ones, and counts what differs:
any number of rows in the memory of one batch.
"""

import sys
from collections import Counter

import podfate
import pyarrow
import pyarrow.dataset
from podfate.arrow import Judge

import policies


def differences(file: str) -> "Counter[tuple[str, int, str, str]]":
    """How many exits of each policy and code come to what else: {(policy, code, today, proposed): exits}."""
    engine = podfate.Engine()
    before = Judge(policies.today(engine), keep=["policy", "exit_code"])
    after = Judge(policies.proposed(engine))
    found: "Counter[tuple[str, int, str, str]]" = Counter()
    for batch in pyarrow.dataset.dataset(file).to_batches():
        both = pyarrow.Table.from_batches([before(batch).select(["policy", "exit_code", "action"])])
        both = both.append_column("proposed", after(batch)["action"])
        counted = both.group_by(["policy", "exit_code", "action", "proposed"]).aggregate([([], "count_all")])
        for row in counted.to_pylist():
            if row["action"] != row["proposed"]:
                found[row["policy"], row["exit_code"], row["action"], row["proposed"]] += row["count_all"]
    return found


if __name__ == "__main__":
    for (policy, code, action, proposed), exits in sorted(differences(sys.argv[1]).items()):
        print(f"{policy}  exit {code:3}  {action} -> {proposed}  {exits} exits")
