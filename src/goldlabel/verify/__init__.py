"""Votes become gold labels: aggregation, agreement, annotator quality."""
