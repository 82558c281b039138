from tests.collect.conftest import database, quick_schema, shared_database, store
from tests.web.conftest import clock, cluster, empty, quick_hashes, world

__all__ = ["clock", "cluster", "database", "empty", "quick_hashes", "quick_schema", "shared_database", "store", "world"]
