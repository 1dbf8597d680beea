#!/usr/bin/env python3
"""How often brim why names the right cause first: real jobs with real bottlenecks, in random order.

    script/bench diagnose [--runs N] [--seed N] [--skip N] [--only SCENARIO,...] [--log FILE]

Needs root, cgroups of version 1, /dev/fuse and torch. The matrix goes to stderr and to the log;
stdout has the lines for script/bench's table. A run whose injection costs less than 15 % of a step,
against the steps of the same job without it before and behind, is drawn again, as is one beside
which others used more than --foreign of the CPUs, or a third of that beside a healthy one: from
there on it is not healthy any more."""

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time

import inject
import scenarios

BRIM = os.path.abspath(os.environ["BRIM"])
PYTHON = "/usr/bin/python3"
COST_LEAST = 0.15
ATTEMPTS = 3  # drawn again, stronger


def say(text):
    print(text, file=sys.stderr, flush=True)


def busy_seconds():
    """Of all CPUs, and of all processes with their waited-for children that are ours."""
    with open("/proc/stat") as f:
        ticks = [int(x) for x in f.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds(running):
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    for p in running:
        with contextlib.suppress(OSError):
            with open("/proc/%d/stat" % p.pid) as f:
                words = f.read().rsplit(")", 1)[1].split()
            total += (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return total


class Watch:
    """CPU time of others while it is open, as a share of all CPUs."""

    def __init__(self, running):
        self.running = running

    def __enter__(self):
        self.at = time.monotonic(), busy_seconds(), own_seconds(self.running)
        return self

    def __exit__(self, *_):
        took = time.monotonic() - self.at[0]
        others = busy_seconds() - self.at[1] - own_seconds(self.running) + self.at[2]
        self.share = max(0, others) / took / os.cpu_count()


class Bench:
    def __init__(self, a):
        self.a = a
        self.work = inject.work_folder(a.folder)
        self.slowfs = os.path.join(
            os.path.dirname(BRIM), "..", "..", "tests", "bench", "jobs", "slowfs"
        )
        self.plain = {}
        self.kept = []
        self.make_files()
        self.collect_s = self.time_collect()

    # ---- what jobs read ----

    def folder(self, name, count, size):
        path = os.path.join(self.work, name)
        os.mkdir(path)
        for i in range(count):
            with open(os.path.join(path, "%05d" % i), "wb") as f:
                f.write(os.urandom(size))
        return path, size

    def make_files(self):
        self.large = self.folder("large", 128, 1 << 20)
        self.middle = self.folder("middle", 256, 256 << 10)
        self.small = self.folder("small", 3000, 3000)
        self.huge = os.path.join(self.work, "huge")
        with open(self.huge, "wb") as f:
            for _ in range(512):
                f.write(os.urandom(1 << 20))
        os.sync()

    def warm(self, folder):
        """Read what runs before dropped from the page cache."""
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as f:
                f.read()

    def time_collect(self):
        """Seconds of a collection for each object that jobs keep."""
        text = "import sys, time, gc\nsys.path.insert(0, %r)\nimport train\n" % (
            os.path.dirname(scenarios.TRAIN),
        )
        text += "x = train.litter(200000)\nb = time.monotonic()\ngc.collect()\n"
        text += "print((time.monotonic() - b) / 200000)"
        return float(subprocess.check_output([PYTHON, "-c", text]))

    # ---- starting jobs ----

    def environment(self, more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "OMP_"))}
        env.pop("LD_LIBRARY_PATH", None)
        env.update(more)
        env["STATE_DIRECTORY"] = os.path.join(self.work, "state")
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        return env

    def command(self, c, job, ranks, seconds, cpus, spaces=None, rank_group=None):
        """The job's command, each rank on its CPU of cpus, if any; ranks are started by a shell."""
        base = [PYTHON, c.script, "--seconds", "%g" % seconds] + job
        if ranks == 1:
            return ["taskset", "-c", cpus[0]] + base if cpus else base
        text, port = "", random.randrange(20000, 30000)
        for i in range(ranks):
            env = "RANK=%d LOCAL_RANK=%d WORLD_SIZE=%d MASTER_PORT=%d" % (i, i, ranks, port)
            env += " MASTER_ADDR=%s" % ("10.213.0.1" if spaces else "127.0.0.1")
            env += " GLOO_SOCKET_IFNAME=%s" % ("eth0" if spaces else "lo")
            pre = "nsenter --net=%s " % spaces[i] if spaces else ""
            if cpus:
                pre += "taskset -c %s " % cpus[i]
            line = "exec env %s %s%s" % (env, pre, " ".join(base))
            if rank_group and i == 1:
                line = "echo $$ >%s; %s" % (rank_group, line)
            text += "sh -c '%s' & " % line
        return ["sh", "-c", text + "wait"]

    def run(self, command, env, files=(), limit=90):
        def join():
            for path in files:
                inject.write(path, os.getpid())

        p = subprocess.Popen(
            command,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
            preexec_fn=join,
        )
        try:
            out, err = p.communicate(timeout=limit)
        except BaseException as e:
            with contextlib.suppress(OSError):
                os.killpg(p.pid, 15)
            try:
                out, err = p.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(OSError):
                    os.killpg(p.pid, 9)
                p.kill()
                out, err = p.communicate()
            if not isinstance(e, subprocess.TimeoutExpired):
                raise
        words = out.split()
        if "mean_s" not in words:
            raise RuntimeError("the job failed: %s" % err[-800:])
        return float(words[words.index("mean_s") + 1])

    def plain_step(self, c):
        """Seconds of a step of the same job without what is injected, as it is now."""
        best = None
        for _ in range(1 if self.a.disturbed == 1 else 3):
            self.wait_for_quiet()
            command = self.command(c, c.plain, c.plain_ranks, 1.5, c.plain_cpus)
            with Watch([]) as w:
                took = self.run(command, self.environment(c.plain_env))
            best = took if best is None else min(best, took)
            if w.share <= self.a.foreign:
                break
        return best

    def step_of(self, c):
        """The same, as it was at first."""
        key = repr((c.script, c.plain, c.plain_ranks, c.plain_cpus, sorted(c.plain_env.items())))
        if key not in self.plain:
            self.plain[key] = self.plain_step(c)
        return self.plain[key]

    def cost_of(self, c, took):
        """What the injection costs of a step, and that step without it. A virtual machine is faster
        at one time than at another: it is compared with the slower of before and behind."""
        per = [n / c.per_sample[0] for n in c.per_sample] if c.per_sample else (1, 1)
        plain = self.step_of(c)
        if not c.healthy and 1 - plain / per[1] / took >= COST_LEAST:
            plain = max(plain, self.plain_step(c))
        return 1 - plain / per[1] / took, plain

    def memory_of(self, c):
        """Bytes that the job has of its own, the most of them at a time: not those of files."""
        with inject.cgroup("memory") as (file,):
            most, over = [0], threading.Event()

            def watch():
                with open(os.path.join(os.path.dirname(file), "memory.stat")) as f:
                    while not over.wait(0.05):
                        f.seek(0)
                        words = f.read().split()
                        most[0] = max(most[0], int(words[words.index("total_rss") + 1]))

            thread = threading.Thread(target=watch)
            thread.start()
            try:
                command = self.command(c, c.plain, c.plain_ranks, 1.5, c.plain_cpus)
                self.run(command, self.environment(c.plain_env), [file])
            finally:
                over.set()
                thread.join()
        return most[0]

    def wait_for_quiet(self):
        """Until others leave the CPUs alone, for as long as we are told to wait."""
        end = time.monotonic() + self.a.patience
        while time.monotonic() < end:
            with Watch([]) as w:
                time.sleep(0.7)
            if w.share <= self.a.foreign:
                break

    # ---- a run ----

    def inject(self, c, stack):
        """Enter all that the case wants. Returns the command, the cgroups and the neighbours."""
        files, running, spaces, prefix = [], [], None, []
        for make in c.held:
            running += stack.enter_context(make())
        for make in c.groups:
            files += stack.enter_context(make())
        group = stack.enter_context(c.rank_group())[0] if c.rank_group else None
        job = c.job
        if c.mount:
            at, server = stack.enter_context(
                inject.slow_mount(self.slowfs, c.mount[0], self.work, *c.mount[1:])
            )
            running.append(server)
            if c.stalls:
                running += stack.enter_context(inject.stalls(server, *c.stalls))
            job = scenarios.replace(job, "data", at)
        if c.rate:
            spaces = stack.enter_context(inject.slow_link(c.rate))
            prefix = ["nsenter", "--net=" + spaces[0]]
        command = self.command(c, job, c.ranks, self.a.seconds, c.cpus, spaces, group)
        return prefix + [BRIM, "run", "--quiet", "--"] + command, files, running

    def measure(self, name, wanted, r, strength):
        c = getattr(scenarios.Scenarios(self), name)(r, strength)
        self.step_of(c)
        state = os.path.join(self.work, "state")
        shutil.rmtree(state, ignore_errors=True)
        os.mkdir(state)
        env = self.environment(c.env)
        self.wait_for_quiet()
        with contextlib.ExitStack() as stack:
            command, files, running = self.inject(c, stack)
            with Watch(running) as w:
                took = self.run(command, env, files)
        text = subprocess.check_output([BRIM, "why", "--json"], env=env, encoding="utf-8")
        verdict = json.loads(text)
        result = {"scenario": name, "text": c.text, "job": " ".join(c.job), "foreign": w.share}
        result["cost"], plain = self.cost_of(c, took)
        result.update(step_s=took, plain_s=plain, load=os.getloadavg()[0])
        causes = [i["cause"] for i in verdict["items"]]
        result["causes"], result["shares"] = causes, [i["share"] for i in verdict["items"]]
        result["sentence"] = verdict["sentence"]
        if wanted is None:
            result["right"] = causes[0] in c.wanted
            result["both"] = all(x in causes for x in c.wanted)
        else:
            result["right"] = causes[0] in wanted
        rest = [x for x in causes if x not in ("cpu-neighbours", "slower-than-before")]
        rest = rest or ["none"]
        result["right_behind"] = rest[0] in (c.wanted if wanted is None else wanted)
        result["counts"] = c.healthy or result["cost"] >= COST_LEAST
        most = self.a.foreign / (3 if name.startswith("healthy") else 1)
        result["quiet"] = c.neighbours or w.share <= most
        if self.a.keep:
            self.keep(result, verdict)
        return result

    def keep(self, result, verdict):
        at = os.path.join(self.a.keep, "%03d-%s" % (len(self.kept), result["scenario"]))
        self.kept.append(at)
        shutil.copytree(os.path.join(self.work, "state"), at)
        with open(at + "/why.json", "w") as f:
            json.dump(dict(result, verdict=verdict), f, indent=1)


