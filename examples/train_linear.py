"""Train the small models, save them, and ask how much a model knows without the premise."""

from pathlib import Path

import goldlabel as gl
from goldlabel.metrics import accuracy_score, mcnemar
from goldlabel.models import MODELS

ROOMS = ["kitchen", "garden", "library", "cellar", "attic"]
PEOPLE = ["cook", "plumber", "gardener", "pianist", "guest", "twin", "doctor", "tailor"]
rows = ["premise\thypothesis\tlabel"]
for i, person in enumerate(PEOPLE):
    for j, room in enumerate(ROOMS):
        other = ROOMS[(j + 1 + i % 4) % len(ROOMS)]
        rows.append(f"The {person} is in the {room}.\tThe {person} is in the {room} now.\tentailment")
        rows.append(f"The {person} is in the {room}.\tThe {person} is tired.\tneutral")
        rows.append(f"The {person} is in the {room}.\tThe {person} is in the {other} now.\tcontradiction")
Path("rooms.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")

pairs = gl.read("rooms.tsv").split("60:40", seed=1).pairs
train, test = pairs.only(split="train").collect(), pairs.only(split="test").collect()
gold, answers = test["label"].to_list(), {}
for run, model, options in (
    ("majority", "majority", {}),
    ("linear", "linear", {}),
    ("blind", "linear", {"hypothesis_only": True}),
):
    fitted = MODELS.get(model).fit(
        train["premise"], train["hypothesis"], train["label"], pairs.card.label_space, **options
    )
    fitted.save(Path("runs") / run)
    answers[run] = gl.predict_labels(gl.load_model(Path("runs") / run), test["premise"], test["hypothesis"])
    score = accuracy_score(gold, answers[run])
    print(f"{run}: {score.value:.2f} ({score.low:.2f} to {score.high:.2f}), {score.n} pairs")
print(f"linear against blind: p = {mcnemar(gold, answers['linear'], answers['blind']).p_value:.2g}")
