#!/usr/bin/env python3
"""Run pytest for meson: run_pytest.py [--part K/N] ARGUMENTS...

Exit status 77 (skipped) when no test ran but some were skipped. Each test that was skipped is
printed with its reason, a line of "SKIPPED file.py::test: reason", for script/count.py. --part 2/3
runs every third test, from the second on: parts of a long file that run beside each other.
"""

import os
import signal
import sys

try:
    import pytest
except ImportError:
    print("SKIPPED pytest::all: pytest is not installed (script/setup installs it)")
    sys.exit(77)


class Counter:
    """Counts the tests that ran, and keeps those that did not with their reasons."""

    def __init__(self):
        self.ran = 0
        self.skipped = []

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "expected"
            path, _, test = report.nodeid.partition("::")
            name = path.rpartition("/")[2] + "::" + test
            self.skipped.append("SKIPPED %s: %s" % (name, reason.replace("Skipped: ", "", 1)))
        elif report.when == "call":
            self.ran += 1

    def pytest_terminal_summary(self, terminalreporter):
        for line in self.skipped:
            terminalreporter.write_line(" ".join(line.split()))


class Part:
    """Leaves out the tests of other parts."""

    def __init__(self, text):
        self.number, self.count = map(int, text.split("/"))

    def pytest_collection_modifyitems(self, config, items):
        mine = items[self.number - 1 :: self.count]
        config.hook.pytest_deselected(items=[item for item in items if item not in mine])
        items[:] = mine


def keep_compiled():
    """Keep what Python compiles in the build directory that meson runs tests in."""
    sys.dont_write_bytecode = not os.path.isdir("meson-info")
    sys.pycache_prefix = os.path.abspath("pycache")


def take_no_plugins():
    """None that happen to be installed: these tests use none, and to look for them takes 10 ms of
    CPU time for each file."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"


def hear_interrupts():
    """A shell that starts this with & ignores SIGINT for it, and what is started inherits that: no
    test that interrupts a program could pass."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def main(args):
    keep_compiled()
    take_no_plugins()
    hear_interrupts()
    plugins = [Counter()]
    if args[0] == "--part":
        plugins.append(Part(args[1]))
        args = args[2:]
    status = pytest.main(["-q", "-p", "no:cacheprovider", *args], plugins=plugins)
    counter = plugins[0]
    if status == 0 and counter.ran == 0 and counter.skipped:
        return 77
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
