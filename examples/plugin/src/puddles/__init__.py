"""A source, a recaster and a model for Goldlabel."""
