"""What each setting is for, in a line beside its field."""

from __future__ import annotations

from goldlabel.web.words import N_

HELP = {
    "premises.shortest": N_("Shorter given sentences are left out when they are added."),
    "premises.longest": N_("Longer given sentences are left out when they are added."),
    "writing.overlap": N_(
        "How much of a hypothesis may be words of its given sentence; writers are told while they type."
    ),
    "writing.longest": N_("A longer hypothesis is refused."),
    "writing.writers_per_premise": N_("How many people write about each given sentence in each condition."),
    "writing.batch": N_("After so many a writer is told that it is a good moment for a pause."),
    "writing.cap": N_("So that no single person writes too much of the data; empty for no limit."),
    "writing.lease_seconds": N_("Time that a writer has for one given sentence."),
    "writing.meter": N_("What the artifact meter measures of their own sentences, below the one they write."),
    "verifying.share": N_("The rest keeps its author's label, unjudged."),
    "verifying.verifiers": N_(
        "With the author's label an odd number of votes has fewer ties: four makes five. Pairs that were drawn for "
        "judging before keep the number that they were drawn with."
    ),
    "verifying.foreign": N_("Pairs of another dataset, judged among yours, to compare their quality."),
    "verifying.sample": N_("Drawn at random; empty for all of them."),
    "verifying.suggestions": N_(
        "Of those whose pair brought one along (columns suggestion and suggested_by). A part, drawn at random, shows "
        "how far people follow suggestions."
    ),
    "verifying.models": N_("Otherwise what models say of pairs is kept beside the judgements and decides nothing."),
    "verifying.lease_seconds": N_("Time that a person has for one pair."),
    "qualification.training": N_("Shown with their answers before the work begins; 0 for no training."),
    "qualification.threshold": N_("Who gets fewer right may not start until you let them try again."),
    "qualification.gold_rate": N_("Sprinkled in, so that nobody can tell them from other tasks."),
    "qualification.trust": N_("Only when even the upper end of the interval is below, so that one slip flags nobody."),
    "qualification.pause": N_("They get no new tasks until you let them go on."),
    "pay.currency": N_("Three capital letters, such as EUR or CNY."),
    "pay.pair": N_("Booked for every sentence that is counted."),
    "pay.label": N_("Booked for every judgement that is counted."),
    "pay.bonus": N_("On top, where the criteria of the condition are met."),
    "pay.penalty": N_("Taken off for each sentence that a check finds to break the rule."),
    "qualification.feedback": N_(
        "Sums only, from twenty decided pairs on, without questions that have a known answer."
    ),
    "qualification.second_factor": N_(
        "Who runs the project and has none is led to set it up; you need one yourself first."
    ),
    "pay.floor": N_("Who earned less in the hours they worked can be raised to it on the page of payouts."),
    "pay.budget": N_(
        "Before people could earn more in all, the project pauses; what they have in hand is still taken and paid."
    ),
    "pay.rejected": N_("Otherwise what was booked for work that you reject is taken back."),
    "splits.dev": N_("Drawn from fully judged pairs; both shrink alike where there are fewer."),
    "splits.test": N_("Drawn from fully judged pairs; both shrink alike where there are fewer."),
    "splits.dev_share": N_("Empty for the number alone."),
    "splits.test_share": N_("Empty for the number alone."),
    "splits.genres": N_("A line each, such as news = test: all pairs of the genre are there, before others are drawn."),
}
