"""Fitting models: batching, debiasing, run folders, rounds."""
