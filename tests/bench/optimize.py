#!/usr/bin/env python3
"""What brim optimize gains on real jobs, against the best static setting of a full sweep.

    script/bench optimize [--only CASE,...] [--seconds N]

Speeds are taken from what the jobs themselves write down (--times), not from what brim says. Needs
root, torch, iproute2; links between ranks are network namespaces of the bench's own. How often what
changes nothing is accepted is measured by same.py, kills at any moment by tests/soak."""

import argparse
import contextlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

import inject

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "jobs"))
import slurm_twice  # noqa: E402

BRIM = os.path.abspath(os.environ["BRIM"])
PYTHON = "/usr/bin/python3"
HERE = os.path.dirname(os.path.abspath(__file__))
TRAIN = os.path.join(HERE, "jobs", "train.py")
DDP = os.path.join(HERE, "jobs", "ddp.py")
ROOT = os.path.dirname(os.path.dirname(HERE))
EXAMPLES = os.path.join(ROOT, "examples")
HASHED = os.path.join(ROOT, "tests", "soak", "jobs", "train_hash.py")
LOADERS = os.path.join(ROOT, "tests", "e2e", "loader_cases.py")
SHIM = os.path.join(ROOT, "plugins", "torch")
REFERENCE_BLAS = "/usr/lib/x86_64-linux-gnu/blas"
TAIL_S = 10.0  # the end of a job, when all is decided


def say(text):
    print(text, file=sys.stderr, flush=True)


