"""Four Chinese probing sets of Hu et al. (2021): diagnostics, HANS, stress tests, semantic fragments."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from goldlabel.pairs.rows import Parsed, Row
from goldlabel.sources.source import SOURCES, Intake, Source, SourceFile, fields, jsonl

TAUTOLOGIES = r"distraction_tautology_condition\.csv"

_tagged = fields(premise="sentence1", hypothesis="sentence2", id="id", tags="category")
_diagnostic = fields(premise="sentence1", hypothesis="sentence2", tags="phenomenon", genre="source")
_plain = fields(premise="sentence1", hypothesis="sentence2", genre="corpus")


def _stress(intake: Intake) -> Iterator[Callable[[], Parsed]]:
    rows = intake.companion_rows(TAUTOLOGIES, "condition") if intake.named["test"].startswith("distraction") else []
    tautologies = {f"cond{row['condition']}": row for row in rows}
    return jsonl(transform=lambda row: _stress_pair(row, tautologies))(intake)


def _stress_pair(row: Row, tautologies: Mapping[str, Row]) -> Row:
    row.pop("test")
    category, condition = row.pop("category"), row.get("condition")
    added = tautologies.get(str(condition))
    taken = _plain(row)
    return taken | {"tags": [category], "meta": row | ({"tautology": added} if added else {})}


HANS = Source(
    name="hans-zh",
    title="Chinese HANS",
    paper="Hu et al. (2021), Investigating transfer learning in multilingual pre-trained language models through "
    "Chinese natural language inference, Findings of ACL",
    licence="none stated",
    address="https://github.com/huhailinguist/ChineseNLIProbing",
    language="zh",
    description="Templates for lexical overlap and subsequence, with three labels. The address is the project's page.",
    files=(SourceFile(r"chinese-hans-full\.json", "test", jsonl(transform=_tagged)),),
    ids_per_file=True,
)

SOURCES.add("hans-zh", HANS)
SOURCES.add(
    "clue-diagnostics",
    replace(
        HANS,
        name="clue-diagnostics",
        title="CLUE diagnostics, expanded",
        description="CLUE's 514 diagnostic pairs and 1,608 more, in fourteen phenomena, which are the tags; one pair "
        "stands twice in the release. The address is the project's page.",
        files=(SourceFile(r"diagnostics-new-with-categories\.json", "test", jsonl(transform=_diagnostic)),),
    ),
)
SOURCES.add(
    "nli-stress-zh",
    replace(
        HANS,
        name="nli-stress-zh",
        title="Chinese NLI stress tests",
        description="Antonym, synonym, distraction, numerical reasoning and spelling, which are the tags, on pairs of "
        "OCNLI and XNLI, which are the genre; the tautologies of the distraction tests are in meta where their file "
        "is given along. Some pairs stand twice in the release. The address is the project's page.",
        files=(
            SourceFile(
                r"(?P<test>antonym|synonym|distraction_hypo|distraction_premise|numerical|spelling)_final\.json",
                "test",
                _stress,
            ),
        ),
    ),
)
SOURCES.add(
    "semantic-fragments-zh",
    replace(
        HANS,
        name="semantic-fragments-zh",
        title="Chinese semantic fragments",
        description="Generated pairs for negation, booleans, quantifiers, counting, conditionals and comparatives, "
        "which are the tags. The address is the project's page.",
        files=(SourceFile(r"new_logic_test\.json", "test", jsonl(transform=_tagged)),),
    ),
)
