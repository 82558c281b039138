"""Annotations of other tasks become pairs: one file per phenomenon, pure functions."""
