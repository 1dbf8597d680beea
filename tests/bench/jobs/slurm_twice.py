"""The same script submitted twice to a real Slurm of one node, with srun --brim=optimize."""

import pathlib
import re
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "e2e" / "slurm"))
import cluster  # noqa: E402

TRAIN = TESTS / "soak" / "jobs" / "train_hash.py"
RELEASE = "22_05"
SCRIPT = """begin=$(date +%%s.%%N)
srun %s /usr/bin/python3 %s --steps 1600 --sleep-ms 3 || exit
echo took $begin $(date +%%s.%%N)
"""


def plan_of(folder, brim):
    plugin = pathlib.Path(brim).parents[2] / "plugins" / "slurm" / ("brim_spank_%s.so" % RELEASE)
    text = "optional %s brim=%s\n" % (plugin, brim)
    return cluster.Plan(folder, nodes=1, plugstack=text)


def submit(slurm, brim, state):
    """How long srun took, and the job's weights."""
    job = slurm.submit(SCRIPT % (brim, TRAIN), env={"STATE_DIRECTORY": state})
    known, said = slurm.wait_end(job), slurm.output(job)
    took = re.search(r"^took (\S+) (\S+)$", said, re.M)
    weights = re.search(r"^weights (\w{16})$", said, re.M)
    if known["JobState"] != "COMPLETED" or not took or not weights:
        raise RuntimeError("job %d is %s: %s" % (job, known["JobState"], said))
    return float(took.group(2)) - float(took.group(1)), weights.group(1)


def rounds(work, brim, count):
    """For each round, whose folder of profiles is empty at first: (seconds of the untouched job,
    of the first submission, of the second one), and whether all three have the same weights. The
    untouched job is the first of a round and the last one by turns. None: there is no Slurm."""
    plan = plan_of(work + "/slurm", brim)
    if cluster.missing(plan):
        return None
    made = []
    with cluster.Cluster(plan) as slurm:
        for i in range(count):
            with tempfile.TemporaryDirectory(dir=work) as state:
                order = ["", "--brim=optimize", "--brim=optimize"]
                order = order if i % 2 == 0 else order[1:] + order[:1]
                seen = [submit(slurm, option, state) for option in order]
            seen = seen if i % 2 == 0 else seen[2:] + seen[:2]
            made.append(([s for s, _ in seen], len({w for _, w in seen}) == 1))
    return made
