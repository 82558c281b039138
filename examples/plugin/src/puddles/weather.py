"""Weather reports become pairs: ``place<TAB>weather``, and what the weather means for an umbrella."""

from collections.abc import Iterator, Sequence

from goldlabel.files import InputFile
from goldlabel.recast import Options, Recaster, Recasting, Skipped

WET = ("rain", "snow", "sleet")


def recast(files: Sequence[InputFile], options: Options) -> Iterator[Recasting | Skipped]:
    """Give one pair for each report."""
    for file in files:
        with file.open() as stream:
            for number, line in enumerate(stream.read().decode().splitlines(), 1):
                place, tab, weather = line.partition("\t")
                if not tab:
                    yield Skipped(f"{file.name} {number}", "no weather")
                    continue
                yield Recasting(
                    premise=f"There is {weather} in {place}.",
                    hypothesis=f"An umbrella is of use in {place}.",
                    label="entailment" if weather in WET else "not_entailment",
                    source_id=f"{file.name} {number}",
                    corpus="Puddles",
                    licence="CC BY 4.0",
                    where=f"{file} line {number}",
                )


WEATHER = Recaster(
    name="weather",
    phenomenon="weather",
    title="Weather reports",
    paper="Rain and Shine (2024)",
    sources="reports: place, tab, weather",
    recast=recast,
)
