"""Chance that streams: a draw depends on the seed and on what it is for, never on what was drawn before."""

from __future__ import annotations

from hashlib import blake2b


def chance(seed: int, *purpose: object) -> float:
    """Return a number from 0 up to 1 that is the same on every machine."""
    key = "\0".join([str(seed), *map(str, purpose)])
    return int.from_bytes(blake2b(key.encode(), digest_size=7).digest(), "big") / 2**56


def made_split(seed: int, group: str) -> str:
    """Return train, dev or test for a group, in the shares 80:10:10."""
    drawn = chance(seed, "split", group)
    return "train" if drawn < 0.8 else "dev" if drawn < 0.9 else "test"