def line(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def rate_of(path, since_end=None):
    """Steps a second, of the whole job but its first three steps, or of its last seconds."""
    with open(path) as f:
        ends = [float(x) for x in f]
    first = 3
    if since_end is not None:
        first = next(i for i, t in enumerate(ends) if t >= ends[-1] - since_end)
    return (len(ends) - 1 - first) / (ends[-1] - ends[first])


def kept(card):
    """The settings that were adopted."""
    return [t for t in card["settings"] if t["outcome"] == "adopted"]


def tried(card):
    """The proposals that were tried."""
    return [t for t in card["settings"] if t["outcome"] != "not tried"]


def told(card):
    """What was adopted, for the note."""
    card = card["optimize"]
    text = ", ".join("%s=%s" % (t["knob"], t["value"]) for t in kept(card)) or "nothing"
    steps = max([t["steps"] for t in tried(card)], default=0)
    note = "%s; %d tried, the longest in %d steps" % (text, len(tried(card)), steps)
    return note + (", %d short runs" % card["short_runs"] if card["short_runs"] else "")


class Bench:
    def __init__(self, a):
        self.a = a
        self.work = inject.work_folder()
        self.times = os.path.join(self.work, "times")
        self.tried = self.kept = 0  # proposals, of all cases

    def environment(self, more=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "OMP_"))}
        env.pop("LD_LIBRARY_PATH", None)
        env.update(more or {})
        env["STATE_DIRECTORY"] = os.path.join(self.work, "state")
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        return env

    def job(self, options, seconds):
        return [PYTHON, TRAIN, "--seconds", "%g" % seconds, "--times", self.times] + options

    def run(self, command, env, limit=900):
        p = subprocess.run(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit
        )
        if p.returncode:
            raise RuntimeError("%s: %s" % (" ".join(command), p.stderr.decode()[-800:]))
        return p.stdout.decode()

    def with_reference_blas(self):
        """What runs a command on a machine whose alternatives lead to the reference BLAS."""
        folder = os.path.join(self.work, "alternatives")
        line = "mount --bind %s /etc/alternatives; exec \"$@\"" % folder
        if not os.path.isdir(folder):
            shutil.copytree("/etc/alternatives", folder, symlinks=True)
            link = os.path.join(folder, "libblas.so.3-x86_64-linux-gnu")
            os.unlink(link)
            os.symlink(REFERENCE_BLAS + "/libblas.so.3", link)
        return ["unshare", "--mount", "sh", "-c", line, "sh"]

    def optimize(self, command, env, *options, under=(), budget="10m"):
        """The job under brim optimize: its card, and what the job printed."""
        options = ("--budget", budget) + options
        card = os.path.join(self.work, "card.json")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(card)
        said = self.run(
            list(under)
            + [BRIM, "optimize", "--quiet", f"--json={card}"]
            + list(options)
            + ["--"]
            + command,
            env,
        )
        with open(card) as f:
            card = json.load(f)
        self.tried += len(tried(card["optimize"]))
        self.kept += len(kept(card["optimize"]))
        return card, said

    def static(self, options, env, seconds=10.0):
        """Steps a second of the last half, when all workers run: what a setting can do."""
        self.run(self.job(options, seconds), env)
        return rate_of(self.times, seconds / 2)

    # ---- cases ----

    def loader(self, name, options, sweep, limit_gain, seconds):
        env = self.environment({"OMP_NUM_THREADS": "1"})
        plain = self.static(options + ["--workers", "0"], env)
        best = plain
        for workers in sweep:
            rate = self.static(options + ["--workers", "%d" % workers], env)
            say("%s: %d workers: %.2f times" % (name, workers, rate / plain))
            best = max(best, rate)
        card, _ = self.optimize(self.job(options + ["--workers", "0"], seconds), env)
        tuned = rate_of(self.times, TAIL_S)
        note = told(card)
        line("optimize: %s" % name, tuned / plain, "times", ">= %g" % limit_gain, note)
        line("optimize: %s, to the sweep's best" % name, 100 * tuned / best, "%", ">= 85", "")
        return card["optimize"]

    def case_latency(self):
        options = ["--model", "mlp", "--width", "256", "--batch", "16", "--sleep-ms", "10"]
        card = self.loader("latency-bound loader", options, [4, 8, 13, 16, 24, 32, 48, 64], 10, 60)
        # all steps of the job until then, also those that were only observed
        first = kept(card)[0]
        note = "%s=%s, the first that was kept" % (first["knob"], first["value"])
        line("optimize: latency-bound loader, decided", first["at_step"], "steps", "<= 300", note)
        line("optimize: latency-bound loader, decided", first["at_s"], "s", "<= 60", note)
        before, after = card["before"], card["after"]
        for what, note in (("pss_max", "PSS, pages in common once"), ("resident_max", "RSS")):
            more = after[what] - before[what]
            line("optimize: latency-bound loader, memory", more / 1e6, "MB", "", note + ", more")

    def case_epochs(self):
        """Workers that would start anew in each epoch of 16 steps. The job tells its steps of each
        second: those before anything was tried, and the last ones."""
        job = [PYTHON, os.path.join(HERE, "jobs", "short_epochs.py"), "--seconds", "60"]
        card, said = self.optimize(job, self.environment())
        rates = [float(x) for x in said.split()]
        gain = statistics.median(rates[-20:]) / rates[0]
        line("optimize: short epochs", gain, "times", ">= 9", told(card))
        lost = sum(t["steps"] for t in tried(card["optimize"]) if t["outcome"] != "adopted")
        line("optimize: short epochs, on trials that lose", lost, "steps", "<= 100", "")

    def case_cpu(self):
        options = ["--model", "mlp", "--width", "128", "--batch", "16", "--decode-ms", "2"]
        self.loader("CPU-bound loader", options, [1, 2, 3, 4], 1.7, 60)

    def case_blas(self):
        options = ["--model", "mlp", "--width", "768", "--batch", "64"]
        env = self.environment({"OMP_NUM_THREADS": "%d" % os.cpu_count()})
        own = self.with_reference_blas()
        self.run(own + self.job(options, 5), env)
        plain = rate_of(self.times)
        card, _ = self.optimize(
            self.job(options, 30), env, "--restarts", "12", under=own, budget="4m"
        )
        tuned = rate_of(self.times, TAIL_S)
        line("optimize: wrong BLAS", tuned / plain, "times", ">= 5", told(card))

    def ranks(self, spaces, steps):
        """The command that starts a rank in each namespace."""
        port, text = random.randrange(20000, 30000), ""
        for i, space in enumerate(spaces):
            env = "RANK=%d LOCAL_RANK=%d WORLD_SIZE=%d MASTER_PORT=%d" % (i, i, len(spaces), port)
            env += " MASTER_ADDR=10.214.0.1 GLOO_SOCKET_IFNAME=eth0"
            job = "%s %s --steps %d --times %s" % (PYTHON, DDP, steps, self.times)
            text += "env %s nsenter --net=%s %s & " % (env, space, job)
        return ["nsenter", "--net=" + spaces[0], "sh", "-c", text + "wait"]

    def link(self, name, rate_bit, steps):
        env = self.environment({"OMP_NUM_THREADS": "1"})
        with inject.bridged(4, rate_bit) as spaces:
            said = self.run(self.ranks(spaces, steps), env)
            plain, plain_loss = rate_of(self.times), float(said.split()[-1])
            word = ("--allow", "numeric", "--restarts", "20")
            card, said = self.optimize(self.ranks(spaces, steps), env, *word)
            tuned, loss = rate_of(self.times, TAIL_S), float(said.split()[-1])
        say("%s: loss %.5f, was %.5f" % (name, loss, plain_loss))
        return tuned / plain, loss / plain_loss, card

    def case_link(self):
        gain, loss, card = self.link("slow link", 100_000_000, 300)
        note = "loss %.3f times that of the untouched job; %s" % (loss, told(card))
        line("optimize: DDP at 100 Mbit", gain, "times", ">= 1.5", note)
        line("optimize: DDP at 100 Mbit, loss", loss, "times", "<= 1.02")

    def case_fast_link(self):
        gain, _, card = self.link("unshaped link", None, 1500)
        hooks = [t for t in kept(card["optimize"]) if t["knob"] == "ddp.hook"]
        line("optimize: hooks on an unshaped link", len(hooks), "", "<= 0", told(card))
        line("optimize: DDP unshaped", gain, "times", "", "")

    def case_well(self):
        """Nothing to gain: pairs with and without, in the order ABBA."""
        options = ["--model", "mlp", "--width", "768", "--batch", "64"]
        env = self.environment({"OMP_NUM_THREADS": "%d" % os.cpu_count()})
        ratios, adopted = [], 0
        for i in range(self.a.pairs):
            took = {}
            for watched in (False, True) if i % 2 == 0 else (True, False):
                if watched:
                    card, _ = self.optimize(self.job(options, self.a.seconds), env)
                    adopted += len(kept(card["optimize"]))
                else:
                    self.run(self.job(options, self.a.seconds), env)
                took[watched] = 1 / rate_of(self.times)
            ratios.append(100 * (took[True] / took[False] - 1))
            say("well: %+.2f %%" % ratios[-1])
        note = "median of %d pairs of %g s" % (len(ratios), self.a.seconds)
        line("optimize: nothing to gain, cost", statistics.median(ratios), "%", "<= 2", note)
        line("optimize: nothing to gain, adopted", adopted, "", "<= 0", "")

    def case_demo(self):
        """The last part of script/demo, whole: with all that trying takes."""
        env = self.environment()
        store = subprocess.Popen(
            [PYTHON, os.path.join(EXAMPLES, "photo_store.py")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, universal_newlines=True,
        )
        try:
            job = [os.path.join(EXAMPLES, "ranks.sh"), "2", PYTHON]
            job += [os.path.join(EXAMPLES, "train_photos.py"), store.stdout.readline().strip()]
            job += ["--photos", "16000", "--hash"]
            plain = self.run(job, env).split()
            card, tuned = self.optimize(job, env)
            tuned = tuned.split()
        finally:
            store.kill()
            store.wait()
        rate, was = (float(words[2].split("/")[0]) for words in (tuned, plain))
        line("optimize: the demo, from begin to end", rate / was, "times", ">= 1.75", told(card))
        line("optimize: the demo, weights that differ", tuned[-1] != plain[-1], "", "<= 0", "")

    def case_equal(self):
        """Safe settings leave order and weights as they are, bit for bit."""
        env, differ = self.environment(), 0
        job = [PYTHON, HASHED, "--steps", "2500"]
        plain = self.run(job, env)
        for _ in range(3):
            card, said = self.optimize(job, env)
            differ += said != plain or not kept(card["optimize"])
        line("optimize: jobs that are not as untouched", differ, "", "<= 0", "of 3; " + told(card))

    def case_slurm(self):
        """The same script submitted twice, with srun --brim=optimize: from begin to end of srun."""
        seen = slurm_twice.rounds(self.work, BRIM, self.a.rounds)
        if seen is None:
            return say("slurm: skipped: no Slurm, or not root (Debian: slurm-wlm, munge)")
        for (untouched, first, second), _ in seen:
            say("slurm: %.1f s untouched, %.1f s first, %.1f s second" % (untouched, first, second))
        note = "median of %d" % len(seen)
        for name, i, limit in (("first", 1, ""), ("untouched", 0, ">= 2")):
            gain = statistics.median(took[i] / took[2] for took, _ in seen)
            line("optimize: second submission to the %s" % name, gain, "times", limit, note)
        differ = sum(not same for _, same in seen)
        line("optimize: submissions, weights that differ", differ, "", "<= 0", note)
        return None

    def case_wrong(self):
        """Four workers that seek and read in one open file."""
        env = self.environment({"OMP_NUM_THREADS": "1", "PYTHONPATH": SHIM})
        env["BRIM_LIB"] = os.path.join(os.path.dirname(BRIM), "..", "..", "plugins", "torch")
        with tempfile.TemporaryDirectory(dir="/dev/shm") as rings:
            env["BRIM_RING"] = rings
            said = self.run([PYTHON, LOADERS, "--shared", os.path.join(self.work, "samples")], env)
        said = json.loads(said)
        note = "of 100,000, a worker in force: %s" % said["said"]
        line("optimize: samples that came out wrong", said["wrong"], "", "<= 0", note)


CASES = ["latency", "epochs", "cpu", "blas", "link", "fast_link", "well", "demo", "equal", "wrong"]
CASES += ["slurm"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--only", default="", help="of: " + ", ".join(CASES))
    p.add_argument("--pairs", type=int, default=6)
    p.add_argument("--rounds", type=int, default=5, help="of submissions to Slurm")
    p.add_argument("--seconds", type=float, default=30, help="of each job with nothing to gain")
    a = p.parse_args()
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return
    bench = Bench(a)
    for case in CASES:
        if not a.only or case in a.only.split(","):
            getattr(bench, "case_" + case)()
    if bench.tried:
        share, note = 100 * bench.kept / bench.tried, "%d of %d" % (bench.kept, bench.tried)
        line("optimize: proposals accepted", share, "%", ">= 50", note)


if __name__ == "__main__":
    main()
