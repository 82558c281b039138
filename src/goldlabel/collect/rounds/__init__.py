"""Adversarial rounds: tries against models, what fooled them, and the splits of each round."""
