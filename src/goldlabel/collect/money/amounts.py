"""Amounts of money and other figures as people type them: digits and one point, nothing else."""

from __future__ import annotations

from decimal import Decimal

LARGEST_AMOUNT = 10**9
"""In the project's currency; far above what one line pays, far below what a database's whole numbers hold."""
PLACES = 4


def parse_amount(text: str) -> Decimal | None:
    """Return an amount of money from 0 with up to four decimal places, or ``None`` if the text is none."""
    amount = parse_decimal(text, places=PLACES)
    return amount if amount is not None and amount <= LARGEST_AMOUNT else None


def parse_decimal(text: str, *, places: int) -> Decimal | None:
    """Return the number that digits with at most ``places`` after a point say, or ``None`` if the text is none.

    ``Decimal`` itself also reads ``sNaN``, ``9E999999``, ``1_000`` and digits of other scripts.
    """
    whole, point, rest = text.strip().partition(".")
    digits = [whole, rest] if point else [whole]
    fits = len(whole) <= 18 and len(rest) <= places and all(one.isascii() and one.isdigit() for one in digits)
    return Decimal(text.strip()) if fits else None
