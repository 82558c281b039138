"""The Puddles corpus."""

from pathlib import Path

from goldlabel.sources import read_source

PUDDLES = read_source(Path(__file__).with_name("puddles.yaml"))
