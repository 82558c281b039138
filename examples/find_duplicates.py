"""Find exact and near duplicates within a dataset, and pairs of a new file that leaked from an old one."""

import csv
from pathlib import Path

import goldlabel as gl

OLD = [
    ("1", "The ferry to the island leaves at nine in the morning.", "A ferry leaves before noon.", "entailment"),
    ("2", "The ferry to the island leaves at nine in the morning!", "A ferry leaves before noon", "entailment"),
    ("3", "小猫趴在窗台上看雨。", "外面正在下雨。", "entailment"),
]
NEW = [
    ("a", "The ferry to the islands leaves at nine in the morning.", "A ferry leaves before noon.", "neutral"),
    ("b", "Our choir meets every Tuesday.", "The choir meets weekly.", "entailment"),
]
for name, rows in (("old.csv", OLD), ("new.csv", NEW)):
    with Path(name).open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("id", "premise", "hypothesis", "label"), *rows])

old, new = gl.read("old.csv"), gl.read("new.csv")
print(old.duplicates().title)

found = old.duplicates(new, threshold=0.8)
for cluster in found.to_dict()["clusters"]:
    print(cluster["kind"], [f"{member['dataset']}/{member['id']}" for member in cluster["members"]])
print("clusters across datasets:", found.to_dict()["across"]["dataset"])
print("clusters with two labels:", found.to_dict()["across"]["label"])
