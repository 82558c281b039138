"""The data of a project: premises and pairs that come in, are looked at, measured, split and exported."""
