"""People write and verify pairs: projects, protocols, assignments, votes, ledger."""
