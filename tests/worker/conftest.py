from tests.web.conftest import clock, cluster, empty, quick_hashes

__all__ = ["clock", "cluster", "empty", "quick_hashes"]
