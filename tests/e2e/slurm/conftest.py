"""Clusters for tests, skipped where there is no Slurm."""

import cluster
import pytest


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """slurm(fields of a Plan): a cluster that runs; it ends with the module's tests."""
    running = []

    def start(**fields):
        plan = cluster.Plan(str(tmp_path_factory.mktemp("slurm")), **fields)
        why = cluster.missing(plan)
        if why:
            pytest.skip(why)
        running.append(cluster.Cluster(plan))
        return running[-1].up()

    yield start
    for one in running:
        one.down()
