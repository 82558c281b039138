from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.errors import InputError
from goldlabel.recast import Options, run_recast
from goldlabel.recast.names import COMMON, Names, read_names
from tests.recast.samples import NASTY, sentiment


def rows(folder: Path, **options: object) -> dict[str, tuple[str, str, str]]:
    frame = run_recast("sentiment", sentiment(folder), Options(**options)).pairs.collect()  # type: ignore[arg-type]
    return {row["id"]: (row["premise"], row["hypothesis"], row["label"]) for row in frame.iter_rows(named=True)}


def names_file(folder: Path, text: str) -> Path:
    path = folder / "yob.txt"
    path.write_text(text)
    return path


def test_the_released_form(tmp_path: Path) -> None:
    found = rows(tmp_path, style="dnc", names=names_file(tmp_path, "Ada,F,1\n"))
    assert found["sentiment-amazon_cells_labelled.txt 2-1"] == (
        "When asked about the product, Ada said, 'This kettle sings number 1.'.",
        "Ada liked the product . ",
        "entailment",
    )
    assert found["sentiment-amazon_cells_labelled.txt 1-1"][1:] == ("Ada did not like the product . ", "entailment")
    assert found["sentiment-yelp_labelled.txt 1-2"] == (
        "When asked about the restaurant , Ada said , 'The soup was n't warm , but I 'd return ! ' .",
        "Ada did not like the restaurant .",
        "not_entailment",
    )


def test_the_plain_form_and_nasty_text(tmp_path: Path) -> None:
    found = rows(tmp_path, style="plain", names=names_file(tmp_path, "Ada,F,1\n"))
    assert found["sentiment-imdb_labelled.txt 3-1"] == (
        'When asked about the movie, Ada said, "I wept twice."',
        "Ada liked the movie.",
        "entailment",
    )
    assert found["sentiment-amazon_cells_labelled.txt 31-1"][0].endswith(f'"{NASTY}"')


def test_each_released_pair_draws_its_own_name(tmp_path: Path) -> None:
    drawn = {text[1].split()[0] for text in rows(tmp_path, style="dnc").values()}
    assert len(drawn) > 20
    plain = rows(tmp_path, style="plain")
    assert all(plain[key][0] == plain[key[:-1] + "2"][0] for key in plain if key.endswith("-1"))


def test_the_same_review_stays_in_one_split(tmp_path: Path) -> None:
    frame = run_recast("sentiment", sentiment(tmp_path), Options()).pairs.collect()
    twice = frame.filter(frame["group"] == "a film about gravel.")
    assert len(twice) == 4
    assert twice["split"].n_unique() == 1


def test_files_of_other_names_need_an_item(tmp_path: Path) -> None:
    file = tmp_path / "hotels.txt"
    file.write_text("Quiet rooms.\t1\n\n")
    with pytest.raises(InputError, match=r"hotels\.txt line 1: .*--set item=NAME"):
        run_recast("sentiment", [file])
    run = run_recast("sentiment", [file], Options(settings={"item": "hotel"}))
    assert run.pairs.collect()["hypothesis"].str.contains("hotel").all()


def test_names_are_drawn_by_count(tmp_path: Path) -> None:
    names = read_names(names_file(tmp_path, "Name,Sex,BirthCount\nAda,F,80\nBo,M,10\nAda,M,10\n"))
    drawn = [names.draw(0, number) for number in range(2000)]
    assert drawn.count("Ada") == pytest.approx(1800, abs=60)
    assert drawn == [names.draw(0, number) for number in range(2000)]
    assert drawn != [names.draw(1, number) for number in range(2000)]


def test_without_a_file_names_are_built_in() -> None:
    names = read_names(None)
    assert {names.draw(0, number) for number in range(2000)} == set(COMMON.split())
    assert isinstance(names, Names)


@pytest.mark.parametrize("text", ["Ada,F,1\nBo;M;2\n", "Ada\nBo\n", ""])
def test_a_file_of_no_names_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"yob\.txt line \d: is not Name,Sex,Count"):
        read_names(names_file(tmp_path, text))
