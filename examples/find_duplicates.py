"""Find exact and near duplicates within a dataset, and pairs of a new file that leaked from an old one."""

import csv
from pathlib import Path

import goldlabel as gl
from goldlabel.pairs.duplicates import find_duplicates

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

duplicates = old.duplicates(new, threshold=0.8)
for cluster in duplicates.table.partition_by("cluster"):
    print(cluster["kind"][0], [f"{dataset}/{id_}" for dataset, id_ in cluster.select("dataset", "id").iter_rows()])
print("clusters across datasets:", duplicates.to_dict()["across_datasets"])
print("clusters with two labels:", duplicates.to_dict()["contradictory"])
print("without what the new file has too:", len(find_duplicates([old], against=[new]).without(old)))