def matrix(results):
    """Rows: what was injected; columns: what was named first."""
    rows = [n for n, _ in scenarios.TABLE if any(x["scenario"] == n for x in results)]
    columns = sorted({x["causes"][0] for x in results})
    lines = ["| injected | runs | right | " + " | ".join(columns) + " |"]
    lines.append("|" + "---|" * (3 + len(columns)))
    for row in rows:
        mine = [x for x in results if x["scenario"] == row]
        cells = [sum(x["causes"][0] == c for x in mine) for c in columns]
        right = sum(x["right"] for x in mine)
        text = " | ".join("%d" % n if n else "" for n in cells)
        lines.append("| %s | %d | %d | %s |" % (row.replace("_", " "), len(mine), right, text))
    return "\n".join(lines)


def line(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def report(everything, log, skipped):
    results = [x for x in everything if x["quiet"]]
    disturbed = [x for x in everything if not x["quiet"]]
    if disturbed:
        say("beside others:\n" + matrix(disturbed))
        first = [x["right"] or x["causes"][0] == "cpu-neighbours" for x in disturbed]
        behind = [x["right_behind"] for x in disturbed]
        note = "%d runs" % len(disturbed)
        line("diagnose: beside others, right or they", 100 * statistics.mean(first), "%", "", note)
        line("diagnose: right behind them", 100 * statistics.mean(behind), "%", "", note)
    if not results:
        return
    sick = [x for x in results if not x["scenario"].startswith("healthy")]
    well = [x for x in results if x["scenario"].startswith("healthy")]
    both = [x for x in results if "both" in x]
    say(matrix(results))
    say("load average %s; not counted: %s" % ("%.1f %.1f %.1f" % os.getloadavg(), skipped))
    log.write(matrix(results) + "\n")
    note = "%d runs" % len(sick)
    if sick:
        share = 100 * statistics.mean(x["right"] for x in sick)
        line("diagnose: right cause first", share, "%", ">= 95", note)
    if well:
        wrong = sum(not x["right"] for x in well)
        line("diagnose: false causes, healthy", wrong, "runs", "<= 0", "of %d" % len(well))
    if both:
        share = 100 * statistics.mean(x["both"] for x in both)
        line("diagnose: both of two named", share, "%", "", "of %d" % len(both))


def attempt(bench, name, wanted, seed, skipped):
    """A result that counts; None when there is none."""
    k = 0  # how often it was too weak, or failed
    x = None
    for _ in range(2 * ATTEMPTS):
        r = random.Random("%s %d" % (seed, k))
        if k == ATTEMPTS:
            break
        try:
            x = None
            x = bench.measure(name, wanted, r, 1.6**k)
        except (RuntimeError, subprocess.CalledProcessError, OSError, ValueError) as e:
            say("%s: %s" % (name, e))
            skipped["failed"] += 1
            k += 1
            continue
        mark = "ok " if x["right"] else "NO "
        behind = "=" if x["right_behind"] else "!"
        if not x["quiet"]:
            mark, reason = "//" + behind, "foreign"
        elif not x["counts"]:
            mark, reason = "-- ", "weak"
        else:
            reason = None
        say(
            "%s%-18s cost %3.0f %% foreign %2.0f %% %s [%s] (%s)"
            % (
                mark,
                name,
                100 * x["cost"],
                100 * x["foreign"],
                " ".join("%s %.2f" % (c, s or 0) for c, s in zip(x["causes"], x["shares"])),
                x["text"],
                x["job"],
            )
        )
        if reason is None:
            return x
        skipped[reason] += 1
        k += reason == "weak"
        if reason == "foreign" and random.random() < bench.a.disturbed:
            break
    return x if x and x["counts"] and not x["quiet"] else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--runs", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--skip", type=int, default=0, help="runs of this seed that were made before")
    p.add_argument("--only", default="")
    p.add_argument("--seconds", type=float, default=6, help="of each job's loop")
    p.add_argument("--foreign", type=float, default=0.15)
    p.add_argument("--patience", type=float, default=60, help="seconds to wait for idle CPUs")
    p.add_argument(
        "--disturbed",
        type=float,
        default=0,
        help="chance that a run beside others is kept apart instead of repeated",
    )
    p.add_argument("--folder", help="where files are made: on a disk")
    p.add_argument("--log", help="the results, a line of JSON each")
    p.add_argument("--keep", help="a folder for all runs")
    a = p.parse_args()
    table = [t for t in scenarios.TABLE if not a.only or t[0] in a.only.split(",")]
    order = random.Random(a.seed)
    queue = []
    while len(queue) < a.skip + a.runs:
        some = list(table)
        order.shuffle(some)
        queue += some
    bench = Bench(a)
    say("load average %.1f %.1f %.1f" % os.getloadavg())
    results, skipped = [], {"weak": 0, "foreign": 0, "failed": 0}
    with open(a.log or os.devnull, "w") as log:
        for i in range(a.skip, a.skip + a.runs):
            name, wanted = queue[i]
            x = attempt(bench, name, wanted, "%d %d" % (a.seed, i), skipped)
            if x:
                results.append(x)
                log.write(json.dumps(x) + "\n")
                log.flush()
        if not results:
            sys.exit("diagnose: no run counted")
        report(results, log, skipped)


if __name__ == "__main__":
    main()
