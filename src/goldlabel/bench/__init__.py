"""Bench: suites planned by ``evaluate``, trained by ``train``, judged, and left in a folder."""

from goldlabel.bench.benching import bench, export, find_suite
from goldlabel.bench.progress import BenchProgress

__all__ = ["BenchProgress", "bench", "export", "find_suite"]
