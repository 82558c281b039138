"""One small dataset in the shapes that people have it in: all of them give the same pairs."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import goldlabel as gl

LABELS = ("entailment", "neutral", "contradiction")
RATERS = ("rater1", "rater2", "rater3")
ROWS = [
    ("p1", 'Zoë said: "The café is shut; come back, please."', "The café is open | it is not shut.", "contradiction"),
    ("p2", "A ferry, red and old, crosses the river.", "A boat is on the water.", "entailment"),
    ("p3", '"Wait," said the señor', 'He said "wait"; nobody did.', "neutral"),
    ("p4", "Two herons stand in the reeds.", "The birds' nest is near.", "neutral"),
]
VOTES = {
    "p1": ["contradiction", "contradiction", "neutral"],
    "p2": ["entailment", "entailment", "entailment"],
    "p3": ["neutral", "contradiction", "neutral"],
    "p4": ["entailment", "neutral", "neutral"],
}
FRAME = pd.DataFrame(ROWS, columns=["id", "premise", "hypothesis", "label"])
VOTED = FRAME.drop(columns="label").assign(
    **{name: [VOTES[i][n] for i in FRAME["id"]] for n, name in enumerate(RATERS)}
)
LISTED = FRAME.drop(columns="label").assign(votes=[VOTES[i] for i in FRAME["id"]])
LONG = [
    {"task": i, "worker": f"w{n}", "label": vote, "premise": premise, "hypothesis": hypothesis}
    for i, premise, hypothesis, _ in ROWS
    for n, vote in enumerate(VOTES[i])
]
NUMBERS = {"entailment": 0, "neutral": 1, "contradiction": 2}
AS_NUMBERS = {"label_map": {str(number): label for label, number in NUMBERS.items()}}

Shape = tuple[Callable[[Path], Any], dict[str, Any]]
SHAPES: dict[str, Shape] = {}


def shape(name: str, **options: Any) -> Callable[[Callable[[Path], Any]], Callable[[Path], Any]]:
    """Name a way to write the pairs, and how they are read back."""

    def register(write: Callable[[Path], Any]) -> Callable[[Path], Any]:
        assert name not in SHAPES
        SHAPES[name] = (write, options)
        return write

    return register


def file(name: str, ending: str, write: Callable[[Path], Any], **options: Any) -> None:
    """A shape that is one file."""

    def written(folder: Path) -> Path:
        path = folder / f"birds{ending}"
        write(path)
        return path

    shape(name, **options)(written)


def text(name: str, ending: str, content: str, written_in: str = "utf-8", **options: Any) -> None:
    """A shape that is one file of text, as a hand or another program writes it."""
    file(name, ending, lambda path: path.write_bytes(content.encode(written_in)), **options)


def table(rows: list[list[Any]], delimiter: str = ",", **form: Any) -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, **form).writerows(rows)
    return stream.getvalue()


HEADER = ["id", "premise", "hypothesis", "label"]
CELLS = [HEADER, *map(list, ROWS)]

# pandas
file("pandas csv", ".csv", lambda p: FRAME.to_csv(p, index=False))
file("pandas csv with index", ".csv", lambda p: FRAME.to_csv(p))
file(
    "pandas csv, read and saved with an index twice",
    ".csv",
    lambda p: FRAME.reset_index(names="Unnamed: 0").to_csv(p, index=False),
)
file("pandas csv by semicolons", ".csv", lambda p: FRAME.to_csv(p, index=False, sep=";"))
file("pandas csv by pipes", ".csv", lambda p: FRAME.to_csv(p, index=False, sep="|"))
file("pandas csv in latin-1", ".csv", lambda p: FRAME.to_csv(p, index=False, encoding="latin-1"))
file("pandas csv in utf-16", ".csv", lambda p: FRAME.to_csv(p, index=False, encoding="utf-16"))
file("pandas csv with a mark", ".csv", lambda p: FRAME.to_csv(p, index=False, encoding="utf-8-sig"))
file("pandas csv, all quoted", ".csv", lambda p: FRAME.to_csv(p, index=False, quoting=csv.QUOTE_ALL))
file("pandas csv.gz", ".csv.gz", lambda p: FRAME.to_csv(p, index=False))
file("pandas csv.bz2", ".csv.bz2", lambda p: FRAME.to_csv(p, index=False))
file("pandas csv.zst", ".csv.zst", lambda p: FRAME.to_csv(p, index=False))
file(
    "pandas csv in a zip",
    ".csv.zip",
    lambda p: FRAME.to_csv(p, index=False, compression={"method": "zip", "archive_name": "x.csv"}),
)
file("pandas tsv", ".tsv", lambda p: FRAME.to_csv(p, index=False, sep="\t"))
file("pandas tsv, all quoted", ".tsv", lambda p: FRAME.to_csv(p, index=False, sep="\t", quoting=csv.QUOTE_ALL))
file("pandas txt by tabs", ".txt", lambda p: FRAME.to_csv(p, index=False, sep="\t"))
file("pandas json lines", ".jsonl", lambda p: FRAME.to_json(p, orient="records", lines=True))
file("pandas json, records", ".json", lambda p: FRAME.to_json(p, orient="records"))
file("pandas json, its default", ".json", lambda p: FRAME.to_json(p))
file("pandas json, index", ".json", lambda p: FRAME.to_json(p, orient="index"))
file("pandas json, split", ".json", lambda p: FRAME.to_json(p, orient="split"))
file("pandas json, table", ".json", lambda p: FRAME.to_json(p, orient="table"))
file("pandas parquet", ".parquet", lambda p: FRAME.to_parquet(p))
file("pandas parquet with an index", ".parquet", lambda p: FRAME.set_index(FRAME.index + 10).to_parquet(p, index=True))
file("pandas feather", ".feather", lambda p: FRAME.to_feather(p))
file("pandas xlsx", ".xlsx", lambda p: FRAME.to_excel(p, index=False))
file("pandas xlsx with index", ".xlsx", lambda p: FRAME.to_excel(p))
file("pandas ods", ".ods", lambda p: FRAME.to_excel(p, index=False, engine="odf"))
shape("pandas frame")(lambda _: gl.from_pandas(FRAME))
shape("pandas frame without ids")(lambda _: gl.from_pandas(FRAME.drop(columns="id")))
shape("pandas frame whose index has the ids")(lambda _: gl.from_pandas(FRAME.set_index("id")))
shape("pandas frame of categories")(lambda _: gl.from_pandas(FRAME.astype({"label": "category", "premise": "string"})))
shape("pandas frame of numbers with gaps")(
    lambda _: gl.from_pandas(FRAME.assign(label=FRAME["label"].map(NUMBERS).astype(float)), **AS_NUMBERS)
)

# Polars and Arrow
file("polars csv", ".csv", lambda p: pl.from_pandas(FRAME).write_csv(p))
file("polars ndjson", ".ndjson", lambda p: pl.from_pandas(FRAME).write_ndjson(p))
file("polars parquet", ".parquet", lambda p: pl.from_pandas(FRAME).write_parquet(p))
file("polars arrow", ".arrow", lambda p: pl.from_pandas(FRAME).write_ipc(p))
file("arrow stream", ".arrow", lambda p: pl.from_pandas(FRAME).write_ipc_stream(p))
file("parquet.gz", ".parquet.gz", lambda p: p.write_bytes(gzip.compress(FRAME.to_parquet())))
shape("polars frame")(lambda _: gl.from_polars(pl.from_pandas(FRAME)))
shape("polars lazy frame")(lambda _: gl.from_polars(pl.from_pandas(FRAME).lazy()))

# Rows
shape("dictionaries")(lambda _: gl.from_rows(FRAME.to_dict("records")))
shape("tuples")(lambda _: gl.from_rows([row[1:] for row in ROWS]))
shape("a generator in SNLI's names")(
    lambda _: gl.from_rows({"pairID": i, "sentence1": p, "sentence2": h, "gold_label": y} for i, p, h, y in ROWS)
)

# Hugging Face
CLASSED = datasets.Features(
    {name: datasets.Value("string") for name in HEADER[:3]} | {"label": datasets.ClassLabel(names=list(LABELS))}
)
HF = datasets.Dataset.from_dict(
    {name: FRAME[name].tolist() for name in HEADER[:3]} | {"label": FRAME["label"].map(NUMBERS).tolist()},
    features=CLASSED,
)
shape("datasets")(lambda _: gl.from_datasets(HF))
shape("datasets, shuffled")(lambda _: gl.from_datasets(HF.shuffle(seed=1)))
shape("datasets by split")(
    lambda _: gl.from_datasets(datasets.DatasetDict({"train": HF.select([0, 1]), "validation": HF.select([2, 3])}))
)
shape("datasets, streamed")(lambda _: gl.from_datasets(HF.to_iterable_dataset()))
file("datasets saved to disk", "", lambda p: HF.save_to_disk(p))
file("datasets dictionary on disk", "", lambda p: datasets.DatasetDict({"train": HF}).save_to_disk(p))
file("datasets parquet", ".parquet", lambda p: HF.to_parquet(p))
file("datasets csv of numbers", ".csv", lambda p: HF.to_csv(p), **AS_NUMBERS)
file("datasets json of numbers", ".jsonl", lambda p: HF.to_json(p), **AS_NUMBERS)


# Excel
def workbook(path: Path, rows: list[list[Any]], *, above: int = 0, sheets: tuple[str, ...] = ("Sheet1",)) -> None:
    book = openpyxl.Workbook()
    book.active.title = sheets[0]
    for name in sheets[1:]:
        book.create_sheet(name)
    for row in [[]] * above + rows:
        book[sheets[-1]].append(row)
    book.save(path)


file("excel", ".xlsx", lambda p: workbook(p, CELLS))
file(
    "excel with empty rows and columns",
    ".xlsx",
    lambda p: workbook(p, [[*CELLS[0], "", None], *([*row, None] for row in CELLS[1:]), [None], [""]]),
)
file("excel, first sheet empty", ".xlsx", lambda p: workbook(p, CELLS, sheets=("Notes", "Data")))
file("excel, an empty row above", ".xlsx", lambda p: workbook(p, CELLS, above=1))
file(
    "excel of numbers",
    ".xlsx",
    lambda p: workbook(p, [HEADER, *([*row[:3], NUMBERS[row[3]]] for row in ROWS)]),
    **AS_NUMBERS,
)
file(
    "excel, headers as people type them",
    ".xlsx",
    lambda p: workbook(p, [["ID ", " Premise", "HYPOTHESIS", "Label"], *map(list, ROWS)]),
)
file("excel's zip in a zip", ".xlsx.zip", lambda p: pack_workbook(p))
text("excel's csv of Europe", ".csv", table(CELLS, ";"), "cp1252")
text("excel's csv that says its separator", ".csv", "sep=;\r\n" + table(CELLS, ";"))
text("excel's unicode text", ".txt", table(CELLS, "\t"), "utf-16")
text("excel's csv with spare separators", ".csv", table([[*row, "", ""] for row in CELLS]))
text("excel's csv on an old Mac", ".csv", table(CELLS, lineterminator="\r"))


def pack_workbook(path: Path) -> None:
    inner = path.with_name("inner.xlsx")
    workbook(inner, CELLS)
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inner, "birds.xlsx")
    inner.unlink()


# R: strings and names in quotes, row names without a header (write.table) or under an empty one (write.csv)
def r_table(rows: list[list[Any]], delimiter: str, *, corner: bool | None) -> str:
    quote = '"{}"'.format
    lines = [[quote(str(cell).replace('"', '""')) for cell in row] for row in rows]
    if corner is not None:
        lines = [(['""'] if corner else []) + lines[0], *([quote(n), *row] for n, row in enumerate(lines[1:], 1))]
    return "".join(delimiter.join(line) + "\n" for line in lines)


text("R write.csv", ".csv", r_table(CELLS, ",", corner=True))
text("R write.csv2", ".csv", r_table(CELLS, ";", corner=True))
text("R write.csv without row names", ".csv", r_table(CELLS, ",", corner=None))
text("R write.table by tabs", ".txt", r_table(CELLS, "\t", corner=False))
text("R write.table by tabs without row names", ".tsv", r_table(CELLS, "\t", corner=None))
text("R write.table by commas", ".csv", r_table(CELLS, ",", corner=False))
SPACED = "".join(
    " ".join('"{}"'.format(cell.replace('"', '\\"')) for cell in ([str(7 - number)] if number else []) + row) + "\n"
    for number, row in enumerate(CELLS)
)
text("R write.table as it is by default, rows out of order", ".txt", SPACED)
text("R write.table as it is by default, called csv", ".csv", SPACED)
text("readr write_tsv", ".tsv", table(CELLS, "\t", lineterminator="\n"))

# By hand
PLAIN = "\n".join("\t".join(row) for row in CELLS)
text("tsv of an NLI corpus", ".tsv", PLAIN)
text("tsv without a last line end, with empty lines", ".tsv", PLAIN.replace("\n", "\n\n"))
text("capital labels", ".csv", table([HEADER, *([*row[:3], f" {row[3].upper()} "] for row in ROWS)]))
text("short labels", ".csv", table([HEADER, *([*row[:3], row[3][0].upper()] for row in ROWS)]))
text(
    "capital headers in SNLI's names", ".csv", table([["PairID", " Sentence1 ", "SENTENCE2", "Gold_Label"], *CELLS[1:]])
)
text(
    "names of their own",
    ".csv",
    table([["nr", "text A", "text B", "y"], *CELLS[1:]]),
    columns={"id": "nr", "premise": "text a", "hypothesis": "Text B", "label": "Y"},
)
text("no ids", ".csv", table([row[1:] for row in CELLS]))
text("an ending that says nothing", ".dat", table(CELLS, ";"), format="csv")
text("a wrong ending", ".csv", FRAME.to_json(orient="records", lines=True), format="jsonl")
text("a separator of their own", ".csv", table(CELLS, "~"), delimiter="~")
text("an encoding of their own", ".csv", table(CELLS), "mac-roman", encoding="mac-roman")
text("utf-16 without a mark", ".csv", table(CELLS), "utf-16-le")
text("json lines in utf-16", ".jsonl", FRAME.to_json(orient="records", lines=True, force_ascii=False), "utf-16")
text("json lines, capital keys", ".jsonl", FRAME.rename(columns=str.upper).to_json(orient="records", lines=True))
text("json, columns of lists", ".json", json.dumps({name: FRAME[name].tolist() for name in HEADER}))
text("json with the rows under data", ".json", json.dumps({"version": 1, "data": FRAME.to_dict("records")}, indent=2))
file(
    "json lines.bz2",
    ".jsonl.bz2",
    lambda p: p.write_bytes(bz2.compress(FRAME.to_json(orient="records", lines=True).encode())),
)
file(
    "json lines.zst",
    ".jsonl.zst",
    lambda p: p.write_bytes(pa.compress(FRAME.to_json(orient="records", lines=True).encode(), "zstd", asbytes=True)),
)

# Votes: the labels come from them
file("a column each", ".csv", lambda p: VOTED.to_csv(p, index=False), votes_from=RATERS)
file(
    "a column each, with gaps and a label that is empty",
    ".csv",
    lambda p: VOTED.assign(label="", rater4=[None, "neutral", float("nan"), ""]).to_csv(p, index=False),
    votes_from=[*RATERS, "Rater4 "],
)
file("a column each in Excel", ".xlsx", lambda p: VOTED.to_excel(p, index=False), votes_from=RATERS)
file("a column each in Parquet", ".parquet", lambda p: VOTED.to_parquet(p), votes_from=RATERS)
file(
    "a column each in JSON lines", ".jsonl", lambda p: VOTED.to_json(p, orient="records", lines=True), votes_from=RATERS
)
file(
    "a column each, of numbers that became floats",
    ".csv",
    lambda p: VOTED.replace(NUMBERS).astype(dict.fromkeys(RATERS, float)).to_csv(p, index=False),
    votes_from=RATERS,
    **AS_NUMBERS,
)
file("R's NA", ".csv", lambda p: VOTED.assign(rater4="NA").to_csv(p, index=False), votes_from=[*RATERS, "rater4"])
shape("a frame with a column each")(lambda _: gl.from_pandas(VOTED, votes_from=RATERS))
file("pandas' lists in csv", ".csv", lambda p: LISTED.to_csv(p, index=False))
file(
    "numpy's lists in csv",
    ".csv",
    lambda p: LISTED.assign(votes=[str(pd.Series(v).to_numpy(dtype=object)) for v in LISTED["votes"]]).to_csv(
        p, index=False
    ),
)
file(
    "lists joined by commas",
    ".csv",
    lambda p: LISTED.assign(votes=[", ".join(v) for v in LISTED["votes"]]).to_csv(p, index=False),
)
file(
    "lists joined by bars",
    ".tsv",
    lambda p: LISTED.assign(votes=["|".join(v) for v in LISTED["votes"]]).to_csv(p, index=False, sep="\t"),
)
file("lists in Parquet", ".parquet", lambda p: LISTED.to_parquet(p))
file(
    "lists in JSON lines",
    ".jsonl",
    lambda p: LISTED.rename(columns={"votes": "annotator_labels"}).to_json(p, orient="records", lines=True),
)
file("crowd-kit's table", ".csv", lambda p: pd.DataFrame(LONG).to_csv(p, index=False))
file("crowd-kit's table in Parquet", ".parquet", lambda p: pd.DataFrame(LONG).to_parquet(p))
file("crowd-kit's table in JSON lines", ".jsonl", lambda p: pd.DataFrame(LONG).to_json(p, orient="records", lines=True))
file(
    "a row for each vote, without ids",
    ".csv",
    lambda p: pd.DataFrame(LONG).drop(columns="task").rename(columns={"worker": "Annotator"}).to_csv(p, index=False),
)
shape("a frame of crowd-kit's")(lambda _: gl.from_pandas(pd.DataFrame(LONG)))
COUNTED = FRAME.drop(columns="label").assign(
    **{label: [VOTES[i].count(label) for i in FRAME["id"]] for label in LABELS}
)
file("how many voted for each label", ".csv", lambda p: COUNTED.to_csv(p, index=False))
file(
    "how many voted, ChaosNLI's way",
    ".jsonl",
    lambda p: (
        FRAME.drop(columns="label")
        .assign(label_counter=[{label[0]: VOTES[i].count(label) for label in set(VOTES[i])} for i in FRAME["id"]])
        .to_json(p, orient="records", lines=True)
    ),
)
shape("a probability for each label")(
    lambda _: gl.from_pandas(
        COUNTED.assign(**{f"p_{label}": COUNTED[label] / 3 for label in LABELS}).drop(columns=list(LABELS))
    )
)


def test_there_are_enough_shapes() -> None:
    assert len(SHAPES) >= 60


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:odf")
def test_the_same_pairs_come_from_every_shape(name: str, tmp_path: Path) -> None:
    write, options = SHAPES[name]
    written = write(tmp_path)
    pairs = written if isinstance(written, gl.Pairs) else gl.read(written, **options)
    if set(pairs.collect()["label"]) == {"-"}:
        pairs = gl.verify(pairs).pairs
    rows = sorted(pairs.collect().select("premise", "hypothesis", "label").iter_rows())
    assert rows == sorted(row[1:] for row in ROWS)
    ids = dict(zip(pairs.collect()["premise"], pairs.collect()["id"], strict=True))
    if "no ids" not in name and "without ids" not in name and name != "tuples":
        assert ids == {row[1]: row[0] for row in ROWS}
    assert set(pairs.collect()["meta"].str.json_decode(pl.Struct({"column 2": pl.String})).struct[0]) <= {None}
