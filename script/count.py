#!/usr/bin/env python3
"""Count meson's test logs (JSON lines; those that exist): count.py SEEN LOG...

Shows on stdout what failed, and what was skipped and why; writes "passed failed skipped" to file
descriptor 3. A test that is skipped inside a program counts as skipped, too. What ran is added to
SEEN, so that

    count.py --never SEEN

prints what every build has skipped, and ends with 1 when there is any whose reason is not in
EXPECTED.
"""

import json
import os
import re
import sys

LINES = 80

# Reasons for which a test may be skipped in every build: a tool that is not needed, other people's
# data, and what this machine or this user cannot do.
EXPECTED = re.compile(
    r"others' data are not here"
    r"|no (lstopo|prometheus|promtool|node_exporter|systemd-analyze|node, chromium"
    r"|python3-kubernetes|slurmctld|slurmd|srun|munged|slurmdbd|mariadbd|initdb|ip|nsenter)\b"
    r"|torch is (not installed|missing)|there is no torch"
    r"|(clang-format|shellcheck|clang|gcc|pytest) is not"
    r"|clang-format \d+ decides|needs (libblas3|two libraries|two CPUs)|tomllib is not here"
    r"|(needs|not) root|only root|no other user to be|cannot (be )?mount|no disk of its own"
    r"|direct I/O|kernel does not answer|CAP_NET_ADMIN|no system call filter|no openat2"
    r"|this machine has (one|a power meter)|the kernel log cannot be written",
    re.I,
)

# TAP: "ok 3 - name # SKIP reason"; run_pytest.py: "SKIPPED file.py::name: reason".
TAP = re.compile(r"^ok (\d+)(?: - (.*?))?\s*# SKIP:?\s*(.*)$", re.I | re.M)
ALL_OF_TAP = re.compile(r"^1\.\.0 # SKIP:?\s*(.*)$", re.I | re.M)
PYTEST = re.compile(r"^SKIPPED (\S+?::.*?): (.*)$", re.M)


def skips(said):
    """(test inside the program, reason) of each; the test is '' where it is the program itself."""
    inside = [(name or number, reason) for number, name, reason in TAP.findall(said)]
    return inside + PYTEST.findall(said) + [("", reason) for reason in ALL_OF_TAP.findall(said)]


def read(paths):
    results = []
    for path in filter(os.path.exists, paths):
        with open(path, encoding="utf-8", errors="replace") as log:
            results += [json.loads(line) for line in log]
    return results


def count(seen, paths):
    passed = failed = skipped = 0
    ran = ""
    for test in read(paths):
        name, result = test["name"], test["result"]
        said = (test.get("stdout") or "") + (test.get("stderr") or "")
        left_out = skips(said)
        if result == "SKIP" and not left_out:
            left_out = [("", said.strip() or "it gives no reason")]
        for item, reason in left_out:
            print(f"    skipped in {name}: {item + ': ' if item else ''}{reason}")
        skipped += len(left_out)
        if result in ("OK", "EXPECTEDFAIL"):
            passed += 1
        elif result != "SKIP":
            failed += 1
            print(f"    {name}: {result} after {test['duration']:.1f} s; its output ends:")
            print("\n".join(said.splitlines()[-LINES:]))
        ran += json.dumps({"test": name, "skipped": left_out}) + "\n"
    with open(seen, "ab", buffering=0) as log:  # in one call: other stages write there, too
        log.write(ran.encode())
    sys.stdout.flush()
    os.write(3, f"{passed} {failed} {skipped}\n".encode())


def never(seen):
    """What each run of its program has skipped: (test, item, reason)."""
    runs = {}
    for line in read([seen]):
        runs.setdefault(line["test"], []).append({item: why for item, why in line["skipped"]})
    for test, builds in sorted(runs.items()):
        for item in sorted(set.intersection(*map(set, builds))):
            reasons = {build[item] for build in builds}
            if not all(map(EXPECTED.search, reasons)):
                yield test, item, " / ".join(sorted(reasons))


def main(args):
    if args[0] != "--never":
        return count(args[0], args[1:])
    found = list(never(args[1]))
    for test, item, reason in found:
        print(f"{test}: {item + ': ' if item else ''}{reason}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
