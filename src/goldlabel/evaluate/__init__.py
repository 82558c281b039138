"""Suites of datasets, and a model's scores on them with intervals."""
