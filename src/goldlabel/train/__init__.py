"""Train: any model on any pairs, one run or many, in folders that can be loaded, compared and gone on with."""

from goldlabel.train.fit import fit_model, train
from goldlabel.train.grid import read_grid, shipped_grids
from goldlabel.train.options import TrainOptions
from goldlabel.train.run import Run
from goldlabel.train.sweep import Sweep, sweep

__all__ = ["Run", "Sweep", "TrainOptions", "fit_model", "read_grid", "shipped_grids", "sweep", "train"]
