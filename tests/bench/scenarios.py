"""The scenarios of the benchmark of verdicts: each draws a job, and what is injected into it, from
a random number generator. The strength is chosen against the measured time of the job's step, so
that what is injected costs a fifth to two thirds of a step."""

import contextlib
import os

import inject

HERE = os.path.dirname(os.path.abspath(__file__))
TRAIN = os.path.join(HERE, "jobs", "train.py")
RANKS = os.path.join(HERE, "jobs", "ranks.py")
REFERENCE_BLAS = "/usr/lib/x86_64-linux-gnu/blas"


class Case:
    """One run: the job's options, and the same without what is injected."""

    def __init__(self, job, plain=None, env=None, plain_env=None, ranks=1, script=TRAIN):
        self.job, self.plain = list(job), list(job if plain is None else plain)
        # threads that spin take CPUs from those of a BLAS: a scenario of its own
        threads = {"OMP_NUM_THREADS": "%d" % os.cpu_count(), "OMP_WAIT_POLICY": "passive"}
        self.env, self.plain_env = dict(env or threads), dict(plain_env or threads)
        self.ranks, self.plain_ranks, self.script = ranks, ranks, script
        self.held = []  # makers of context managers; groups yield a file for pids
        self.groups = []  # the same, whose processes the whole job belongs to
        self.rank_group = None  # the same, for rank 1
        self.mount = None  # (folder, open_us, read_us): takes the place of the job's --data
        self.rate = None  # bytes a second, of the link between the ranks
        self.cpus = self.plain_cpus = None  # of each rank, as taskset has them
        self.stalls = None  # (seconds it answers, seconds it does not), of what is mounted
        self.neighbours = False  # foreign CPU time is a part of it
        self.per_sample = None  # samples of a step: (injected, plain)
        self.healthy = False
        self.text = ""


def options(**how):
    return [x for k, v in how.items() for x in ("--" + k.replace("_", "-"), "%s" % (v,))]


def job_of(r):
    """A job that computes well: kinds of models, sizes, and batches whose double gains little."""
    kind = r.choice(["mlp", "mlp", "cnn", "transformer"])
    if kind == "mlp":
        width, batch = r.choice([512, 768, 1024]), r.choice([32, 64, 128])
        return options(model=kind, width=width, layers=r.choice([2, 3, 4]), batch=batch)
    if kind == "cnn":
        width, batch = r.choice([(64, 64), (128, 32), (128, 64)])
        return options(model=kind, width=width, batch=batch)
    return options(model=kind, width=r.choice([64, 128]), batch=r.choice([8, 16]))


def value(job, name, default=None):
    return job[job.index("--" + name) + 1] if "--" + name in job else default


def batch_of(job):
    return int(value(job, "batch", "32"))


def replace(job, name, new):
    at = job.index("--" + name) + 1
    return job[:at] + ["%s" % (new,)] + job[at + 1 :]


