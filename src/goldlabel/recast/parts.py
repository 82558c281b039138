"""Where the datasets of a collection lie in a folder of sources, and how many pairs the paper has of each (Table 2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Part:
    """A dataset of the collection: where its files lie, and how many pairs the paper has of it.

    ``patterns`` are tried one after the other; all files of the first that finds any are taken, and all of ``also``.
    """

    name: str
    recaster: str
    annotation: str
    patterns: tuple[str, ...]
    also: tuple[str, ...] = ()
    published: int | None = None
    note: str = ""

    def files(self, folder: Path) -> list[Path]:
        """Return its files in a folder of sources, in the order of their names; none if it is not there."""
        first = next((paths for pattern in self.patterns if (paths := sorted(folder.glob(pattern)))), [])
        return [*first, *(path for pattern in self.also for path in sorted(folder.glob(pattern)))] if first else []


_FACTUALITY = "factuality/njjiang_factuality_bert"
PARTS = (
    Part(
        name="factuality-uds",
        recaster="factuality",
        annotation="Event Factuality",
        patterns=("factuality/uds_ih2_official/it-happened/it-happened_eng_ud1.2_07092017.tsv*",),
        also=(f"{_FACTUALITY}/UDS_IH2/*.jsonl*",),
        published=41_888,
        note="the published set lacks a few events of each split for reasons it does not give",
    ),
    Part(
        name="factuality-meantime",
        recaster="factuality",
        annotation="Event Factuality",
        patterns=(f"{_FACTUALITY}/MEANTIME/[dt]*.conll*",),
        published=738,
        note="the published set lacks one event",
    ),
    Part(
        name="factuality-uw",
        recaster="factuality",
        annotation="Event Factuality",
        patterns=(f"{_FACTUALITY}/UW/[dt]*.conll*",),
        published=5_094,
        note="the published test split lacks eleven events",
    ),
    Part(
        name="ner-gmb",
        recaster="named-entities",
        annotation="Named Entity Recognition",
        patterns=("gmb_kaggle/ner_dataset.csv.gz", "gmb_kaggle/ner_dataset.csv*"),
        published=261_406,
        note="the paper took the Groningen Meaning Bank itself; this csv is an extract of it with coarse tags",
    ),
    Part(
        name="ner-conll",
        recaster="named-entities",
        annotation="Named Entity Recognition",
        patterns=("conll2003/*",),
        published=59_970,
        note="neighbours of one type are merged, and four pairs more were published than the rule gives",
    ),
    Part(
        name="winogender",
        recaster="winogender",
        annotation="Gendered Anaphora",
        patterns=("winogender/templates.tsv",),
        published=464,
        note="the release leaves out 4 of 120 templates and the pronoun they, which the plain style has",
    ),
    Part(
        name="megaveridicality",
        recaster="megaveridicality",
        annotation="Lexicosyntactic Inference",
        patterns=("megaveridicality/mega-veridicality-v2/*.csv*", "megaveridicality/**/*.[ct]sv*"),
        published=11_814,
        note="the plain style keeps as many entailed pairs of a hypothesis as others",
    ),
    Part(
        name="relations",
        recaster="relations",
        annotation="Relationship Extraction",
        patterns=("relations/*",),
        published=30_000,
        note="the paper gives a round number; ours are candidates until people have judged them",
    ),
    Part(
        name="sentiment",
        recaster="sentiment",
        annotation="Sentiment Analysis",
        patterns=("sentiment/*_labelled.txt*",),
        published=6_000,
    ),
    Part(
        name="puns-yang",
        recaster="puns",
        annotation="Puns",
        patterns=("puns/yang2015/*.csv*",),
        published=7_706,
        note="texts that come twice are left out",
    ),
    Part(
        name="puns-semeval",
        recaster="puns",
        annotation="Puns",
        patterns=("puns/semeval2017_task7/data/test/subtask1-*",),
        published=8_054,
        note="three of 4,030 texts come twice and are taken once",
    ),
    Part(
        name="verbnet",
        recaster="verbnet",
        annotation="Thematic Roles",
        patterns=("verbnet/verbnet3.4/*.xml", "verbnet/**/*.xml"),
        note="not in Table 2; 1,701 pairs were released later, from an older VerbNet",
    ),
    Part(
        name="dpr",
        recaster="dpr",
        annotation="Definite Pronouns",
        patterns=("dpr/*.c.txt*",),
        note="White et al. (2017), not in Table 2; 3,661 pairs in their release",
    ),
    Part(
        name="spr",
        recaster="spr",
        annotation="Proto-Roles",
        patterns=("spr/protoroles_eng_udewt*",),
        also=(f"{_FACTUALITY}/UDS_IH2/*.jsonl*",),
        note="White et al. (2017), not in Table 2; this is the second collection, on other text",
    ),
    Part(
        name="fnplus",
        recaster="fnplus",
        annotation="FrameNet+",
        patterns=("fnplus/*",),
        note="White et al. (2017), not in Table 2",
    ),
)
"""The datasets of the paper, then those of White et al. (2017)."""
