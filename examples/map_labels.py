"""Read numbers as labels by an explicit map, then bring gold labels and a model's scores into another space."""

from pathlib import Path

import numpy as np

import goldlabel as gl

Path("tea.csv").write_text(
    "text_a,text_b,y\n"
    "The tea is boiling hot.,The tea is hot.,0\n"
    "The tea is boiling hot.,The tea is green.,1\n"
    "The tea is boiling hot.,The tea is frozen.,2\n"
    "奶奶在院子里晒太阳。,奶奶在户外。,0\n",
    encoding="utf-8",
)
pairs = gl.read(
    "tea.csv",
    columns={"premise": "text_a", "hypothesis": "text_b", "label": "y"},
    label_map={"0": "entailment", "1": "neutral", "2": "contradiction"},
)
print("three labels:", pairs.to_dict()["labels"])
print("two labels:  ", pairs.map_labels("nli2").to_dict()["labels"])

nli3, nli2 = gl.label_space("nli3"), gl.label_space("nli2")
scores = np.array([[0.2, 0.5, 0.3]])  # columns in the order of nli3.labels
mapping = gl.score_mapping(nli3, nli2)
print(mapping.convention)
print(nli2.labels, mapping.apply(scores).round(2).tolist())
