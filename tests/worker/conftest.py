from tests.collect.conftest import database, shared_database, store
from tests.web.conftest import clock, cluster, empty, quick_hashes, world

__all__ = ["clock", "cluster", "database", "empty", "quick_hashes", "shared_database", "store", "world"]
