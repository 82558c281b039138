"""``audit_model``: the artifacts that an audit found in a dataset, put to a model.

The model answers the pairs as they are, with either side blank, and with words of the findings taken out and put in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit import Audit
from goldlabel.audit.findings import Artifact
from goldlabel.evaluate.answers import OnPairs, answer, answer_gold, judged_pairs, open_model, usage_of
from goldlabel.evaluate.contamination import refuse_trained_on
from goldlabel.evaluate.explanation import Cue
from goldlabel.evaluate.explanation.sensitivity import edit_words, measure_sensitivity
from goldlabel.evaluate.model_audit import TAKEN, ModelAudit, judge_partial, most_frequent
from goldlabel.metrics import accuracy_score, in_percent, share
from goldlabel.models import Model
from goldlabel.models.predictions import Predictions
from goldlabel.pairs import score_mapping
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.lexicon import NON_WORD


def audit_model(
    model: Model | str | Path,
    audit: Audit,
    *,
    split: str | None = None,
    on_pairs: OnPairs | None = None,
    **loading: Any,
) -> ModelAudit:
    """Audit a model on the pairs of a dataset's audit, of the split that ``score`` would take.

    ``loading`` is for ``load_model``. A file of predictions cannot be asked about changed pairs: of it, only the
    answers with and without each artifact are compared.
    """
    level, notes = audit.options.level, []
    gold = judged_pairs(audit.pairs, split)
    if isinstance(model, str | Path) and (seen := refuse_trained_on(model, gold, force=True)):
        notes.append(f"{model} was trained on {in_percent(seen)} of these pairs: its accuracy is memory, too")
    cues = _cues(audit, gold)
    with open_model(model, [audit.pairs], **loading) as (name, opened):
        scores, answers = answer_gold(name, opened, gold, on_pairs)
        mapping = score_mapping(opened.label_space, gold.space)

        def ask(frame: pl.DataFrame) -> NDArray[np.float64]:
            return np.concatenate([matrix for _, matrix in answer(opened, [frame], on_pairs)])

        partial = {}
        artifacts = measure_sensitivity(gold, answers, cues, level=level)
        if isinstance(opened, Predictions):
            notes.append("a file of predictions cannot be asked about changed pairs: no side and no word is taken out")
        else:
            for part, side in TAKEN.items():
                blank = gold.frame.with_columns(pl.lit(NON_WORD).alias(side))
                partial[part] = judge_partial(gold, answers, gold.answers(ask(blank), opened.label_space), level=level)
            artifacts = edit_words(
                gold,
                mapping.apply(scores),
                artifacts,
                lambda frame: mapping.apply(ask(frame)),
                level=level,
                seed=audit.options.seed,
            )
        usage = usage_of(opened)
    return ModelAudit(
        model=name,
        dataset=gold.name,
        split=gold.split,
        accuracy=accuracy_score(gold.frame["label"].to_numpy(), answers, units=gold.units, level=level),
        majority=share(most_frequent(gold), units=gold.units, level=level),
        partial=partial,
        artifacts=artifacts,
        untested=len(cues) - len(artifacts),
        notes=notes,
        usage=usage,
    )


def _cues(audit: Audit, gold: GoldPairs) -> list[Cue]:
    """Return the artifacts among the findings, and which of the gold pairs carry each."""
    ids = audit.pairs.frame.select("id").collect(engine="streaming").with_row_index("row")
    rows = gold.frame.select("id").join(ids, on="id", how="left", maintain_order="left")["row"].to_numpy()
    return [
        Cue(
            finding.kind,
            finding.evidence.feature,
            finding.evidence.label,
            finding.evidence.share.defined,
            carriers[rows],
        )
        for finding in audit.findings
        if isinstance(finding.evidence, Artifact) and (carriers := finding.carriers) is not None
    ]
