"""Write a dataset folder as the Hugging Face hub lays it out, and load it with ``datasets`` (pip install datasets)."""

import json
from pathlib import Path

import datasets

import goldlabel as gl

ROWS = [
    ("她把钥匙忘在了公司。", "钥匙不在她家里。", "entailment", "zh"),
    ("他把钥匙挂在门边。", "他住在三楼。", "neutral", "zh"),
    ("She found her keys at work.", "Her keys were at work.", "entailment", "en"),
    ("She left her keys at work.", "Her keys are in her pocket.", "contradiction", "en"),
]
names = ("premise", "hypothesis", "label", "language")
lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in ROWS]
Path("keys.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

gl.read("keys.jsonl").split("50:25:25").pairs.write("keys-hf", hf=True)
print(sorted(path.as_posix() for path in Path("keys-hf").rglob("*") if path.is_file()))

loaded = datasets.load_dataset("keys-hf")
print({name: len(part) for name, part in loaded.items()})
print("the same pairs come back:", len(gl.read("keys-hf")) == len(ROWS))
