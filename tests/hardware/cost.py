"""What it costs to sample the GPUs: CPU time of brim's agent, of its loop and of the threads that
ask drivers."""

import os
import re
import select
import time
import urllib.request

from section import Failed, end_session

TITLE = "The cost of sampling"
LIMIT_S = 60
SETTLE_S, WINDOW_S = 3, 10
MOST_MS = 10  # of a second at one sample a second: 1 % of a CPU
SERVES = re.compile(r"http://(127\.0\.0\.1:\d+)/metrics")
VALUES = 10  # at least, of a GPU that is seen
LIBRARIES = "lib"  # of what was packed: the agent alone sees it, and starts no job


def cpu_ns(pid):
    """(of the loop, of the other threads). Where the kernel counts no nanoseconds, ticks."""
    loop = rest = 0
    for task in os.listdir("/proc/%d/task" % pid):
        folder = "/proc/%d/task/%s/" % (pid, task)
        try:
            with open(folder + "schedstat", encoding="utf-8") as f:
                spent = int(f.read().split()[0])
        except (OSError, ValueError, IndexError):
            with open(folder + "stat", encoding="utf-8") as f:
                words = f.read().rpartition(")")[2].split()
            spent = (int(words[11]) + int(words[12])) * 10**9 // os.sysconf("SC_CLK_TCK")
        if int(task) == pid:
            loop += spent
        else:
            rest += spent
    return loop, rest


def address(agent, seconds):
    """Where it serves, which it says when it does."""
    until, said = time.monotonic() + seconds, ""
    while time.monotonic() < until:
        ready, _, _ = select.select([agent.stderr], [], [], 1)
        line = agent.stderr.readline() if ready else ""
        where = SERVES.search(line)
        if where:
            return where[1]
        said = line.strip() or said
        if ready and not line:
            break
    raise Failed("the agent does not serve: %s" % (said or "it says nothing"))


def values(where):
    """How many values of GPUs it serves."""
    with urllib.request.urlopen("http://%s/metrics" % where, timeout=20) as answer:
        text = answer.read().decode("utf-8")
    return len(re.findall(r"^brim_gpu_(?!info)\w+\{", text, re.M))


def wait_for_values(where, seconds):
    """The driver is asked in a thread: the first answers come behind the first sample."""
    until, count = time.monotonic() + seconds, 0
    while count < VALUES and time.monotonic() < until:
        count = values(where)
        time.sleep(0.05)
    return count


def spent(agent):
    """(ms of the loop, ms of the other threads) in a second."""
    time.sleep(SETTLE_S)
    begin, before = time.monotonic(), cpu_ns(agent.pid)
    time.sleep(WINDOW_S)
    behind, took = cpu_ns(agent.pid), time.monotonic() - begin
    return tuple((b - a) / 1e6 / took for a, b in zip(before, behind))


def one(here, interval):
    """(how many values of GPUs it serves, what it costs: None where that is not measured)"""
    env = {}
    packed = here.brim.parents[2] / LIBRARIES
    if packed.is_dir():
        env["LD_LIBRARY_PATH"] = ":".join(
            filter(None, [here.env.get("LD_LIBRARY_PATH"), str(packed)])
        )
    words = ("agent", "--listen", "127.0.0.1:0", "--store", "none", "--interval", interval)
    agent = here.start(here.brim, *words, **env)
    try:
        count = wait_for_values(address(agent, 20), 20)
        return count, None if here.dry else spent(agent)
    finally:
        end_session(agent)


def run(here, found):
    for interval in ("100ms",) if here.dry else ("1s", "100ms"):
        count, cost = one(here, interval)
        what = "CPU time a second, a sample each %s" % interval
        told = "not measured with a fake driver"
        if cost:
            told = "%.2f ms, %.2f of it in threads that ask drivers" % (sum(cost), cost[1])
        if cost and interval == "1s":
            found.judge(what, told, "at most %d ms" % MOST_MS, sum(cost) <= MOST_MS)
        else:
            found.note(what, told)
        found.judge("values of GPUs in it", count, "%d or more" % VALUES, count >= VALUES)
