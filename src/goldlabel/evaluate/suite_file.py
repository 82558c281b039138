"""A suite of the user's own, as a YAML file.

    title: Does it know birds?
    in_domain: snli
    train: [snli]
    sets:
      - source: snli
        split: test
      - name: lake
        path: data/lake.csv
        labels: nli3
        map: {"0": entailment, "1": neutral, "2": contradiction}
        columns: {premise: text_a, hypothesis: text_b}
        dev: data/lake-dev.csv

Every value knows its line, so that what is wrong can be told where it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.files import InputFile
from goldlabel.pairs import Pairs, read
from goldlabel.pairs.record import SPLITS
from goldlabel.registry import suggest
from goldlabel.sources import SOURCES, is_added, load

SUFFIXES = (".yaml", ".yml")
_SUITE = ("name", "title", "in_domain", "train", "sets")
_DATASET = ("path", "source", "labels", "map", "columns")
_SET = ("name", *_DATASET, "split", "counts", "dev")
_OF_FILES = ("labels", "map", "columns")


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Pairs of a file or folder, with what it takes to read them, or of a source."""

    where: str
    """The file and line that name it."""
    path: Path | None = None
    source: str | None = None
    labels: str = "nli3"
    label_map: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> str | None:
        """Why the pairs are not there, where the user has not added the source yet."""
        if self.source is None or is_added(self.source):
            return None
        return f"add it with 'goldlabel data add {self.source} PATH'"

    def read(self, path: str | None = None) -> Pairs:
        """Read the pairs, from another place if one is named."""
        try:
            if path is None and self.source is not None:
                return load(self.source)
            return read(path or str(self.path), labels=self.labels, label_map=self.label_map, columns=self.columns)
        except GoldlabelError as error:
            raise InputError(f"{self.where}: {error}") from error


@dataclass(frozen=True, kw_only=True)
class SetEntry:
    """A set that models are judged by."""

    name: str
    data: Dataset
    split: str | None = None
    counts: bool = True
    dev: Dataset | str | None = None
    """The validation half: pairs of their own, or a split of the same ones."""


@dataclass(frozen=True, kw_only=True)
class SuiteFile:
    """What a suite file says."""

    name: str
    title: str
    sets: Sequence[SetEntry]
    train: Sequence[Dataset] = ()
    in_domain: str | None = None


def read_suite(path: str | Path) -> SuiteFile:
    """Read and check a suite file; paths in it are meant from its folder."""
    path = Path(path)
    with InputFile(path).open() as stream:
        text = stream.read()
    try:
        root = yaml.compose(text.decode(), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8; convert the file to UTF-8") from error
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{path}{line}: is no YAML ({error.problem})") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: is no YAML ({' '.join(str(error).split())})") from error
    if root is None:
        raise InputError(f"{path}: is empty; it needs 'sets', a list of datasets")
    return _Reader(path).suite(root)


