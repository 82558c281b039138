"""Opening a round: against models by their names, or against those that were trained on the rounds before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from goldlabel.collect.projects import project
from goldlabel.collect.rounds.adversaries import SECONDS, named_adversaries, with_limits
from goldlabel.collect.rounds.rounds import Adversary, Rates, Round, open_round, rounds_of
from goldlabel.collect.store import Store
from goldlabel.errors import InputError

TRAIN_FIRST = "train some with 'goldlabel collect round train', or name some with --adversary"


def open_next(
    store: Store,
    project_id: int,
    adversaries: Sequence[str] = (),
    *,
    tries: int | None = None,
    pay: Decimal | None = None,
    bonus: Decimal | None = None,
    seconds: float = SECONDS,
    fallback: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Round:
    """Open the next round; without ``adversaries``, against the models that the last round trained.

    ``seconds``, ``fallback`` and ``options`` are those of ``with_limits``.
    """
    chosen = named_adversaries(adversaries)
    with store.write() as tx:
        if not chosen:
            chosen = _trained([one for one in rounds_of(tx, project_id) if one.state == "closed"])
        chosen = with_limits(chosen, seconds=seconds, fallback=fallback, options=options)
        own = project(tx, project_id).protocol.pay
        rates = Rates(pair=own.pair if pay is None else pay, bonus=own.bonus if bonus is None else bonus)
        return open_round(
            tx,
            project_id,
            chosen,
            number_of_tries=tries,
            pay=None if pay is None and bonus is None else rates,
            by=None,
        )


def _trained(closed: Sequence[Round]) -> list[Adversary]:
    """Return the models that the last closed round trained."""
    if not closed:
        raise InputError(f"the first round has no models that were trained before; {TRAIN_FIRST.split(', or ')[1]}")
    last = closed[-1]
    if last.trained is None:
        raise InputError(f"nothing was trained on round {last.number} yet; {TRAIN_FIRST}")
    return [
        Adversary(name=name, reference=reference, options={}) for name, reference in last.trained["adversaries"].items()
    ]
