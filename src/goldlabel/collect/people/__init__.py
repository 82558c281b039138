"""The people of a project: accounts, membership, training and what binds a name to a person."""