class Scenarios:
    def __init__(self, bench):
        self.b = bench

    def cost(self, r, strength):
        """What is injected, to the time of a step: 0.4 is 29 % of the new step."""
        return r.uniform(0.4, 1.6) * strength

    # ---- storage ----

    def files_job(self, r, batch):
        return replace(job_of(r), "batch", batch)

    def storage_bandwidth(self, r, strength):
        job = self.files_job(r, r.choice([4, 8]))
        workers = r.choice([0, 0, 1, 2])
        folder, size = r.choice([self.b.large, self.b.middle])
        job += options(data=folder, workers=workers)
        s0 = self.b.step_of(Case(job))
        c = Case(job + ["--cold"], job)
        rate = max(2e6, min(400e6, size * batch_of(job) / (s0 * self.cost(r, strength))))
        if workers:
            rate = max(2e6, min(400e6, size * batch_of(job) / (s0 * (1 + self.cost(r, strength)))))
        c.groups.append(lambda: inject.throttle(self.b.work, "read_bps", rate))
        c.text = "%.0f MB/s, %d workers" % (rate / 1e6, workers)
        return c

    def slow_files(self, r, strength, folder, opens):
        job = self.files_job(r, r.choice([8, 16]))
        workers = r.choice([0, 0, 1, 2])
        job += options(data=folder, workers=workers)
        s0 = self.b.step_of(Case(job))
        c = Case(job, job)
        waited = s0 * self.cost(r, strength) + (s0 if workers else 0)
        delay = waited * max(1, workers) / batch_of(job) / opens
        delay = max(150e-6, min(0.05, delay))
        c.mount = (folder, delay * 1e6, delay * 1e6)
        c.text = "%.1f ms, %d workers" % (delay * 1e3, workers)
        return c

    def storage_latency(self, r, strength):
        return self.slow_files(r, strength, r.choice([self.b.large, self.b.middle])[0], 3)

    def small_files(self, r, strength):
        return self.slow_files(r, strength, self.b.small[0], 2)

    def small_files_disk(self, r, strength):
        job = self.files_job(r, r.choice([8, 16, 32]))
        job += options(data=self.b.small[0], workers=r.choice([0, 0, 1]))
        s0 = self.b.step_of(Case(job))
        c = Case(job + ["--cold"], job)
        iops = batch_of(job) / (s0 * (1 + self.cost(r, strength)))
        iops = max(20, min(3000, iops))
        c.groups.append(lambda: inject.throttle(self.b.work, "read_iops", iops))
        c.text = "%.0f reads/s" % iops
        return c

    def stalling_storage(self, r, strength):
        """A file server that answers quickly, or not at all."""
        job = self.files_job(r, r.choice([8, 16]))
        job += options(data=self.b.large[0], workers=r.choice([0, 0, 1, 2]))
        c = Case(job, job)
        c.mount = (self.b.large[0], 100, 100)
        c.stalls = (r.uniform(0.2, 0.5), r.uniform(0.2, 0.5) * strength)
        c.text = "answers for %.1f s, not for %.1f s" % c.stalls
        return c

    def mapped(self, r, strength):
        """Tokens in one file that is mapped into memory: no call reads them."""
        kb = r.choice([32, 64, 128])
        job = self.files_job(r, r.choice([8, 16])) + options(workers=r.choice([0, 0, 1]))
        job += options(mapped=self.b.huge, window_kb=kb)
        s0 = self.b.step_of(Case(job))
        c = Case(job + ["--cold"], job)
        rate = (kb << 10) * batch_of(job) / (s0 * (1 + self.cost(r, strength)))
        rate = max(1e6, min(200e6, rate))
        c.groups.append(lambda: inject.throttle(self.b.work, "read_bps", rate))
        c.text = "%.0f MB/s" % (rate / 1e6)
        return c

    def late_storage(self, r, strength):
        """A volume that becomes slow in the middle of the run."""
        job = self.files_job(r, r.choice([4, 8]))
        job += options(data=self.b.large[0], workers=r.choice([0, 1]))
        s0 = self.b.step_of(Case(job))
        c = Case(job + ["--cold"], job)
        rate = max(2e6, min(200e6, (1 << 20) * batch_of(job) / (s0 * 3 * strength)))
        late = self.b.a.seconds * r.uniform(0.3, 0.5)
        c.groups.append(lambda: inject.throttle(self.b.work, "read_bps", rate, late))
        c.text = "%.0f MB/s after %.1f s" % (rate / 1e6, late)
        return c

    def storage_contention(self, r, strength):
        job = self.files_job(r, r.choice([8, 16]))
        job += options(data=self.b.large[0], workers=r.choice([0, 1])) + ["--cold"]
        c = Case(job, job)
        n = r.choice([4, 8]) if strength < 2 else 16
        c.held.append(lambda: inject.readers(n, self.b.huge))
        c.text = "%d readers" % n
        return c

    # ---- memory ----

    def memory_pressure(self, r, strength):
        """A limit that leaves room for the job and for a part of its files, which it reads again
        and again, from a volume of so many MB/s: the first time within two seconds."""
        folder, size = r.choice([self.b.large, self.b.middle])
        files = size * len(os.listdir(folder))
        job = self.files_job(r, r.choice([8, 16] if folder == self.b.large[0] else [16, 32]))
        job += options(data=folder, workers=r.choice([0, 0, 1]))
        c = Case(job)
        s0, own = self.b.step_of(c), self.b.memory_of(c)
        room = int(files * r.uniform(0.2, 0.35))
        rate = size * batch_of(job) / (s0 * self.cost(r, strength))
        rate = max(files / 2, min(400e6, rate))
        c.held.append(lambda: inject.dropped(folder))
        c.groups.append(lambda: inject.memory(own + room))
        c.groups.append(lambda: inject.throttle(self.b.work, "read_bps", rate))
        c.text = "%d MB of its own, %d MB for files at %.0f MB/s" % (
            own >> 20,
            room >> 20,
            rate / 1e6,
        )
        return c

    # ---- the loader ----

    def decode(self, r, strength, workers):
        job = job_of(r)
        s0 = self.b.step_of(Case(job))
        cost = self.cost(r, strength)
        share = cost if not workers else (1 + cost) * workers / 2
        ms = s0 * share / batch_of(job) * 1e3
        c = Case(job + options(decode_ms="%.3f" % ms, workers=workers), job)
        c.text = "%.2f ms, %d workers" % (ms, workers)
        return c

    def decode_alone(self, r, strength):
        return self.decode(r, strength, 0)

    def decode_workers(self, r, strength):
        return self.decode(r, strength, os.cpu_count())

    def many_workers(self, r, strength):
        """Each of many workers has little to do, all of them together all CPUs."""
        job = job_of(r)
        s0 = self.b.step_of(Case(job))
        workers = r.choice([8, 12, 16])
        ms = s0 * self.cost(r, strength) / batch_of(job) * 1e3 * os.cpu_count()
        c = Case(job + options(decode_ms="%.3f" % ms, workers=workers), job)
        c.text = "%.2f ms, %d workers" % (ms, workers)
        return c

    def sleep(self, r, strength):
        job = job_of(r)
        s0 = self.b.step_of(Case(job))
        workers = r.choice([0, 0, 1, 2])
        waited = s0 * self.cost(r, strength) + (s0 if workers else 0)
        ms = waited * max(1, workers) / batch_of(job) * 1e3
        c = Case(job + options(sleep_ms="%.3f" % ms, workers=workers), job)
        c.text = "%.2f ms, %d workers" % (ms, workers)
        return c

    # ---- CPUs ----

    def cpu_neighbours(self, r, strength):
        c = Case(job_of(r))
        n = r.choice([2, 3, 4])
        c.held.append(lambda: inject.busy(n))
        c.neighbours = True
        c.text = "%d busy" % n
        return c

    def late_neighbours(self, r, strength):
        c = Case(job_of(r))
        n, late = r.choice([3, 4, 6]), self.b.a.seconds * r.uniform(0.3, 0.5)
        c.held.append(lambda: inject.busy(n, late))
        c.neighbours = True
        c.text = "%d busy after %.1f s" % (n, late)
        return c

    def one_cpu(self, r, strength):
        """Bound to one CPU, with threads for all of them."""
        c = Case(options(model="mlp", width=r.choice([1024, 1536]), layers=3, batch=128))
        c.cpus = [r.choice(["0", "1"])]
        return c

    def same_cpu(self, r, strength):
        """Two ranks that are bound to one CPU."""
        c = self.ranks_case(self.ranks_job(r))
        c.cpus, c.plain_cpus = ["1", "1"], ["0", "1"]
        return c

    def cpu_quota(self, r, strength):
        job = job_of(r)
        cpus = os.cpu_count() * r.uniform(0.25, 0.65)
        if r.random() < 0.3:
            job += options(decode_ms=0.3)
        c = Case(job)
        c.groups.append(lambda: inject.quota(cpus))
        c.text = "%.2f CPUs" % cpus
        return c

    def blas(self, r, strength):
        width, batch = r.choice([512, 768, 1024]), r.choice([16, 32, 64])
        kind = r.choice(["mlp", "mlp", "transformer"])
        if kind == "transformer":
            width, batch = r.choice([64, 128]), r.choice([8, 16])
        c = Case(options(model=kind, width=width, batch=batch))
        c.env["LD_LIBRARY_PATH"] = REFERENCE_BLAS
        return c

    def one_thread(self, r, strength):
        width, batch = r.choice([1024, 1536]), r.choice([64, 128, 256])
        job = options(model="mlp", width=width, layers=3, batch=batch)
        if r.random() < 0.3:
            job = options(model="cnn", width=r.choice([64, 128]), batch=r.choice([16, 32]))
        c = Case(job)
        c.env["OMP_NUM_THREADS"] = "1"
        return c

    def many_threads(self, r, strength):
        c = Case(job_of(r))
        n = r.choice([6, 8, 16]) if strength < 2 else 16
        c.env["OMP_NUM_THREADS"] = "%d" % n
        c.text = "%d threads" % n
        return c

    def spinning(self, r, strength):
        width, batch = r.choice([768, 1024, 1536]), r.choice([64, 128])
        c = Case(options(model="mlp", width=width, layers=r.choice([2, 3]), batch=batch))
        del c.env["OMP_WAIT_POLICY"]
        return c

    def small_batch(self, r, strength):
        batch = r.choice([1, 1, 2, 4])
        width, layers = r.choice([8, 16, 32]), r.choice([2, 4, 8])
        job = options(model="mlp", width=width, layers=layers, batch=batch)
        c = Case(job, replace(job, "batch", 64))
        c.per_sample = (batch, 64)
        c.text = "batch %d" % batch
        return c

    # ---- ranks ----

    def ranks_job(self, r, **more):
        how = dict(width=r.choice([256, 384, 512]), layers=r.choice([2, 3]))
        how.update(batch=r.choice([64, 128]), repeat=r.choice([2, 3]))
        how.update(more)
        return options(**how)

    def ranks_case(self, job, plain=None):
        c = Case(job, plain, ranks=2, script=RANKS)
        c.env["OMP_NUM_THREADS"] = c.plain_env["OMP_NUM_THREADS"] = "1"
        return c

    def bytes_of(self, job):
        width, layers = int(value(job, "width")), int(value(job, "layers"))
        return 4 * (256 * width + layers * width * width)

    def slow_link(self, r, strength):
        c = self.ranks_case(self.ranks_job(r))
        s0 = self.b.step_of(c)
        c.rate = max(1e6, min(60e6, self.bytes_of(c.job) / (s0 * self.cost(r, strength))))
        c.text = "%.0f MB/s" % (c.rate / 1e6)
        return c

    def communication(self, r, strength):
        job = self.ranks_job(r, width=r.choice([1024, 1280]), layers=r.choice([4, 6]), repeat=1)
        c = self.ranks_case(replace(job, "batch", r.choice([4, 8, 16])))
        c.plain_ranks = 1
        return c

    def slow_rank(self, r, strength):
        job = self.ranks_job(r)
        c = self.ranks_case(job)
        s0 = self.b.step_of(c)
        kind, rank = r.choice(["sleep", "cpu"]), r.choice([0, 1])
        ms = s0 * self.cost(r, strength) * 1e3
        c.job = job + options(slow_rank=rank, slow_ms="%.2f" % ms, slow_kind=kind)
        c.text = "%s %.1f ms in rank %d" % (kind, ms, rank)
        return c

    def slow_rank_data(self, r, strength):
        """One rank's samples come late."""
        job = self.ranks_job(r)
        c = self.ranks_case(job)
        s0 = self.b.step_of(c)
        ms = s0 * self.cost(r, strength) / batch_of(job) * 1e3
        c.job = job + options(sleep_ms="%.3f" % ms, sleep_rank=r.choice([0, 1]))
        c.text = " ".join(c.job[-4:])
        return c

    def slow_rank_hog(self, r, strength):
        c = self.ranks_case(self.ranks_job(r))
        c.cpus = c.plain_cpus = ["0", "1"]
        share = 1 - 1 / (1 + self.cost(r, strength))
        c.held.append(lambda: inject.hog(share, 1))
        c.neighbours = True
        c.text = "%.0f %% of its CPU taken" % (100 * share)
        return c

    def slow_rank_quota(self, r, strength):
        c = self.ranks_case(self.ranks_job(r))
        cpus = r.uniform(0.35, 0.65)
        c.rank_group = lambda: inject.quota(cpus)
        c.text = "%.2f CPUs" % cpus
        return c

    def imbalance(self, r, strength):
        job = self.ranks_job(r, batch=r.choice([128, 192]))
        c = self.ranks_case(job)
        if r.random() < 0.6:
            c.job = job + options(spread="%.2f" % min(1, r.uniform(0.4, 0.8) * strength))
        else:
            c.job = job + options(more="%.2f" % (1 + r.uniform(0.5, 1.5) * strength))
        c.text = " ".join(c.job[-2:])
        return c

    # ---- pauses ----

    def checkpoint(self, r, strength, kind=None):
        job = job_of(r)
        s0 = self.b.step_of(Case(job))
        kind = kind or r.choice(["direct", "fsync"])
        every = max(3, min(40, int(r.uniform(0.3, 1.2) / s0)))
        mb = r.choice([8, 16, 32])
        rate = max(4e6, min(200e6, mb * 1e6 / (s0 * every * self.cost(r, strength))))
        more = options(save=os.path.join(self.b.work, "saved.pt"), save_every=every)
        more += options(save_mb=mb, checkpoint_kind=kind)
        c = Case(job + more, job)
        c.groups.append(lambda: inject.throttle(self.b.work, "write_bps", rate))
        c.text = "%s, %d MB every %d steps at %.0f MB/s" % (kind, mb, every, rate / 1e6)
        return c

    def gc(self, r, strength):
        job = job_of(r)
        s0 = self.b.step_of(Case(job))
        every = r.choice([1, 2, 5, 10]) if s0 > 0.02 else r.choice([5, 10, 20])
        objects = s0 * every * self.cost(r, strength) / self.b.collect_s
        objects = int(max(20000, min(700000, objects)))
        c = Case(job + options(garbage=objects, collect_every=every), job)
        c.text = "%d objects every %d steps" % (objects, every)
        return c

    # ---- the loop itself ----

    def loop_work(self, r, strength):
        job = job_of(r)
        s0 = self.b.step_of(Case(job))
        kind = r.choice(["cpu", "sleep"] if s0 < 0.02 else ["cpu", "sleep", "process"])
        ms = s0 * self.cost(r, strength) * 1e3
        c = Case(job + options(extra_ms="%.2f" % ms, extra_kind=kind), job)
        c.text = "%.1f ms of %s in each step" % (ms, kind)
        return c

    def loop_disk(self, r, strength):
        """A log of each step that has to be on a disk, which takes few requests."""
        job = job_of(r)
        s0 = self.b.step_of(Case(job))
        log = os.path.join(self.b.work, "log")
        c = Case(job + options(extra_kind="write", extra_ms=1, extra_file=log), job)
        rate = max(5, min(500, 2 / (s0 * self.cost(r, strength))))
        c.groups.append(lambda: inject.throttle(self.b.work, "write_iops", rate))
        c.text = "%.0f requests/s" % rate
        return c

    def validation(self, r, strength):
        job = job_of(r)
        s0 = self.b.step_of(Case(job))
        every = max(5, min(50, int(r.uniform(0.3, 0.8) / s0)))
        ms = s0 * every * self.cost(r, strength) * 1e3
        c = Case(job + options(extra_ms="%.2f" % ms, extra_every=every), job)
        c.text = "%.0f ms every %d steps" % (ms, every)
        return c

    def growing(self, r, strength):
        """As many steps as there is time for, each of them longer by the same."""
        job = job_of(r)
        s0 = self.b.step_of(Case(job))
        steps = self.b.a.seconds / s0 / (1 + self.cost(r, strength))
        us = 2 * s0 * self.cost(r, strength) / steps * 1e6
        c = Case(job + options(grow_us="%.3f" % us), job)
        c.text = "%.1f us more in each step" % us
        return c

    def python_lock(self, r, strength):
        job = job_of(r)
        c = Case(job + ["--spin"], job)
        return c

    # ---- several at once, none ----

    def several(self, r, strength):
        kind = r.choice(["sleep+checkpoint", "gc+sleep", "link+rank", "quota+sleep"])
        if kind == "link+rank":
            c = self.slow_rank(r, 1)
            s0 = self.b.step_of(c)
            c.rate = max(1e6, min(60e6, self.bytes_of(c.job) / (s0 * self.cost(r, 1))))
            c.wanted = ("slow-link", "slow-rank")
        elif kind == "quota+sleep":
            c = self.sleep(r, 1.5)
            cpus = os.cpu_count() * r.uniform(0.25, 0.45)
            c.groups.append(lambda: inject.quota(cpus))
            c.wanted = ("cpu-quota", "loader-waits")
        else:
            c = self.checkpoint(r, 1) if "checkpoint" in kind else self.gc(r, 1)
            s0 = self.b.step_of(Case(c.plain))
            ms = s0 * self.cost(r, 1) / batch_of(c.job) * 1e3
            c.job += options(sleep_ms="%.3f" % ms)
            c.wanted = ("loader-waits", "checkpoint" if "checkpoint" in kind else "gc")
        c.text = kind + ": " + c.text
        return c

    def healthy(self, r, strength):
        c = Case(job_of(r) + options(workers=r.choice([0, 0, 1])))
        c.healthy = True
        return c

    def healthy_files(self, r, strength):
        """Files that are in the page cache, and a step that is long beside reading them."""
        folder, _ = self.b.small
        job = options(model="mlp", width=1024, layers=r.choice([3, 4]), batch=r.choice([32, 64]))
        c = Case(job + options(data=folder, workers=r.choice([0, 1])))
        self.b.warm(folder)
        c.healthy = True
        return c

    def healthy_ranks(self, r, strength):
        width = r.choice([256, 384, 512])
        c = self.ranks_case(self.ranks_job(r, width=width, batch=r.choice([256, 384]), repeat=8))
        c.healthy = True
        return c


