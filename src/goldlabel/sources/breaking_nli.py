"""Breaking NLI: SNLI premises with one word replaced by one that calls for lexical knowledge."""

from goldlabel.sources.source import SOURCES, Source, SourceFile, fields, jsonl

_pair = fields(
    premise="sentence1",
    hypothesis="sentence2",
    label="gold_label",
    id="pairID",
    votes="annotator_labels",
    tags="category",
)

SOURCES.add(
    "breaking-nli",
    Source(
        name="breaking-nli",
        title="Breaking NLI",
        paper="Glockner et al. (2018), Breaking NLI systems with sentences that require simple lexical inferences, ACL",
        licence="CC BY-SA 4.0",
        address="https://github.com/BIU-NLP/Breaking_NLI/raw/master/breaking_nli_dataset.zip",
        language="en",
        description="8,193 pairs with three votes each; contradictions are 87 % of them. Tags are the categories.",
        files=(SourceFile(r"(?:dataset|breaking_nli.*)\.jsonl", "test", jsonl(transform=_pair)),),
    ),
)
