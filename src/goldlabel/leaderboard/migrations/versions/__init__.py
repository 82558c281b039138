"""The revisions, the first one first."""
