"""Train: any model on any pairs, one run or many, in folders that can be loaded, compared and gone on with."""

from goldlabel.train.grid import read_grid, shipped_grids
from goldlabel.train.options import TrainOptions
from goldlabel.train.result import Training
from goldlabel.train.sweep import Sweep, sweep
from goldlabel.train.training import train

__all__ = ["Sweep", "TrainOptions", "Training", "read_grid", "shipped_grids", "sweep", "train"]
