"""Loads JSON lines as `datasets` does. Runs in the environments `datasets` and, with an older one, `llamafactory`."""

import json
import sys

import datasets

request = json.load(sys.stdin)
tables = [
    datasets.load_dataset("json", data_files=path, split="train", cache_dir=request["cache"])
    for path in request["paths"]
]
print(json.dumps([[dict(row) for row in table] for table in tables], default=str))
