"""Tests that compare times, or have brim say what takes them, are made again where they fail while
others had this machine's CPUs: then they tell of those, not of brim. Which were is told."""

import time

from _pytest.runner import runtestprotocol

FILES = ("test_optimize", "test_restarts", "test_run.py", "test_why")
STOLEN = 0.03  # of the CPUs' time while the test ran: the hypervisor's
WAITED = 0.1  # of that time, in which somebody waited for a CPU
TRIES = 3

told = []


def ticks():
    """Of all CPUs: (stolen, all)."""
    with open("/proc/stat") as f:
        all_of_them = [int(x) for x in f.readline().split()[1:9]]
    return all_of_them[7], sum(all_of_them)


def waited():
    """Seconds in which somebody waited for a CPU, and those of the clock."""
    try:
        with open("/proc/pressure/cpu") as f:
            return int(f.readline().rsplit("=", 1)[1]) / 1e6, time.monotonic()
    except OSError:  # a kernel that does not count them
        return 0, time.monotonic()


def share(before, after):
    some, total = (b - a for a, b in zip(before, after))
    return some / max(1, total)


def attempt(item, nextitem):
    """(reports, what others had of the CPUs meanwhile, or None)"""
    before = ticks(), waited()
    item._initrequest()
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    stolen, waits = share(before[0], ticks()), share(before[1], waited())
    if stolen >= STOLEN:
        return reports, "%.0f %% of the CPUs were stolen" % (100 * stolen)
    if waits >= WAITED:
        return reports, "CPUs were waited for %.0f %% of the time" % (100 * waits)
    return reports, None


def pytest_runtest_protocol(item, nextitem):
    if not item.path.name.startswith(FILES):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for left in reversed(range(TRIES)):
        reports, others = attempt(item, nextitem)
        if not left or not others or not any(report.failed for report in reports):
            break
        told.append("AGAIN %s: %s" % (item.name, others))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter):
    for line in told:
        terminalreporter.write_line(line)
