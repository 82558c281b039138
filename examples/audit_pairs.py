"""Find out what the labels of a dataset give away, keep the hard pairs, and write the page."""

import csv
import random
from pathlib import Path

import goldlabel as gl
from goldlabel.audit import audit, parse_bound
from goldlabel.report.audit_page import write_audit

chosen = random.Random(0)
people = ("baker", "sailor", "weaver", "miller")
places = ("on the quay", "in the market", "by the well", "at the mill", "under the arch")
rows = []
for number in range(240):
    who, other = chosen.sample(people, 2)
    where, elsewhere = chosen.sample(places, 2)
    premise = f"On day {number} a {who} waits {where}."
    rows.append((premise, f"A {who} waits {where}.", "entailment"))
    rows.append((premise, f"A {other} waits {where}.", "neutral"))
    negated = chosen.random() < 0.7  # the shortcut: most contradictions say "nobody"
    rows.append((premise, f"Nobody waits {where}." if negated else f"A {who} waits {elsewhere}.", "contradiction"))
with Path("quay.csv").open("w", encoding="utf-8", newline="") as stream:
    # Words of negation and other tags are looked up in the language that is named.
    header = ("premise", "hypothesis", "label", "language")
    csv.writer(stream).writerows([header, *((*row, "en") for row in rows)])

found = audit(gl.read("quay.csv"), curve=True)
print(found.verdict)
print("first finding:", found.findings[0].text)
print("fails on a gain over 15 points:", parse_bound("hypothesis_only_gain>0.15").trips(found))
hard = found.hard_subset()
print(f"{len(hard)} hard pairs of {len(rows)}")
print("page:", write_audit(found, Path("quay-audit")))
