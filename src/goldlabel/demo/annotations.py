"""Annotations made on the spot, to be recast: reports of who did what, and whether it happened.

They are a table and a file of templates, as ``goldlabel recast run template`` takes them. Whether an event happened
gives the label of a claim and of its negation, as with annotations of event factuality (White et al. 2016); a negator
tells nothing of the label there.
"""

from __future__ import annotations

import csv
from io import StringIO
from itertools import product
from pathlib import Path

from goldlabel.files import write_text
from goldlabel.seeds import random_state

TABLE, TEMPLATES = "reports.csv", "templates.yaml"
_PEOPLE = {
    "en": ("Alice", "Ben", "Clara", "Daniel", "Julia", "Martin", "Nora", "Peter"),
    "zh": ("陈静", "韩冰", "李梅", "刘洋", "王芳", "萧月", "张伟", "郑爱珍"),
}
_TIMES = {
    "en": ("on Monday morning", "on Tuesday evening", "on Friday afternoon"),
    "zh": ("昨天早上", "前天晚上", "上周末下午"),
}
_TASKS = {
    "en": {
        "wash the windows": "washed the windows",
        "lock the gate": "locked the gate",
        "slice the bread": "sliced the bread",
        "load the van": "loaded the van",
        "return the keys": "returned the keys",
        "copy the list": "copied the list",
        "stir the soup": "stirred the soup",
        "iron the shirts": "ironed the shirts",
    },
    "zh": {
        "擦窗户": "擦了窗户",
        "锁大门": "锁了大门",
        "清扫院子": "清扫了院子",
        "整理信件": "整理了信件",
        "研究地图": "研究了地图",
        "抄写名单": "抄写了名单",
        "填写表格": "填写了表格",
        "测量房间": "测量了房间",
    },
}
_REPORTS = {
    "en": {
        "{who} managed to {task} {when}.": "yes",
        "{who} remembered to {task} {when}.": "yes",
        "{who} failed to {task} {when}.": "no",
        "{who} forgot to {task} {when}.": "no",
        "{who} hoped to {task} {when}.": "unknown",
        "{who} promised to {task} {when}.": "unknown",
    },
    "zh": {
        "{who}{when}按时{done}。": "yes",
        "{who}{when}终于{done}。": "yes",
        "{who}{when}忘了{task}。": "no",
        "{who}{when}没来得及{task}。": "no",
        "{who}打算{when}{task}。": "unknown",
        "{who}说过{when}要{task}。": "unknown",
    },
}
_CLAIMS = {
    "en": ("{who} {done} {when}.", "{who} did not {task} {when}."),
    "zh": ("{who}{when}{done}。", "{who}{when}没有{task}。"),
}
_CONFIG = """\
# goldlabel recast run template reports.csv templates.yaml -o recast
corpus: reports made by goldlabel demo
licence: Apache-2.0
labels: nli3
language: {language}
split: part
premise: "{{report}}"
hypotheses:
  - text: "{claim}"
    label: {{column: happened, map: {{"yes": entailment, "no": contradiction, "unknown": neutral}}}}
  - text: "{denial}"
    label: {{column: happened, map: {{"yes": contradiction, "no": entailment, "unknown": neutral}}}}
"""


def write_annotations(folder: Path, language: str, reports: int, seed: int) -> tuple[Path, Path]:
    """Write a table of different reports, drawn by the seed, and the templates that recast it."""
    possible = list(product(_PEOPLE[language], _TASKS[language].items(), _TIMES[language], _REPORTS[language].items()))
    drawn = random_state(seed).permutation(len(possible))[:reports]
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["report", "who", "task", "done", "when", "happened", "part"])
    for who, (task, done), when, (report, happened) in (possible[number] for number in drawn):
        told = report.format(who=who, task=task, done=done, when=when)
        table.writerow([told, who, task, done, when, happened, "test"])
    claim, denial = _CLAIMS[language]
    write_text(folder / TABLE, text.getvalue())
    write_text(folder / TEMPLATES, _CONFIG.format(language=language, claim=claim, denial=denial))
    return folder / TABLE, folder / TEMPLATES
