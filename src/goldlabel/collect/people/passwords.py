"""Passwords, kept as argon2 hashes that are made and checked a few at a time; and tokens, kept as plain hashes.

Hashing takes its time and 64 MiB on purpose. So it never happens within a transaction, which others would wait for, and
however many log in at once, no more than ``MOST_AT_ONCE`` hashes are in the making in one process.
"""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from base64 import b64encode
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION

from goldlabel.collect.refusals import Invalid

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 1000
MOST_AT_ONCE = 4
LETTERS = "bcdfghjkmnpqrstvwxz23456789"
"""Letters and digits that nobody takes for one another."""
_HASHER = PasswordHasher()
_TURN = BoundedSemaphore(MOST_AT_ONCE)


def _hash_of_nobody() -> str:
    """Return what looks like a hash and is none: to make one takes its time, and every command would take it."""
    costs = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    salt, digest = (
        b64encode(secrets.token_bytes(length)).decode().rstrip("=") for length in (_HASHER.salt_len, _HASHER.hash_len)
    )
    return f"$argon2id$v={ARGON2_VERSION}${costs}${salt}${digest}"


_NOBODY = _hash_of_nobody()
"""Held against the password of a login that does not exist, so that the answer takes as long."""


def hash_password(password: str) -> str:
    """Return the argon2 hash of a password, or say what is wrong with it; call it outside any transaction."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise Invalid("password_length", n=len(password), shortest=SHORTEST_PASSWORD, longest=LONGEST_PASSWORD)
    with _TURN:
        return _HASHER.hash(normal(password))


def is_password(password: str, password_hash: str | None) -> bool:
    """Say whether a hash is a password's; without a hash it takes as long, and is not. Outside any transaction."""
    with _TURN:
        try:
            _HASHER.verify(password_hash or _NOBODY, normal(password))
        except (VerificationError, InvalidHashError):
            return False
    return password_hash is not None


def draw_token() -> str:
    """Return something random for an address or a cookie."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return what is kept of a token: it was drawn at random, so a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def draw_words(groups: int = 4) -> str:
    """Return something random that can be read out: a password, or a code to write down."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(groups))


def normal(text: str) -> str:
    """Return text in the one form that every way of typing it leads to, without what no database takes."""
    return unicodedata.normalize("NFKC", text).replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
