"""``python -m goldlabel``."""

from goldlabel.cli import main

main()
