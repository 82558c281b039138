"""Pairs are made, voted on, audited, learnt from plainly and without their artifact, judged elsewhere, and reported.

Each step leaves the folder that its command leaves: ``dataset`` (``verify``), ``audit``, ``sets`` (``recast`` and
stress tests), ``bench`` with its runs, and ``report``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from goldlabel.audit import Audit, AuditOptions, audit
from goldlabel.audit.findings import Artifact
from goldlabel.bench import BenchProgress, bench
from goldlabel.demo.annotations import write_annotations
from goldlabel.demo.lines import LINES
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.stress import make_stress
from goldlabel.files import write_text
from goldlabel.messages import Word, many
from goldlabel.metrics import Estimate, PairedTest, in_percent, in_points, p_in_words, percent
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.labels import NLI3
from goldlabel.pairs.rows import to_json
from goldlabel.pairs.splits import Ratios
from goldlabel.recast.run import run_recast
from goldlabel.registry import one_of
from goldlabel.report.audit_page import write_audit
from goldlabel.report.language import speaking, translate
from goldlabel.report.parts.bench_results import SETTINGS
from goldlabel.report.report import PAGE, report
from goldlabel.seeds import random_state
from goldlabel.sources.fragments import fragment_pairs
from goldlabel.verify import Verification, verify

PAIRS = 3000
FEATURE, LABEL, STRENGTH = "negation", "contradiction", 0.8
CROWD = {"ana": 0.97, "ben": 0.94, "chen": 0.91, "dora": 0.85, "eli": 1 / 3}
"""Simulated annotators, and how often each gives the true label; eli guesses."""
BLIND, PLAIN, DEBIASED = "linear@hypothesis", "linear", "linear+drift"
MODELS = (BLIND, PLAIN, "linear+weighting", DEBIASED)
NETWORKS = ("cbow", "cbow+drift")
"""The small network, where torch is installed."""
OF_NETWORKS = {"hidden": 50, "epochs": 6}
PLANTED, CLEAN, RECAST = "planted", "clean", "recast"
STRESS = ("negation", "word_overlap", "spelling_error")


@dataclass(frozen=True, repr=False, kw_only=True)
class Demo(Result):
    """Everything the demo made, and the page that shows it."""

    report: Path
    language: str
    verification: Verification
    audit: Audit
    results: BenchResults
    gain: PairedTest
    """The debiased model against the plain one, on the mean over sets."""
    seed: int

    @property
    def title(self) -> str:
        """How many pairs, and where the report is."""
        return f"{many(len(self.verification.pairs), 'pair')} made; the report is at {self.report}"

    @property
    def table(self) -> pl.DataFrame:
        """The accuracy of each model on each set."""
        return self.results.table

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of every step."""
        whole = self.verification.whole.to_dict()
        scores = self.results
        return {
            "language": self.language,
            "pairs": len(self.verification.pairs),
            "splits": self.verification.pairs.to_dict()["splits"],
            "agreement": {"fleiss_kappa": whole["fleiss_kappa"], "interval": whole["intervals"]["fleiss_kappa"]},
            "gold_differs": self.verification.gold_differs,
            "finding": self.audit.findings[0].text if self.audit.findings else None,
            "accuracy": {
                model: {name: _ends(scores.accuracy(model, name)) for name in scores.sets} for model in scores.systems
            },
            "mean": {model: _ends(mean) for model, mean in scores.ranking.means.items()},
            "gain": _ends(self.gain.difference) | {"p_value": self.gain.p_value},
            "seed": self.seed,
        }


def run_demo(
    folder: Path,
    seed: int = 0,
    language: str = "en",
    *,
    tell: Callable[[str], None] = lambda line: None,
    progress: BenchProgress | None = None,
) -> Demo:
    """Walk the whole way and leave its folders in ``folder``; ``tell`` gets a line about what each step shows."""
    lines = LINES[one_of("language", language, list(LINES))]

    def step(line: str, **figures: object) -> None:
        text = lines[line].format(**figures)
        tell(text.replace(" to ", "–") if language == "zh" else text)

    progress = progress or BenchProgress()
    progress.begin("making pairs")
    verification = verify(_vote(_make(language, PAIRS, seed), seed), seed=seed)
    dataset = verification.write(folder / "dataset")
    step("made", pairs=len(dataset), share=percent(STRENGTH))
    agreement = verification.whole.to_dict()
    low, high = agreement["intervals"]["fleiss_kappa"]
    step(
        "voted",
        kappa=f"{agreement['fleiss_kappa']:.2f} ({low:.2f} to {high:.2f})",
        flagged=", ".join(_flagged(verification)),
    )

    progress.begin("auditing")
    artifacts = audit(dataset, options=AuditOptions(seed=seed, tokenizer="characters" if language == "zh" else None))
    write_audit(artifacts, folder / "audit", language=language)
    with speaking(language):
        line, figures = _found(artifacts)
    step(line, **figures)

    progress.begin("making sets")
    sets = dict(_write_sets(folder, dataset, language, seed))
    stress = ", ".join(name for name in sets if name not in (PLANTED, CLEAN, RECAST))
    step("made-sets", recast=len(sets[RECAST]), stress=stress)

    results = _judge(folder, sets, seed, progress)
    scores = {
        model: {name: in_percent(results.accuracy(model, name)) for name in (PLANTED, CLEAN)}
        for model in (PLAIN, DEBIASED)
    }
    step("judged", plain=PLAIN, **scores[PLAIN])
    gain, over = results.compare_means(DEBIASED, PLAIN)
    step(
        "debiased",
        debiased=DEBIASED,
        plain=PLAIN,
        sets=len(over),
        gain=in_points(gain.difference),
        p_value=p_in_words(gain.p_value),
        **scores[DEBIASED],
    )
    progress.begin("drawing")
    data = {name: str(folder / "sets" / name) for name in sets}
    report([folder / "bench", folder / "audit", folder / "dataset"], folder / "report", data=data, language=language)
    demo = Demo(
        report=folder / "report" / PAGE,
        language=language,
        verification=verification,
        audit=artifacts,
        results=results,
        gain=gain,
        seed=seed,
    )
    write_text(folder / "figures.json", to_json(demo.to_dict()) + "\n")
    step("reported", page=demo.report.resolve())
    return demo


