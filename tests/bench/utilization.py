#!/usr/bin/env python3
"""How busy the queue of a machine keeps its accelerators, live and as brim sim predicts it.

The same made-up jobs go to a live queue, whose accelerators are invented and whose jobs do what a
script says (scripted_job.c), faster than they would by --scale, and to brim sim: behind walls with
strict FIFO, behind walls with backfill, and under a policy that lends, parks idle jobs and lets two
share. What is compared is the share of all devices that was busy from --from on, to the last
submission. Prints name, value, unit, limit and note with tabs between them; --keep FILE keeps the
figures of each seed as JSON.

    BRIM=build/gcc/src/cmd/brim tests/bench/utilization.py [--seeds 1,2] [--policies walls,shared]

What jobs do is as in docs/sim/utilization.md: a third of their time is idle stretches, at work they
keep devices 69 % busy in the mean; two that share are 5 % slower, and by what they would keep a
device busy above all of it. Each says that it needs 15 of 80 GB, so that five fit on a device.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BRIM = os.path.abspath(os.environ.get("BRIM", "build/gcc/src/cmd/brim"))
BUILT = pathlib.Path(BRIM).resolve().parents[2] / "tests" / "bench" / "jobs"
DEVICES, MEMORY_GB, COST = 8, 15, 50
IDLE_S, HOUR = 3600, 3600
SHARES = "[quota]\nby = team\nborrow = %s\nshare = a 4\nshare = b 4\n"
POLICIES = {
    "walls": "[policy]\nname = walls\norder = fifo\nrestart = 40s\n" + SHARES % "no",
    "walls-backfill": "[policy]\nname = walls-backfill\norder = fifo\nbackfill = greedy\n"
                      "restart = 40s\n" + SHARES % "no",
    "shared": "[policy]\nname = shared\norder = fifo\nbackfill = greedy\nrestart = 40s\n"
              + SHARES % "yes" +
              "[idle]\nreclaim = 5m\nburst = 1m\ngrace = 2m\naction = shrink\n"
              "[share]\nbelow = 95%\ntogether = 100%\nafter = 5m\ncost = 5%\n",
}
LEAST, APART = 72, 3  # per cent, points


# ---- the jobs ----

def make_jobs(seed, hours, load):
    """[(submitted, devices, team, [(seconds, thousandths)])] by submission; a fifth of them in the
    first hundredth of the time, so that devices are asked for from the beginning."""
    chance = random.Random(seed)
    jobs, total = [], 0
    while total < load * DEVICES * hours * HOUR:
        devices = chance.choices([1, 2, 4], [0.7, 0.2, 0.1])[0]
        milli = 10 * max(5, min(100, round(100 * chance.betavariate(1.7, 0.75))))
        length = min(max(chance.lognormvariate(8.3, 0.9), 900), 6 * HOUR)
        stretches, at = [], 0
        while at < length:
            work = min(max(chance.expovariate(1 / (2 * IDLE_S)), 60), max(length - at, 60))
            stretches.append((round(work), milli))
            at += work
            if at >= length:
                break
            idle = min(max(chance.expovariate(1 / IDLE_S), 60), 4 * HOUR)
            stretches.append((round(idle), 0))
            at += idle
        if stretches[-1][1] == 0:  # the last thing that a job does is work
            stretches.append((300, milli))
        jobs.append((chance.random() * hours * HOUR, devices, chance.choice("ab"), stretches))
        total += devices * sum(seconds for seconds, _ in stretches)
    jobs.sort(key=lambda job: job[0])
    early = len(jobs) // 5
    jobs = [(at / 100 if i < early else at, *rest) for i, (at, *rest) in enumerate(jobs)]
    jobs.sort(key=lambda job: job[0])
    jobs[-1] = (hours * HOUR, *jobs[-1][1:])
    return jobs


def write_trace(jobs, path):
    with open(path, "w", encoding="ascii") as out:
        out.write("job_id,submit_s,gpus,duration_s,team,activity\n")
        for number, (at, devices, team, stretches) in enumerate(jobs, 1):
            out.write("%d,%.3f,%d,%d,%s,%s\n" % (
                number, at, devices, sum(s for s, _ in stretches), team,
                " ".join("%d:%g" % (s, milli / 10) for s, milli in stretches)))


def predict(folder, trace, names, start_h):
    paths = []
    for name in names:
        paths.append(folder / (name + ".ini"))
        paths[-1].write_text(POLICIES[name], "ascii")
    said = subprocess.run(
        [BRIM, "sim", str(trace), "--nodes", "1x%d" % DEVICES, "--json",
         "--from", "%ds" % round(start_h * HOUR), "--policy", str(paths[0]),
         *(["--compare", ",".join(map(str, paths[1:]))] if paths[1:] else [])],
        check=True, stdout=subprocess.PIPE, universal_newlines=True)
    return {run["policy"]: run for run in json.loads(said.stdout)["policies"]}


# ---- the live queue ----

def scaled(text, scale):
    """A policy with its times as they are when 'scale' seconds pass in one."""
    units = {"s": 1, "m": 60, "h": HOUR}

    def shorter(found):
        return "%dms" % round(int(found.group(1)) * units[found.group(2)] * 1000 / scale)

    return re.sub(r"\b(\d+)([smh])\b", shorter, text)


class Live:
    """A queue of its own with invented accelerators, and what its jobs do there."""

    def __init__(self, folder, policy, scale):
        self.folder, self.scale = folder, scale
        for name in ("devices", "state", "work"):
            (folder / name).mkdir(parents=True)
        (folder / "policy.ini").write_text(scaled(policy, scale), "ascii")
        self.play({})
        (folder / "brim.conf").write_text(
            "[queue]\nidle = 5s\nfake = %dxH100-SXM5-80GB\nplay = %s\npolicy = %s\n"
            "interval = 200ms\n[run]\ninterval = 200ms\n"
            % (DEVICES, folder / "play.ini", folder / "policy.ini"), "ascii")
        self.env = dict(os.environ, STATE_DIRECTORY=str(folder / "state"),
                        BRIM_CONF=str(folder / "brim.conf"), BRIM_TEAM="",
                        LD_PRELOAD=str(BUILT / "libmanycpus.so"))

    def play(self, busy):
        draft = self.folder / "play.new"
        head = "[fake]\ncount = %d\n[gpu *]\nmemory_total_bytes = 80e9\n" % DEVICES
        draft.write_text(head + "".join(
            "[gpu %d]\nbusy_ratio = %.3f\nmemory_used_bytes = %g\n"
            % (i, min(busy.get(i, (0, 0))[0] / 1000, 1), busy.get(i, (0, 0))[1] * MEMORY_GB * 1e9)
            for i in range(DEVICES)), "ascii")
        draft.rename(self.folder / "play.ini")

    def look(self):
        """Show devices as busy as their jobs keep them."""
        busy = {}
        for path in (self.folder / "devices").iterdir():
            try:
                milli = int(path.read_text("ascii").split()[0])
            except (OSError, IndexError, ValueError):
                continue  # it ends, or begins
            device = int(path.name.split(".")[0])
            was = busy.get(device, (0, 0))
            busy[device] = (was[0] + milli, was[1] + 1)
        self.play(busy)

    def engine(self):
        """Its process; None."""
        try:
            pid = int((self.folder / "state" / "queue" / "lock").read_text())
            name = pathlib.Path("/proc/%d/cmdline" % pid).read_bytes()
        except (OSError, ValueError):
            return None
        return pid if b"queue" in name.split(b"\0") else None

    def kill(self):
        """A command starts another one, as a service would."""
        pid = self.engine()
        if pid is None:
            return False
        os.kill(pid, signal.SIGKILL)
        while self.engine() == pid:
            time.sleep(0.01)
        self.jobs()
        return True

    def submit(self, number, job):
        _, devices, team, stretches = job
        (self.folder / ("act.%d" % number)).write_text(
            "".join("%d %d\n" % one for one in stretches), "ascii")
        return subprocess.Popen(
            [BRIM, "submit", "--devices", str(devices), "--team", team, "--requeue", "--share",
             "--memory", str(MEMORY_GB), "--name", str(number), "--chdir",
             str(self.folder / "work"), str(BUILT / "scripted_job"), str(self.folder), str(number),
             "%g" % self.scale, str(COST)],
            env=self.env, stdout=subprocess.DEVNULL)

    def jobs(self):
        said = subprocess.run([BRIM, "jobs", "--all", "--json"], env=self.env, check=True,
                              stdout=subprocess.PIPE, universal_newlines=True)
        return json.loads(said.stdout)["jobs"]

    def did(self, begin, end):
        """Device seconds that were busy between two times."""
        return sum(worked(lines_of(path), begin, end) for path in self.folder.glob("did.*"))

    def check(self, jobs, told):
        """Jobs that are done did all of their work, and none of it twice."""
        for job in told:
            if job["state"] != "done":
                continue
            _, devices, _, stretches = jobs[int(job["name"]) - 1]
            wanted = devices * sum(s * milli / 1000 for s, milli in stretches)
            did = worked(lines_of(self.folder / ("did." + job["name"])), 0, float("inf"))
            assert abs(did / wanted - 1) < 0.05, "job %s did %.0f of %.0f device seconds" % (
                job["name"], did, wanted)

    def end(self):
        jobs = [job for job in self.jobs() if not job["ended"]]
        for i in range(0, len(jobs), 50):
            subprocess.run([BRIM, "cancel", *[str(job["id"]) for job in jobs[i:i + 50]]],
                           env=self.env, check=False, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        while any(not job["ended"] for job in self.jobs()):
            time.sleep(0.2)
        pid = self.engine()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
        while self.engine() is not None:
            time.sleep(0.05)


def lines_of(path):
    """What a job told: [(time, device seconds since its attempt began)]."""
    words = [line.split() for line in path.read_text("ascii").splitlines()]
    return [(float(one[0]), float(one[1])) for one in words if len(one) == 2]


def worked(lines, begin, end):
    """What a job did between two times: its lines are sums, which begin anew with each attempt."""
    total, before, then = 0.0, 0.0, None
    for at, did in lines:
        if did < before or then is None:
            before, then = 0.0, at - 0.5 if then is None else then
        span = max(at - then, 1e-9)
        inside = max(min(at, end) - max(then, begin), 0) / span
        total += (did - before) * min(inside, 1)
        before, then = did, at
    return total


def run_live(folder, jobs, name, args):
    """What one policy does: the share of devices that was busy, and what it did for that."""
    live = Live(folder, POLICIES[name], args.scale)
    hours = jobs[-1][0] / HOUR
    asking, at, kills = [], 0, 0
    chance = random.Random(args.kills)
    try:
        begin = time.time()
        while time.time() < begin + hours * HOUR / args.scale:
            while at < len(jobs) and time.time() >= begin + jobs[at][0] / args.scale:
                asking.append(live.submit(at + 1, jobs[at]))
                at += 1
            live.look()
            time.sleep(0.1)
            if chance.random() < args.kills * 0.1 * args.scale / (hours * HOUR):
                kills += live.kill()
        end = begin + hours * HOUR / args.scale
        time.sleep(1)  # what is done up to then is told
        told = live.jobs()
        start = begin + args.start_h * HOUR / args.scale
        busy = live.did(start, end) / (DEVICES * (hours - args.start_h) * HOUR)
    finally:
        live.end()
    assert all(one.wait() == 0 for one in asking), "a job was not taken"
    live.check(jobs, told)
    log = (folder / "state" / "queue" / "engine.log").read_text("utf-8", "replace")
    return {"busy": busy, "jobs": len(told), "done": sum(job["state"] == "done" for job in told),
            "kills": kills, "starts": sum(job["attempts"] for job in told),
            "joined": log.count(" and shares those of job "),
            "parted": log.count("gives up the devices that it shares"),
            "parked": log.count("was idle and is parked"),
            "woken": log.count("works again and waits"),
            "no_room": log.count("does not fit beside")}


def say(name, value, unit, limit="", note=""):
    print("\t".join([name, "%.4g" % value, unit, limit, note]), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--seeds", default="1,2,3")
    p.add_argument("--policies", default=",".join(POLICIES))
    p.add_argument("--hours", type=float, default=12)
    p.add_argument("--from", dest="start_h", type=float, default=2)
    p.add_argument("--load", type=float, default=4, help="of what the devices could do")
    p.add_argument("--scale", type=float, default=60, help="seconds that pass in one")
    p.add_argument("--kills", type=int, default=0, help="of the engine, about so often in a run")
    p.add_argument("--keep", type=pathlib.Path)
    args = p.parse_args()
    names = args.policies.split(",")
    all_of = {name: [] for name in names}
    base = pathlib.Path(tempfile.mkdtemp(prefix="brim-utilization-"))
    try:
        for seed in map(int, args.seeds.split(",")):
            jobs = make_jobs(seed, args.hours, args.load)
            write_trace(jobs, base / "trace.csv")
            said = predict(base, base / "trace.csv", names, args.start_h)
            with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
                lives = list(pool.map(
                    lambda name, seed=seed, jobs=jobs: run_live(
                        base / ("%s-%d" % (name, seed)), jobs, name, args), names))
            for name, live in zip(names, lives):
                live.update(seed=seed, predicted=said[name]["busy"])
                all_of[name].append(live)
                say("busy, %s, seed %d" % (name, seed), 100 * live["busy"], "%", "",
                    "predicted %.1f; %s" % (100 * live["predicted"], ", ".join(
                        "%s %d" % (key, live[key]) for key in
                        ("jobs", "done", "kills", "starts", "parked", "woken", "no_room", "joined",
                         "parted"))))
                if args.keep:
                    args.keep.write_text(json.dumps(all_of, indent=1) + "\n", "ascii")
    finally:
        shutil.rmtree(str(base))
    for name, runs in all_of.items():
        live = statistics.fmean(100 * run["busy"] for run in runs)
        apart = [100 * (run["predicted"] - run["busy"]) for run in runs]
        say("busy, " + name, live, "%", ">= %d" % LEAST if name == "shared" else "",
            "%.1f to %.1f" % (min(100 * run["busy"] for run in runs),
                              max(100 * run["busy"] for run in runs)))
        say("prediction off by, " + name, max(map(abs, apart)), "points", "<= %d" % APART,
            "predicted less live: %.1f to %.1f" % (min(apart), max(apart)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
