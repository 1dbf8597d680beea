"""A cluster of the tests with an agent on each node and brim control beside slurmctld."""

import contextlib
import json
import os
import pathlib
import subprocess

import cluster
import slurm_config

BRIM = os.environ.get("BRIM", "brim")
TOKEN = "a-token-of-this-test"
RECLAIM_S = 2
POLICY = (
    "[idle]\nwarn = 1s\nreclaim = %ds\naction = requeue\nexempt = high\n" % RECLAIM_S
)
GPUS = 8


class Site:
    """A cluster whose nodes have an agent each, and GPUs that are so busy: of two, those of n0 are
    idle, and those of n1 are not."""

    def __init__(self, slurm, folder, busy=(0, 0.9)):
        self.slurm, self.folder, self.running = slurm, folder, []
        (folder / "token").write_text(TOKEN)
        (folder / "policy.ini").write_text(POLICY)
        for i, ratio in enumerate(busy):
            script = self.play("n%d" % i, ratio)
            at = "%s:9410" % slurm_config.address(i)
            words = ["agent", "--listen", at, "--token-file", str(folder / "token")]
            self.start("slurmd n%d" % i, *words, "--store", "none", "--fake", str(script))

    def play(self, node, busy, more=""):
        """What the GPUs of a node do from now on."""
        script = self.folder / (node + ".ini")
        new = script.with_suffix(".new")
        new.write_text("[fake]\ncount = %d\n[gpu *]\nbusy_ratio = %s\n%s" % (GPUS, busy, more))
        new.rename(script)
        return script

    def start(self, where, *words):
        """brim in the namespaces of a daemon."""
        pid = str(self.slurm.pids()[where])
        log = open(self.folder / ("log-%d" % len(self.running)), "wb")
        self.running.append(
            subprocess.Popen(
                ["nsenter", "-t", pid, "--net", "--uts", BRIM, *words], env=self.slurm.env,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
        )
        return self.running[-1]

    def words(self, mode, book):
        words = ["--mode", mode, "--directory", str(self.folder / book), "--most", "100"]
        words += ["--policy", str(self.folder / "policy.ini")]
        return words + ["--token", str(self.folder / "token")]

    def control(self, mode, book, *more):
        words = [*self.words(mode, book), *more]
        return self.start("slurmctld", "control", "run", "--every", "1s", *words)

    def slurm_is_gone(self):
        return not pathlib.Path("/proc/%d" % self.slurm.pids()["slurmctld"]).exists()

    def start_beside(self, node, mode, book):
        """control, beside the daemon of a node: without slurmctld, too."""
        return self.start("slurmd " + node, "control", "run", "--every", "1s",
                          *self.words(mode, book))

    def once(self, mode, book):
        words = self.words(mode, book)
        return json.loads(self.slurm.run(BRIM, "control", "once", "--json", *words)[1])

    def wait_idle(self, book, job):
        """Look until a job was idle for longer than it may be, and once more."""
        def there():
            jobs = self.once("act", book)["jobs"]
            return [j for j in jobs if j["id"] == job and j["idle_s"] > 2 * RECLAIM_S]

        cluster.wait_for(there, "job %d, idle" % job)
        self.once("act", book)

    def actions(self, book):
        words = ("--json", "--directory", str(self.folder / book))
        with contextlib.suppress(RuntimeError):
            return json.loads(self.slurm.run(BRIM, "control", "list", *words)[1])["actions"]
        return []

    def of(self, book, kind, job, state):
        want = (kind, job, state)
        return [a for a in self.actions(book) if (a["action"], a["job"], a["state"]) == want]

    def rows(self, book, kind, state):
        return [a for a in self.actions(book) if (a["action"], a["state"]) == (kind, state)]

    def wait_action(self, book, *want):
        return cluster.wait_for(lambda: self.of(book, *want), "an action: %s %d %s" % want)[0]

    def jobs(self, partition="batch"):
        """One on each node, and one that waits for eight GPUs."""
        gpus = "--gpus-per-node=%d" % GPUS
        wants = [("-w", "n0", "-p", partition), ("-w", "n1"), ()]
        ids = [self.slurm.submit("sleep 3600\n", gpus, "--requeue", *w) for w in wants[:2]]
        for job in ids:
            self.slurm.wait_job(job, "RUNNING")
        return ids + [self.slurm.submit("sleep 3600\n", gpus, "--requeue")]

    def end_jobs(self):
        self.slurm.run("scancel", "--user", "root")
        empty = lambda: not self.slurm.run("squeue", "-h")[1].strip()
        cluster.wait_for(empty, "the end of all jobs")

    def stop(self, process):
        process.terminate()
        process.wait()

    def down(self):
        for p in self.running:
            p.kill()
            p.wait()