class _Reader:
    """Takes the nodes of one file apart."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def suite(self, root: yaml.Node) -> SuiteFile:
        fields = self.fields(root, _SUITE, "a suite")
        sets = [self.set(node) for node in self.items(fields["sets"])] if "sets" in fields else []
        if not sets:
            node = fields.get("sets", root)
            raise self.error(node, "the suite has no set to judge by; list some under 'sets', each with path or source")
        names = [entry.name for entry in sets]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise self.error(fields["sets"], f"two sets are called {twice!r}; name them apart with 'name'")
        in_domain = self.text(fields["in_domain"]) if "in_domain" in fields else None
        if in_domain is not None and in_domain not in names:
            raise self.error(
                fields["in_domain"], f"in_domain {in_domain!r} is none of the sets; {suggest(in_domain, names)}"
            )
        return SuiteFile(
            name=self.text(fields["name"]) if "name" in fields else self.path.stem,
            title=self.text(fields["title"]) if "title" in fields else "",
            sets=tuple(sets),
            train=tuple(self.dataset(node) for node in self.items(fields["train"])) if "train" in fields else (),
            in_domain=in_domain,
        )

    def set(self, node: yaml.Node) -> SetEntry:
        if isinstance(node, yaml.ScalarNode):
            data = self.dataset(node)
            return SetEntry(name=_name_of(data), data=data)
        fields = self.fields(node, _SET, "a set")
        data = self.dataset_of(node, fields)
        return SetEntry(
            name=self.text(fields["name"]) if "name" in fields else _name_of(data),
            data=data,
            split=self.text(fields["split"]) if "split" in fields else None,
            counts=self.truth(fields["counts"]) if "counts" in fields else True,
            dev=self.dev(fields["dev"]) if "dev" in fields else None,
        )

    def dev(self, node: yaml.Node) -> Dataset | str:
        return node.value if isinstance(node, yaml.ScalarNode) and node.value in SPLITS else self.dataset(node)

    def dataset(self, node: yaml.Node) -> Dataset:
        """Return what a name of a source, a path, or the fields of a dataset say."""
        if isinstance(node, yaml.ScalarNode):
            name = self.text(node)
            is_source = name in SOURCES and not (self.path.parent / name).exists()
            return self.dataset_of(node, {"source" if is_source else "path": node})
        return self.dataset_of(node, self.fields(node, _DATASET, "a dataset"))

    def dataset_of(self, node: yaml.Node, fields: Mapping[str, yaml.Node]) -> Dataset:
        where = self.where(node)
        if ("path" in fields) == ("source" in fields):
            raise self.error(node, "a dataset has either a path or a source")
        if "source" in fields:
            if useless := next((name for name in _OF_FILES if name in fields), None):
                raise self.error(
                    fields[useless], f"{useless!r} is for files; a source knows its own labels and columns"
                )
            source = self.text(fields["source"])
            if source not in SOURCES:
                raise self.error(fields["source"], f"there is no source {source!r}; {suggest(source, list(SOURCES))}")
            return Dataset(where=where, source=source)
        path = self.path.parent / self.text(fields["path"])
        if not path.exists():
            raise self.error(fields["path"], f"path {path}: there is no such file or folder")
        return Dataset(
            where=where,
            path=path,
            labels=self.text(fields["labels"]) if "labels" in fields else "nli3",
            label_map=self.texts(fields["map"]) if "map" in fields else {},
            columns=self.texts(fields["columns"]) if "columns" in fields else {},
        )

    def fields(self, node: yaml.Node, allowed: Sequence[str], what: str) -> dict[str, yaml.Node]:
        """Return the values of a mapping by their keys, each of which is known and there once."""
        fields: dict[str, yaml.Node] = {}
        for key, value in self.pairs(node, what):
            if key.value not in allowed:
                raise self.error(key, f"{key.value!r} is not known in {what}; {suggest(key.value, list(allowed))}")
            if key.value in fields:
                raise self.error(key, f"{key.value!r} is there twice")
            fields[key.value] = value
        return fields

    def texts(self, node: yaml.Node) -> dict[str, str]:
        # Words as they are written: to YAML, a label 'no' would be false and 0 a number.
        return {key.value: self.text(value) for key, value in self.pairs(node, "a map of words")}

    def pairs(self, node: yaml.Node, what: str) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            raise self.error(node, f"{what} is written as KEY: VALUE")
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error(key, "a key is one word")
        return list(node.value)

    def items(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(node, "a list was expected, each entry after a '-'")
        return list(node.value)

    def text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            raise self.error(node, "a word was expected")
        return str(node.value)

    def truth(self, node: yaml.Node) -> bool:
        if node.tag != "tag:yaml.org,2002:bool":
            raise self.error(node, "true or false was expected")
        return node.value.lower() in ("true", "yes", "on")

    def where(self, node: yaml.Node) -> str:
        return f"{self.path} line {node.start_mark.line + 1}"

    def error(self, node: yaml.Node, message: str) -> InputError:
        return InputError(f"{self.where(node)}: {message}")


def _name_of(data: Dataset) -> str:
    if data.source is not None:
        return data.source
    assert data.path is not None
    return data.path.name.partition(".")[0]
