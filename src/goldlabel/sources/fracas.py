"""FraCaS: the textbook problems of formal semantics, as pairs."""

from goldlabel.sources.source import SOURCES, Source, SourceFile, delimited, fields

_pair = delimited(",", fields(premise="premise", hypothesis="hypothesis"))

SOURCES.add(
    "fracas",
    Source(
        name="fracas",
        title="FraCaS",
        paper="Cooper et al. (1996), Using the framework, FraCaS deliverable D16",
        licence="none stated",
        address="https://nlp.stanford.edu/~wcmac/downloads/",
        language="en",
        description="346 problems; several premises are joined into one, and the sections of the original are not in "
        "this copy. The address is a page.",
        files=(SourceFile(r"train\.csv", "train", _pair), SourceFile(r"dev\.csv", "dev", _pair)),
    ),
)
