"""The work itself: tasks handed out, what people write, label and tag, the rules for texts, verdicts and changes."""
