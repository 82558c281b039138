"""The user's library: sources that were added, under ``GOLDLABEL_HOME``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import orjson
import polars as pl

from goldlabel.errors import InputError, UnknownNameError
from goldlabel.files import InputFile, OnBytes, as_url, home, input_files
from goldlabel.messages import many
from goldlabel.pairs.card import CARD, Card
from goldlabel.pairs.dataset import Pairs, read
from goldlabel.pairs.reading import OnNote, ReadingOptions, data_files, in_order, is_dataset
from goldlabel.pairs.record import Gate, Problem, conform
from goldlabel.pairs.result import Result
from goldlabel.pairs.rows import Parsed
from goldlabel.pairs.standard_input import STDIN
from goldlabel.pairs.writing import DatasetWriter
from goldlabel.registry import closest
from goldlabel.sources.source import SOURCES, Intake, Source, SourceFile, readable_pattern

PROBLEMS = "problems.jsonl"


@dataclass(frozen=True, repr=False)
class Added(Result):
    """What ``add`` brought into the library."""

    pairs: Pairs
    files: tuple[str, ...]
    ignored: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def title(self) -> str:
        """What was added, and how many rows could not be read."""
        unread = f", {len(self.problems):,} rows could not be read" if self.problems else ""
        return f"{self.pairs.title} from {many(len(self.files), 'file')}{unread}"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by split and label."""
        return self.pairs.table

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, the files read and not read, and each problem."""
        return self.pairs.to_dict() | {
            "files": list(self.files),
            "ignored": list(self.ignored),
            "problems": [str(problem) for problem in self.problems],
        }


def data_folder(name: str) -> Path:
    """Return where a source's dataset lies once it was added."""
    return home() / "data" / name


def is_added(name: str) -> bool:
    """Say whether a source was added."""
    return (data_folder(name) / CARD).exists()


def load(name: str) -> Pairs:
    """Return a source that was added."""
    SOURCES.get(name)
    if not is_added(name):
        raise InputError(
            f"{name} is not in {home()}; run 'goldlabel data add {name} PATH' with its files, or "
            f"'goldlabel data fetch {name}'"
        )
    return read(data_folder(name))


def find(
    path_or_name: str,
    *,
    limit: int | None = None,
    on_bytes: OnBytes | None = None,
    on_note: OnNote | None = None,
    **options: Unpack[ReadingOptions],
) -> Pairs:
    """Return pairs by the name of a source that was added, or by a path; the options are those of ``gl.read``."""
    if _names_source(path_or_name, on_note, insisted=options.get("format") is not None):
        pairs = load(path_or_name)
        return pairs.limit(limit) if limit else pairs
    if path_or_name != STDIN and not as_url(path_or_name) and not Path(path_or_name).exists():
        close = closest(path_or_name, list(SOURCES))
        hint = f"did you mean {close!r}? " if close else ""
        raise UnknownNameError(
            f"{path_or_name!r} is neither a file, a folder nor a source; {hint}'goldlabel data list' names the sources"
        )
    return read(path_or_name, limit=limit, on_bytes=on_bytes, on_note=on_note, **options)


def _names_source(text: str, on_note: OnNote | None, *, insisted: bool) -> bool:
    """Say whether a source is meant, where something of its name may also lie here.

    A dataset that lies here is meant before a source, which is told. What lies here and cannot be read as pairs is not
    meant, unless the user ``insisted`` on its format. Between a source and a folder of files only the user can tell.
    """
    path, library = Path(text), data_folder(text)
    if not path.exists():
        return text in SOURCES
    if text != path.name or insisted or path.resolve() == library.resolve():
        return False
    if is_dataset(path):
        if on_note and is_added(text):
            on_note(f"{text}: the dataset of that name here was read, and not the source, which lies in {library}")
        return False
    if path.suffix or text not in SOURCES:
        return False
    if not path.is_dir() or not data_files(path):
        return True
    how = f"{library} for the source" if is_added(text) else f"add the source from it: goldlabel data add {text} {text}"
    raise InputError(f"{text!r} is a source, and also a folder here; write ./{text} for the folder, or {how}")