def _make(language: str, pairs: int, seed: int) -> Pairs:
    """Make pairs with the artifact, split so that no premise is in two splits."""
    made = fragment_pairs(language, pairs, seed=seed, artifact=f"{FEATURE}:{LABEL}:{STRENGTH}")
    return made.split(Ratios(ratios="70:10:20", stratify=("label",)), seed=seed).pairs


def _vote(pairs: Pairs, seed: int) -> Pairs:
    """Let the simulated crowd label every pair; who is wrong picks another label at random."""
    frame = pairs.collect()
    random = random_state(seed)
    labels = np.array(NLI3.labels)
    true = pl.Series(frame["label"]).replace_strict(list(labels), list(range(3)), return_dtype=pl.Int64).to_numpy()
    votes = [
        labels[np.where(random.rand(len(true)) < skill, true, (true + random.randint(1, 3, len(true))) % 3)]
        for skill in CROWD.values()
    ]
    voted = frame.with_columns(
        pl.Series("votes", np.stack(votes, axis=1).tolist(), dtype=pl.List(pl.String)),
        pl.lit(to_json({"annotators": list(CROWD)})).alias("meta"),
    )
    return Pairs.from_frame(voted, pairs.card)


def _flagged(verification: Verification) -> list[str]:
    assert verification.annotators is not None  # the crowd is known by name
    return [person.name for person in verification.annotators.people if person.flags]


def _found(artifacts: Audit) -> tuple[str, dict[str, object]]:
    """Return which line is true of an audit, and its figures."""
    blind = artifacts.hypothesis_only
    figures: dict[str, object] = {"blind": in_percent(blind.accuracy), "majority": percent(blind.majority.value)}
    evidence = artifacts.findings[0].evidence if artifacts.findings else None
    if not isinstance(evidence, Artifact):
        return "audited-not", figures
    return "audited", figures | {
        "feature": translate(Word(evidence.feature)),
        "label": translate(Word(evidence.label)),
        "share": in_percent(evidence.share),
    }


def _write_sets(folder: Path, dataset: Pairs, language: str, seed: int) -> Iterator[tuple[str, Pairs]]:
    """Write what models are judged by, and none of which they learn from."""
    home = folder / "sets"
    learnt = dataset.only(split=["train", "dev"]).collect()["premise"].to_list()
    count = len(dataset) // 3
    fresh = fragment_pairs(language, count, seed=seed + 1)
    unseen = fresh.frame.filter(~pl.col("premise").is_in(learnt)).with_columns(pl.lit("test").alias("split"))
    clean = Pairs(unseen, fresh.card)
    recast = run_recast("template", write_annotations(folder / "annotations", language, count // 4, seed)).pairs
    yield PLANTED, dataset.only(split="test").write(home / PLANTED)
    yield CLEAN, clean.write(home / CLEAN)
    yield RECAST, recast.write(home / RECAST)
    for name in STRESS:
        made = make_stress(clean, name, seed=seed).pairs
        yield f"stress-{name}", made.write(home / f"stress-{name}")


def _judge(folder: Path, sets: Mapping[str, Pairs], seed: int, progress: BenchProgress) -> BenchResults:
    entries = [{"name": name, "path": f"sets/{name}", "split": "test"} for name in sets]
    suite = {"name": "demo", "in_domain": PLANTED, "train": [{"path": "dataset"}], "sets": entries}
    write_text(folder / "suite.yaml", yaml.safe_dump(suite, sort_keys=False))
    output = folder / "bench"
    if (output / SETTINGS).exists():  # of another seed, perhaps; a bench goes on only with the same
        shutil.rmtree(output)
    with_torch = _has_torch()
    return bench(
        str(folder / "suite.yaml"),
        MODELS + NETWORKS * with_torch,
        output,
        seed=seed,
        settings=OF_NETWORKS if with_torch else {},
        device="cpu",
        slices=True,
        progress=progress,
    )


def _has_torch() -> bool:
    return find_spec("torch") is not None


def _ends(share: Estimate) -> dict[str, Any]:
    return {"value": share.value, "low": share.low, "high": share.high, "n": share.n}
