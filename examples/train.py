"""Train a network, stop it and go on, then train it with two seeds on samples of two sizes."""

from pathlib import Path

import goldlabel as gl
from goldlabel.train import sweep

THINGS = ["gate", "barn", "shed", "mill", "vault", "cabin", "tower", "chapel", "kiosk", "stable"]
SAYS = {"stands open": "entailment", "was painted red": "neutral", "is locked": "contradiction"}
rows = ["premise,hypothesis,label"]
for number in range(20):
    for thing in THINGS:
        for says, label in SAYS.items():
            rows.append(f"The {thing} of house {number} stands open.,The {thing} {says}.,{label}")
Path("doors.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
pairs = gl.read("doors.csv").split("80:20:0", seed=1).pairs  # train, dev and no test

options = {"hidden": 50, "epochs": 10, "device": "cpu"}
try:
    gl.train("cbow", pairs, "runs/cbow", on_step=lambda step: step.epoch == 2, **options)
except KeyboardInterrupt:  # Ctrl-C ends in this, too
    print("stopped, and saved:", Path("runs/cbow/checkpoint.pt").exists())
result = gl.train("cbow", pairs, "runs/cbow", **options)  # the same call goes on
print(f"dev accuracy: {result.accuracies['doors']:.2f}")

model = gl.load_model("runs/cbow")
print(gl.predict_labels(model, ["The mill of house 3 stands open."], ["The mill is locked."]))

curve = sweep("cbow", pairs, "runs/curve", seeds=2, curve=[24, 480], **options)
print(curve.table)
print("runs:", ", ".join(curve.runs))
