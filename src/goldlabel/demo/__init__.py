"""The way of the data, end to end, on pairs made on the spot.

``steps`` walks it, ``annotations`` makes what is recast, ``lines`` is what each step says, in English and Chinese.
"""

from goldlabel.demo.steps import Demo, run_demo

__all__ = ["Demo", "run_demo"]
