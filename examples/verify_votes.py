"""From votes to gold labels: agreement by genre, who needs a second look, and which pairs need more votes."""

import json
from pathlib import Path

import goldlabel as gl
from goldlabel.verify import gold_labels, votes_of

LABELS = ("entailment", "neutral", "contradiction")
PEOPLE = ("mei", "tom", "ana", "lee", "bot")

rows = []
for number in range(60):
    label = LABELS[number % 3]
    other = LABELS[(number + 1) % 3]
    votes = [label, label, label if number % 4 else other, label if number % 5 else other, "entailment"]
    rows.append(
        {
            "id": f"p{number}",
            "premise": f"Shop {number} on our street sells bread.",
            "hypothesis": "There is bread to be had.",
            "label": label,
            "votes": votes,
            "genre": ("news", "tv")[number % 2],
            # Who voted and how long it took stand beside the votes; whatever else is known goes along in meta.
            "annotators": list(PEOPLE),
            "seconds": [9.0, 12.5, 8.0, 11.0, 1.5],
        }
    )
Path("votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

pairs = gl.read("votes.jsonl")
result = gl.verify(pairs, by="genre")
print(result.title)
for name, group in result.groups.items():
    kappa = group.figures["fleiss_kappa"]
    print(f"{', '.join(name) or 'all':5} kappa {kappa.value:.3f}, between {kappa.low:.3f} and {kappa.high:.3f}")

for person in result.annotators.people:
    for reason in person.flags:
        print(f"{person.name}: {reason}")

competence = gold_labels(votes_of(pairs), "mace").details["competence"]
print("competence:", {name: round(value, 2) for name, value in competence.items()})
print(result.plan.title)
result.write("verified")
print("gold labels and figures are in", sorted(path.name for path in Path("verified").iterdir()))
