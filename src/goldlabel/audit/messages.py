"""What an audit says, by name, in English; pages have the same in the reader's language."""

from __future__ import annotations

from goldlabel.messages import Message, Word

ENGLISH = {
    "verdict": "{blind} {gain}",
    "blind": "Without the premise, a linear model labels {share} right; the most frequent label alone "
    "gives {majority}.",
    "gain": "The labels give away {points} points.",
    "no_gain": "That is no significant gain at the level {level}.",
    "artifact": "{carriers} are {label} in {share} of {total} cases, where {expected} of all pairs are. {remedy}",
    "with_word": "Hypotheses with the word “{word}”",
    "with_words": "Hypotheses with the words “{word}”",
    "word_in_place": "Hypotheses with the word “{word}” in {place} place",
    "with_tag": "Hypotheses with a word of {tag}",
    "with_tag_such_as": "Hypotheses with a word of {tag} ({words} …)",
    "long_words": "Long hypotheses ({bound} words or more)",
    "short_words": "Short hypotheses (under {bound} words)",
    "long_words_in": "Long hypotheses ({bound} words or more in {language})",
    "short_words_in": "Short hypotheses (under {bound} words in {language})",
    "long_characters": "Long hypotheses ({bound} characters or more)",
    "short_characters": "Short hypotheses (under {bound} characters)",
    "long_characters_in": "Long hypotheses ({bound} characters or more in {language})",
    "short_characters_in": "Short hypotheses (under {bound} characters in {language})",
    "lexical_overlap": "Hypotheses all of whose words are in the premise (overlap)",
    "subsequence": "Hypotheses that are a stretch of the premise (overlap)",
    "constituent": "Hypotheses that are a clause of the premise (overlap)",
    "over_rule": "Hypotheses that share more than {bound} % of their words with the premise (overlap)",
    "cap_use": "Ask writers for it under the other labels too, or cap its use.",
    "cap_use_per_writer": "Ask writers for it under the other labels too, or cap its use per writer.",
    "even_lengths": "Even out the lengths per label.",
    "ask_paraphrase": "Ask for paraphrase, and for shared words under every label.",
    "contradictory_duplicates": "{n} pairs occur more than once with different labels. Have them judged again.",
    "overlap_rule": "{n} hypotheses, {share}, share more than 70 % of their words with the premise. Ask writers to "
    "paraphrase.",
    "foreign_text": "{n} of {total} pairs hold more than ten Roman letters, a trace of translation. Look through them.",
    "near_across_splits": "{n} pairs have a duplicate or near-duplicate in another split ({clusters}). Drop them with "
    "goldlabel data duplicates --drop.",
    "across_splits": "{pairs} in more than one split. Split again with --exclude-overlap premise.",
    "pair_stands": "{n} pair stands",
    "pairs_stand": "{n} pairs stand",
    "cluster": "{n} cluster",
    "clusters": "{n} clusters",
    "also_in": "{pairs} also in {dataset}. Leave them out of one of the two.",
    "also_in_and_near": "{pairs} also in {dataset}, and {clusters} into it. Leave them out of one of the two.",
    "pair_is": "{n} pair is",
    "pairs_are": "{n} pairs are",
    "all_pair_is": "All {n} pair is",
    "all_pairs_are": "All {n} pairs are",
    "premises_also_in": "{premises} also in {dataset}. Keep the two from being train and test.",
    "premise_is": "{n} premise is",
    "premises_are": "{n} premises are",
    "near_in": "{clusters} into {dataset}. Look through them.",
    "cluster_reaches": "{n} cluster of near-duplicates reaches",
    "clusters_reach": "{n} clusters of near-duplicates reach",
    "shared_premises": "{pairs} a premise that train has too. Split again, which keeps premises together, or drop them "
    "with --exclude-overlap premise.",
    "pair_has": "{n} pair of dev or test has",
    "pairs_have": "{n} pairs of dev or test have",
}


def message(name: str, /, **parameters: object) -> Message:
    """Return a message by its name."""
    return Message(name, ENGLISH[name], parameters)


def counted(count: int, one: str, more: str) -> Message:
    """Return the message of one thing, or that of several."""
    return message(one if count == 1 else more, n=f"{count:,}")


def read_message(document: dict[str, object]) -> Message:
    """Return the message that ``Message.to_dict`` told of."""
    parameters = document["parameters"]
    assert isinstance(parameters, dict)
    return message(str(document["name"]), **{name: _read(value) for name, value in parameters.items()})


def _read(value: object) -> object:
    if isinstance(value, dict):
        return Word(value["word"]) if "word" in value else read_message(value)
    return value
