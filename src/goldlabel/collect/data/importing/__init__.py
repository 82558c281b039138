"""Importing: what a requester brings becomes premises, pairs and votes of a project, a batch at a time."""
