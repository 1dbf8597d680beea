"""Cases of loader_cases.py: what is seen on the way. As before from there on."""

import random

from loader_job import Data, case, compare
from torch.utils.data import DataLoader


@case
def drawn_late():
    """Random numbers that the try does not see."""

    class Late(Data):
        def __getitem__(self, i):
            x, i = super().__getitem__(i)
            return (x + random.random(), i) if i == 60 else (x, i)

    return compare({2: "4"}, lambda job: job.train(DataLoader(Late(), batch_size=8)))


@case
def dataset_changes_in_an_epoch():
    class Scaled(Data):
        scale = 1.0

        def __getitem__(self, i):
            return self.x[i] * self.scale, i

    def run(job):
        data = Scaled()

        def change():
            data.scale = 3.0

        job.before_step = {7: change}
        job.train(DataLoader(data, batch_size=8))

    return compare({2: "4", 20: "2"}, run)


@case
def dataset_changes_in_place():
    def run(job):
        data = Data()
        job.before_step = {7: lambda: data.x.mul_(2)}
        job.train(DataLoader(data, batch_size=8))

    return compare({2: "4"}, run)


@case
def dataset_changes_between_epochs():
    def run(job):
        data = Data()
        data.epoch = [0]

        def change(epoch):
            data.epoch[0] = epoch
            data.x = data.x + epoch

        job.train(DataLoader(data, batch_size=8), at_epoch=change)

    return compare({2: "4;persistent=yes"}, run)