# The scenario, and which causes may stand first.
TABLE = [
    ("storage_bandwidth", {"storage-bandwidth"}),
    ("storage_latency", {"storage-latency"}),
    ("small_files", {"small-files"}),
    ("small_files_disk", {"small-files"}),
    ("stalling_storage", {"storage-latency"}),
    ("mapped", {"storage-bandwidth"}),
    ("late_storage", {"storage-bandwidth"}),
    ("storage_contention", {"storage-contention"}),
    ("memory_pressure", {"memory-pressure"}),
    ("decode_alone", {"loader-cpu"}),
    ("decode_workers", {"loader-cpu"}),
    ("many_workers", {"many-workers", "loader-cpu"}),
    ("sleep", {"loader-waits"}),
    ("cpu_neighbours", {"cpu-neighbours"}),
    ("late_neighbours", {"cpu-neighbours"}),
    ("one_cpu", {"cpu-binding"}),
    ("same_cpu", {"cpu-binding"}),
    ("cpu_quota", {"cpu-quota"}),
    ("blas", {"blas"}),
    ("one_thread", {"cpu-threads"}),
    ("many_threads", {"cpu-threads"}),
    ("spinning", {"cpu-spinning"}),
    ("small_batch", {"small-batch"}),
    ("slow_link", {"slow-link"}),
    ("communication", {"communication"}),
    ("slow_rank", {"slow-rank"}),
    ("slow_rank_data", {"slow-rank"}),
    ("slow_rank_hog", {"slow-rank", "cpu-neighbours"}),  # both are what is injected
    ("slow_rank_quota", {"slow-rank"}),
    ("imbalance", {"imbalance"}),
    ("checkpoint", {"checkpoint"}),
    ("gc", {"gc"}),
    ("loop_work", {"loop"}),
    ("loop_disk", {"loop"}),
    ("validation", {"loop"}),
    ("growing", {"slower-than-before"}),
    ("python_lock", {"python-lock"}),
    ("several", None),
    ("healthy", {"none"}),
    ("healthy_files", {"none"}),
    ("healthy_ranks", {"none"}),
]
