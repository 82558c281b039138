"""Recast your own table without Python: a CSV, and a YAML file of templates and label rules."""

from pathlib import Path

from goldlabel.recast import Options, run_recast

Path("ferries.csv").write_text(
    "trip,ferry,note,minutes_late\n"
    '1,Swift,"The gangway said ""mind {the} gap"".",0\n'
    "2,Tern,Fog on the river.,35\n"
    "3,Swift,Two bicycles on board.,4\n"
    "4,Heron,The horn was loud.,12\n",
    encoding="utf-8",
)
Path("ferries.yaml").write_text(
    """
corpus: ferry log
licence: CC0
id: trip
premise: "{NAME} wrote about the {ferry}, {minutes_late} minutes late: {note}"
hypotheses:
  - text: "The {ferry} was on time."
    label: {column: minutes_late, at_most: 5}
  - text: "The {ferry} was very late."
    label: {column: minutes_late, at_least: 30, then: entailment, else: not_entailment}
""",
    encoding="utf-8",
)

run = run_recast("template", [Path("ferries.csv"), Path("ferries.yaml")], Options(seed=1), output=Path("ferries"))
for premise, hypothesis, label in (
    run.pairs.collect().select("premise", "hypothesis", "label").sort("hypothesis").rows()
):
    print(f"{label:15} {premise} => {hypothesis}")
print(f"{run.to_dict()['pairs']} pairs of {run.events} rows, {run.to_dict()['labels']}")
