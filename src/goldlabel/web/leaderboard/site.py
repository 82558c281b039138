"""``build``: the leaderboard as a folder of pages that need no server, made as those of the server are."""

from __future__ import annotations

import json
from pathlib import Path

from goldlabel.collect.refusals import Invalid
from goldlabel.files import atomic_folder, write_text
from goldlabel.leaderboard.board import open_board
from goldlabel.leaderboard.standings import Entry, entries
from goldlabel.web.leaderboard.pages import Links, board_page, board_table, entry_page, how_page, how_text, render

LINKS = Links(static=True)
RESULTS = "board.json"
"""The entries as the API tells them; a folder that has it is one of ours."""


def build_leaderboard(
    folder: str | Path, output: str | Path, *, database: str | None = None, address: str = "https://HOST"
) -> list[Entry]:
    """Write a leaderboard as a static site, and return its entries; ``address`` is where submissions are sent."""
    output = Path(output)
    if output.exists() and not (output / RESULTS).is_file() and (not output.is_dir() or any(output.iterdir())):
        raise Invalid("not_a_site", folder=output)
    board, store = open_board(Path(folder), database)
    with store.read() as tx:
        listed = entries(tx, board)
    store.close()
    with atomic_folder(output) as site:
        write_text(site / LINKS.home, render(board_page(board, listed, LINKS), LINKS))
        write_text(site / LINKS.how, render(how_page(board), LINKS, heading="How", markdown=how_text(board, address)))
        for entry in listed:
            if entry.id is not None:
                page = render(entry_page(board, entry), LINKS, heading="Model card", markdown=entry.readme)
                write_text(site / LINKS.entry(entry.id), page)
        for suite in board.suites:
            board_table(board, suite, [entry for entry in listed if entry.suite == suite.name]).write(site)
        suites = [suite.name for suite in board.suites]
        document = {"title": board.title, "suites": suites, "entries": [entry.to_dict() for entry in listed]}
        write_text(site / RESULTS, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    return listed
