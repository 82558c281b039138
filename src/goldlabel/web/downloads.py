"""Files to download: a name for them that is safe on every system, and the header that tells it."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

LONGEST = 80
_UNSAFE = re.compile(r'[\\/:*?"<>|%\s]+')
"""What a file's name may not hold on one system or another, and what has a meaning in a header or an address."""


def file_name(title: str, suffix: str) -> str:
    """Return a name for a file about something that people named: their words, without what no file name may hold."""
    visible = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in title)
    plain = _UNSAFE.sub("-", unicodedata.normalize("NFC", visible)).strip("-. ")[:LONGEST].strip("-. ")
    return (plain or "project") + suffix


def attachment(title: str, suffix: str) -> dict[str, str]:
    """Return the header under which a browser saves an answer as a file (RFC 6266, with a name in ASCII beside)."""
    name = file_name(title, suffix)
    plain = file_name(re.sub(r"[^A-Za-z0-9._-]+", "-", title), suffix)
    return {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}
