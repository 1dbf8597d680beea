"""Tests that compare times, or have brim say what takes them, are made again where they fail while
the hypervisor had this machine's CPUs: then they tell of that, not of brim."""

from _pytest.runner import runtestprotocol

FILES = ("test_optimize", "test_restarts", "test_run.py", "test_why")
STOLEN = 0.03  # of the CPUs' time while the test ran
TRIES = 3


def ticks():
    """Of all CPUs: (stolen, all)."""
    with open("/proc/stat") as f:
        all_of_them = [int(x) for x in f.readline().split()[1:9]]
    return all_of_them[7], sum(all_of_them)


def attempt(item, nextitem):
    """(reports, the share that was stolen meanwhile)"""
    before = ticks()
    item._initrequest()
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    stolen, total = (b - a for a, b in zip(before, ticks()))
    return reports, stolen / max(1, total)


def pytest_runtest_protocol(item, nextitem):
    if not item.path.name.startswith(FILES):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(TRIES):
        reports, stolen = attempt(item, nextitem)
        if not any(report.failed for report in reports) or stolen < STOLEN:
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
