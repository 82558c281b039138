"""ANLI: hypotheses written to fool a model, in three rounds against stronger models.

Two more files may come with the pairs and are joined to them by ``uid``: the verifiers' labels become votes
(the writer's own is not among them), and the expert annotations of Williams et al. (2022) become tags, each code
together with the wider codes it lies in: ``Numerical``, ``Numerical-Cardinal``, ``Numerical-Cardinal-Dates``.
"""

from collections.abc import Callable, Iterator, Mapping

from goldlabel.errors import InputError
from goldlabel.pairs.rows import Parsed, Row
from goldlabel.sources.source import SOURCES, Intake, Source, SourceFile, jsonl

VERIFIERS = r"verifier_labels.*\.jsonl"
ANALYSIS = r"ANLI_analysis_.*\.csv"
LABELS = {"0": "entailment", "1": "neutral", "2": "contradiction", "-1": "-"}


def _read(intake: Intake) -> Iterator[Callable[[], Parsed]]:
    votes = {
        str(row["uid"]): row["verifier labels"] for row in intake.companion_rows(VERIFIERS, "uid", "verifier labels")
    }
    analyses = {str(row["uid"]): row for row in intake.companion_rows(ANALYSIS, "uid", "A1Code")}
    return jsonl(transform=lambda row: _pair(row, votes, analyses))(intake)


def _pair(row: Row, votes: Mapping[str, object], analyses: Mapping[str, Row]) -> Row:
    uid = str(row.pop("uid"))
    number, split = _round_and_split(row)
    analysis = analyses.get(uid)
    kept = {name: value for name, value in analysis.items() if name not in ("uid", "context")} if analysis else None
    return {
        "id": uid,
        "premise": row.pop("context") if "context" in row else row.pop("premise"),
        "hypothesis": row.pop("hypothesis"),
        "label": row.pop("label"),
        "votes": votes.get(uid, []),
        "split": split,
        "genre": row.pop("genre", None),
        "round": number,
        "reason": row.pop("reason", None),
        "tags": _tags(str(analysis["A1Code"])) if analysis else [],
        "meta": row | ({"analysis": kept} if kept else {}),
    }


def _round_and_split(row: Row) -> tuple[str, object]:
    """Return the round, from the file's folder or name or from a tag such as ``r1_dev``."""
    if "round" in row:
        return str(row.pop("round")).upper(), None
    number, _, split = str(row["tag"]).partition("_")
    if number not in ("r1", "r2", "r3"):
        raise InputError(f"tag {row['tag']!r} does not start with a round (r1, r2, r3)")
    return number.upper(), split


def _tags(codes: str) -> list[str]:
    tags: dict[str, None] = {}
    for code in codes.split(","):
        steps = code.strip().split("-")
        tags |= dict.fromkeys("-".join(steps[: length + 1]) for length in range(len(steps)) if steps[length])
    return list(tags)


SOURCES.add(
    "anli",
    Source(
        name="anli",
        title="Adversarial NLI",
        paper="Nie et al. (2020), Adversarial NLI: a new benchmark for natural language understanding, ACL",
        licence="CC BY-NC 4.0",
        address="https://dl.fbaipublicfiles.com/anli/anli_v1.0.zip",
        language="en",
        author="label",
        description="Three rounds, with the writers' reasons; verifiers' votes and expert tags where their files are "
        "given along. The first vote is a verifier's, not the writer's.",
        # As numbers, the labels are those of the Hugging Face export.
        label_map=LABELS,
        files=tuple(
            SourceFile(rf"(?P<round>R[123])/{split}\.jsonl", split, _read) for split in ("train", "dev", "test")
        ),
        other_layouts=(
            tuple(SourceFile(rf"{split}_(?P<round>r[123])\.jsonl", split, _read) for split in ("train", "dev", "test")),
            (
                SourceFile(r"train_anli\.jsonl", "train", _read),
                SourceFile(r"(?:val|dev)_anli\.jsonl", "dev", _read),
                SourceFile(r"test_anli\.jsonl", "test", _read),
            ),
        ),
    ),
)
