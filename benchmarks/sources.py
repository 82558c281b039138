"""Importing every public corpus that lies in GOLDLABEL_CORPORA, and whether memory stays flat as files grow.

Import:  each source in a process of its own: pairs, pairs per second, peak memory.
Growth:  one invented file per form (JSON lines, table, blocks), then one several times as long.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import measure, write_result

FOLDERS = {
    "snli": "snli",
    "snli-hard": "snli",
    "multinli": "multinli",
    "multinli-mismatched": "multinli",
    "sick": "sick",
    "sick-corrected": "sick_corrected",
    "joci": "joci",
    "scitail": "scitail",
    "mpe": "mpe",
    "add1": "add1",
    "cb": "cb",
    "rte": "rte",
    "rte-challenges": "rte",
    "wnli": "wnli",
    "anli": "anli",
    "hans": "hans",
    "breaking-nli": "breaking_nli",
    "esnli": "esnli",
    "chaosnli": "chaosnli",
    "dnc": "recast_sources/dnc_published",
    "med": "med",
    "fracas": "fracas",
    "conjnli": "conjnli",
    "imppres": "imppres",
    "fever-symmetric": "fever_symmetric",
    "snli-cad": "snli_cad",
    "te-new-protocols": "te_new_protocols",
    "ling-in-loop": "ling_in_loop",
    "xnli-en": "xnli_test_en_zh",
    "ocnli": "ocnli",
    "ocnli-30k": "ocnli",
    "ocnli-10k": "ocnli",
    "ocnli-3k": "ocnli",
    "xnli-zh": "xnli_zh",
    "cmnli": "cmnli_cnsd/Chinese-MNLI",
    "cnsd": "cmnli_cnsd/Chinese-SNLI",
    "cnli-ccl2018": "cnli_ccl2018",
    "clue-diagnostics": "chinese_nli_probing",
    "hans-zh": "chinese_nli_probing",
    "nli-stress-zh": "chinese_nli_probing",
    "semantic-fragments-zh": "chinese_nli_probing",
}


def add_source(name: str, path: str, home: str) -> dict[str, Any]:
    """Add one source to a library of its own; the seconds leave out the loading of the package."""
    os.environ["GOLDLABEL_HOME"] = home
    from goldlabel.sources import add

    start = time.perf_counter()
    added = add(name, [Path(path)])
    return {
        "seconds": time.perf_counter() - start,
        "pairs": len(added.pairs),
        "problems": len(added.problems),
        "labels": added.pairs.to_dict()["labels"],
        "splits": added.pairs.to_dict()["splits"],
    }


def measured(name: str, path: Path, home: str) -> dict[str, Any]:
    outcome = measure(add_source, name, str(path), home)
    seen: dict[str, Any] = outcome["result"] | {"peak_mb": outcome["peak_mb"]}
    return seen | {"pairs_per_second": seen["pairs"] / seen["seconds"]}


def imports(corpora: Path, chosen: list[str]) -> dict[str, Any]:
    figures = {}
    for name, folder in FOLDERS.items():
        if not (corpora / folder).exists() or (chosen and name not in chosen):
            continue
        with tempfile.TemporaryDirectory() as home:
            figures[name] = seen = measured(name, corpora / folder, home)
        print(
            f"{name:22} {seen['pairs']:9,} pairs {seen['problems']:6,} not read {seen['seconds']:7.2f} s "
            f"{seen['pairs_per_second']:10,.0f} pairs/s  peak {seen['peak_mb']:5,.0f} MB"
        )
    return figures


def _lines(form: str, pairs: int) -> Iterator[str]:
    if form == "table":
        yield "gold_label\tsentence1\tsentence2\tpairID\theuristic\tsubcase\n"
    for number in range(pairs):
        premise, hypothesis = f"Kite number {number} flies over the long wall.", f"Kite {number} flies."
        if form == "json lines":
            yield (
                f'{{"query": "{hypothesis}", "context": "{premise}", "label": "SUPPORTS", "cid": {number}, '
                f'"fid": "{number}_0", "verifiable": 1}}\n'
            )
        elif form == "table":
            yield f"entailment\t{premise}\t{hypothesis}\tex{number}\tconstituent\tce_adverb\n"
        else:
            yield (
                f"provenance: FN+\nindex: {number}\ntext: {premise}\nhypothesis: {hypothesis}\n"
                "entailed: entailed\npartof: train\n\n"
            )


FORMS = {
    "json lines": ("fever-nli", "train_fitems.jsonl"),
    "table": ("hans", "heuristics_train_set.txt"),
    "blocks": ("fnplus", "fnplus_data.txt"),
}


def growth(pairs: int, times: int) -> dict[str, Any]:
    """Say by how much memory grows when a file is several times as long."""
    figures = {}
    for form, (name, file) in FORMS.items():
        seen = []
        for size in (pairs, pairs * times):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / file
                with path.open("w", encoding="utf-8") as stream:
                    stream.writelines(_lines(form, size))
                seen.append(measured(name, path, f"{folder}/home") | {"megabytes": path.stat().st_size / 2**20})
        small, large = seen
        figures[form] = {"small": small, "large": large, "memory_ratio": large["peak_mb"] / small["peak_mb"]}
        print(
            f"{form:22} {small['pairs']:9,} -> {large['pairs']:9,} pairs {large['pairs_per_second']:10,.0f} pairs/s  "
            f"peak {small['peak_mb']:5,.0f} -> {large['peak_mb']:5,.0f} MB ({large['megabytes']:,.0f} MB file)"
        )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", help="only these sources")
    parser.add_argument("--pairs", type=int, default=200_000, help="pairs of the smaller file of the growth test")
    parser.add_argument("--times", type=int, default=5, help="how many times as long the larger file is; 0: none")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    corpora = os.environ.get("GOLDLABEL_CORPORA")
    if corpora:
        figures["import"] = imports(Path(corpora), options.sources)
        total = sum(seen["pairs"] for seen in figures["import"].values())
        seconds = sum(seen["seconds"] for seen in figures["import"].values())
        figures["import_total"] = {"pairs": total, "seconds": seconds, "pairs_per_second": total / seconds}
        print(f"{'all':22} {total:9,} pairs in {seconds:.1f} s: {total / seconds:,.0f} pairs/s")
    else:
        print("GOLDLABEL_CORPORA is not set: no corpora to import")
    if options.times:
        figures["growth"] = growth(options.pairs, options.times)
    write_result("sources", figures)


if __name__ == "__main__":
    main()