def add(name: str, paths: Sequence[Path], *, on_bytes: OnBytes | None = None) -> Added:
    """Read a source's files and put its dataset into the library, whole or not at all."""
    source = SOURCES.get(name)
    files = [file for path in paths for file in input_files(path)]
    matched = _match(source, files)
    problems: list[Problem] = []
    used = {str(file) for _, file in matched}
    card = Card(
        name=name,
        label_space=source.label_space,
        languages=(source.language,),
        description=f"{source.title}. {source.description}".strip(),
        licence=source.licence,
        source=source.address,
        paper=source.paper,
        author=source.author,
        history=tuple(f"read from {file.name}" for _, file in matched),
    )
    with DatasetWriter(data_folder(name), card) as writer:
        for part, file in matched:
            count = _Count()
            intake = Intake(file, files, on_bytes, part.match(file) or {})
            for frame in _read(source, part, intake, problems, count):
                writer.write(frame)
            _refuse_foreign(source, file, count, problems)
            used |= {str(companion) for companion in intake.used}
        writer.card = replace(writer.card, problems=len(problems))
        writer.attach(PROBLEMS, b"".join(orjson.dumps(vars(problem)) + b"\n" for problem in problems))
    ignored = tuple(str(file) for file in files if str(file) not in used)
    return Added(read(data_folder(name)), tuple(sorted(used)), ignored, tuple(problems))


@dataclass
class _Count:
    rows: int = 0
    unread: int = 0


def _match(source: Source, files: Sequence[InputFile]) -> list[tuple[SourceFile, InputFile]]:
    layouts = [_match_layout(source, layout, files) for layout in source.layouts]
    matched = max(layouts, key=len)
    if not matched:
        wanted = dict.fromkeys(readable_pattern(part.pattern) for layout in source.layouts for part in layout)
        seen = ", ".join(file.name for file in files[:5]) or "nothing"
        raise InputError(f"none of {seen} is a file of {source.name}; its files are named like {', '.join(wanted)}")
    return matched


def _match_layout(
    source: Source, layout: Sequence[SourceFile], files: Sequence[InputFile]
) -> list[tuple[SourceFile, InputFile]]:
    matched = []
    for part in layout:
        taken: dict[str, InputFile] = {}
        for file in files:
            named = part.match(file)
            if named is None:
                continue
            first = taken.setdefault(_id_prefix(source, part, named), file)
            if first is not file:
                raise InputError(f"{first} and {file} are both {source.name}'s {part.split} file; give one of them")
            matched.append((part, file))
    return matched


def _id_prefix(source: Source, part: SourceFile, named: Mapping[str, str]) -> str:
    return "-".join([source.name if part.split == "none" else part.split, *named.values(), ""])


def _read(
    source: Source, part: SourceFile, intake: Intake, problems: list[Problem], count: _Count
) -> Iterator[pl.DataFrame]:
    gate = Gate(
        where=str(intake.file),
        space=source.label_space,
        label_map=source.label_map,
        defaults={"dataset": source.name, "language": source.language, "split": part.split},
        id_prefix=_id_prefix(source, part, intake.named),
    )

    def work(parse: Callable[[], Parsed]) -> tuple[pl.DataFrame, list[Problem]]:
        parsed = parse()
        frame, refused = _conform(parsed.frame, gate, source)
        return frame, sorted([*parsed.problems, *refused], key=lambda problem: problem.line)

    with closing(in_order(part.reader(intake), work)) as blocks:
        for frame, refused in blocks:
            problems += refused
            count.rows += len(frame) + len(refused)
            count.unread += len(refused)
            yield frame


def _conform(raw: pl.DataFrame, gate: Gate, source: Source) -> tuple[pl.DataFrame, list[Problem]]:
    for name in ("premise", "hypothesis", "label"):
        if name not in raw.columns and len(raw):
            raise InputError(
                f"{gate.where}: no row has a {name} as {source.title} has; is it a file of another corpus?"
            )
    if source.ids_per_file and "id" in raw.columns:
        raw = raw.with_columns(pl.format("{}{}", pl.lit(gate.id_prefix), pl.col("id")).alias("id"))
    frame, refused = conform(raw, gate)
    one_per_row = {problem.line: problem for problem in reversed(refused)}.values()
    # The gate's hints are options for a user's own file; a source's labels are fixed by its card.
    return frame, [replace(problem, message=problem.message.partition("; pass --")[0]) for problem in one_per_row]


def _refuse_foreign(source: Source, file: InputFile, count: _Count, problems: list[Problem]) -> None:
    """A file most of whose rows cannot be read is another corpus, or damaged; nothing of it is taken."""
    if count.rows == 0:
        raise InputError(f"{file}: holds no pairs")
    if count.unread > count.rows / 2:
        raise InputError(
            f"{file}: {count.unread:,} of {count.rows:,} rows cannot be read as {source.title} "
            f"(first: {problems[-count.unread].message}); is it a file of another corpus?"
        )
