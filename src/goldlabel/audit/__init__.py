"""Artifacts: what a model could learn from pairs without reading the premise."""
