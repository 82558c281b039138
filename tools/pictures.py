"""The pictures of README and documentation: report, writing page and leaderboard, from what ``make demo`` produced.

``.venv/bin/python tools/pictures.py [DEMO [IMAGES]]``, after ``make demo`` and ``make test`` (for Chromium and the
extra ``collect``). Each page is opened light and dark; side by side they are ``at-work.png`` and ``at-work-dark.png``.
``leaderboard.png`` is the leaderboard alone, whole.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
WIDTH, HEIGHT, GAP = 900, 1000, 24
WHOLE = 1280
"""The width of a picture of all of a page."""
SCHEMES = {"": "light", "-dark": "dark"}
BEHIND = {"light": "#e9e6df", "dark": "#000"}
GOLDLABEL = [sys.executable, "-m", "goldlabel"]


def main(demo: Path, images: Path) -> None:
    """Take the pictures."""
    runs = demo / "bench" / "runs"
    images.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_board(Path(folder) / "board", demo / "suite.yaml", sorted(runs.glob("*/seed-*"))) as board,
        serve_game(next(runs.glob("linear/seed-*"))) as game,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for suffix, scheme in SCHEMES.items():
            report = take(browser, scheme, (demo / "report" / "index.html").resolve().as_uri())
            panes = [report, take(browser, scheme, game, write_against), take(browser, scheme, board)]
            compose(browser, panes, BEHIND[scheme], images / f"at-work{suffix}.png")
        (images / "leaderboard.png").write_bytes(take(browser, "light", board, whole=True))
        browser.close()


def take(browser: Browser, scheme: str, address: str, act: object = None, *, whole: bool = False) -> bytes:
    """Return a picture of the top of a page, or of all of it."""
    size = {"width": WHOLE if whole else WIDTH, "height": HEIGHT}
    page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(address)
    if callable(act):
        act(page)
    picture = page.screenshot(full_page=whole)
    page.close()
    return picture


def write_against(page: Page) -> None:
    """Write what the text says last against the model, and wait for its verdict; a second picture finds it there."""
    page.locator("#duel:not([inert])").wait_for()
    if not page.locator(".try").count():
        page.fill("#hypothesis", page.locator("#premise").inner_text().split(". ")[-1])
        page.keyboard.press("Control+Enter")
    page.locator(".try:is([data-state=right], [data-state=fooled])").first.wait_for()


def compose(browser: Browser, panes: list[bytes], behind: str, target: Path) -> None:
    """Put pictures side by side, at half their size."""
    page = browser.new_page(viewport={"width": (WIDTH // 2 + GAP) * len(panes) + GAP, "height": HEIGHT // 2 + 2 * GAP})
    sources = (base64.b64encode(pane).decode() for pane in panes)
    style = f"width:{WIDTH // 2}px;margin:{GAP}px 0 0 {GAP}px;float:left;border-radius:8px"
    shown = "".join(f"<img style='{style}' src='data:image/png;base64,{source}'>" for source in sources)
    page.set_content(f"<body style='margin:0;background:{behind}'>{shown}</body>")
    page.screenshot(path=target)
    page.close()


@contextmanager
def serve_board(folder: Path, suite: Path, runs: list[Path]) -> Iterator[str]:
    """Serve a leaderboard to which runs are submitted."""
    tell(["leaderboard", "init", str(folder), "--suite", str(suite), "--title", "Demo", "--per-day", "6"])
    token = json.loads(tell(["leaderboard", "token", str(folder), "Goldlabel", "--json"]))["token"]
    with serving(["leaderboard", "serve", str(folder), "--port", "0"]) as address:
        for run in runs:
            tell(["leaderboard", "submit", str(run), "--to", address, "--token", token, "--name", run.parent.name])
        yield address


@contextmanager
def serve_game(model: Path) -> Iterator[str]:
    """Serve a page on which people write against a model."""
    with serving(["collect", "play", "--adversary", str(model), "--port", "0", "--no-browser"]) as address:
        yield address


@contextmanager
def serving(command: list[str]) -> Iterator[str]:
    """Run a command that prints its address, until the block ends."""
    with subprocess.Popen(
        [*GOLDLABEL, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield next(word for line in process.stdout for word in line.split() if word.startswith("http"))
        finally:
            process.terminate()


def tell(command: list[str]) -> str:
    """Run a command and return what it prints."""
    return subprocess.run([*GOLDLABEL, *command], check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    places = dict(enumerate(map(Path, sys.argv[1:])))
    main(places.get(0, Path("demo")), places.get(1, Path("docs/images")))
