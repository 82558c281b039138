"""The second factor: a code from a person's device beside their password (TOTP, RFC 6238).

The code is the last 31 bits of an HMAC over the number of the half minute, modulo a million (RFC 4226, section 5.3): a
few lines, so no library. A code is good once, and half a minute early or late. The recovery codes follow from the same
secret, so that nothing more is kept than which of them are used.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from goldlabel.collect.events import record
from goldlabel.collect.refusals import Conflict, Forbidden, Missing
from goldlabel.collect.schema import second_factors
from goldlabel.collect.store import Transaction

STEP_SECONDS, DIGITS = 30, 6
RECOVERY_CODES = 8
LONGEST_CODE = 40


@dataclass(frozen=True)
class SecondFactor:
    """What a person's device and notes must hold."""

    secret: str
    confirmed: bool

    def address(self, login: str) -> str:
        """Return what a device reads from the square."""
        return f"otpauth://totp/Goldlabel:{quote(login, safe='')}?secret={self.secret}&issuer=Goldlabel"

    @property
    def recovery_codes(self) -> list[str]:
        """The codes that stand in for the device, each once."""
        return [_recovery_code(self.secret, number) for number in range(RECOVERY_CODES)]


def factor_of(tx: Transaction, person_id: int) -> SecondFactor | None:
    """Return a person's second factor, also one that they have not confirmed yet."""
    row = tx.row(second_factors, person_id=person_id)
    return None if row is None else SecondFactor(row.secret, row.confirmed)


def has_factor(tx: Transaction, person_id: int) -> bool:
    """Say whether a person is asked for a code when they log in."""
    factor = factor_of(tx, person_id)
    return factor is not None and factor.confirmed


def begin_factor(tx: Transaction, person_id: int) -> None:
    """Draw a secret; it counts once a code of it has been given."""
    if has_factor(tx, person_id):
        raise Conflict("factor_there")
    tx.run(second_factors.delete().where(second_factors.c.person_id == person_id))
    secret = base64.b32encode(secrets.token_bytes(20)).decode()
    tx.insert(second_factors, person_id=person_id, secret=secret, confirmed=False, last_step=0, used=[])


def confirm_factor(tx: Transaction, person_id: int, code: str) -> None:
    """Ask for a code with every log-in from now on."""
    factor = factor_of(tx, person_id)
    if factor is None:
        raise Missing("no_factor")
    check_code(tx, person_id, code)
    if not factor.confirmed:
        own = second_factors.c.person_id == person_id
        tx.run(second_factors.update().where(own).values(confirmed=True))
        _record(tx, "second_factor.on", person_id)


def drop_factor(tx: Transaction, person_id: int) -> None:
    """Ask for no code any more."""
    if tx.run(second_factors.delete().where(second_factors.c.person_id == person_id)):
        _record(tx, "second_factor.off", person_id)


def check_code(tx: Transaction, person_id: int, code: str) -> None:
    """Refuse a code that is wrong or was used before."""
    own = second_factors.c.person_id == person_id
    row = tx.one(second_factors.select().where(own).with_for_update())
    if row is None:
        raise Missing("no_factor")
    given = "".join(letter for letter in code.lower() if letter.isalnum())
    now = _step(tx.now)
    for step in (now - 1, now, now + 1):
        if step > row.last_step and _same(given, totp(row.secret, step)):
            tx.run(second_factors.update().where(own).values(last_step=step))
            return
    for number in range(RECOVERY_CODES):
        if number not in row.used and _same(given, _recovery_code(row.secret, number).replace("-", "")):
            tx.run(second_factors.update().where(own).values(used=[*row.used, number]))
            _record(tx, "second_factor.recovered", person_id)
            return
    raise Forbidden("wrong_code")


def totp(secret: str, step: int) -> str:
    """Return the code of a secret in a half minute, counted from 1970."""
    digest = hmac.digest(base64.b32decode(secret), step.to_bytes(8, "big"), "sha1")
    start = digest[-1] & 0xF
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}}"


def _step(at: datetime) -> int:
    return int(at.timestamp()) // STEP_SECONDS


def _recovery_code(secret: str, number: int) -> str:
    digest = hmac.digest(base64.b32decode(secret), f"recovery {number}".encode(), hashlib.sha256)
    letters = base64.b32encode(digest).decode().lower()
    return "-".join(letters[start : start + 4] for start in (0, 4, 8))


def _same(given: str, code: str) -> bool:
    return hmac.compare_digest(given.encode(), code.encode())


def _record(tx: Transaction, kind: str, person_id: int) -> None:
    record(tx, kind, project_id=None, person_id=person_id, subject=f"person {person_id}")
