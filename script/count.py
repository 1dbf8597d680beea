#!/usr/bin/env python3
"""Read meson test logs (JSON lines; those that exist): show on stdout what failed, why tests
were skipped and which were made again (tests/cli/again.py), write "passed failed skipped" to file
descriptor 3."""

import json
import os
import re
import sys

LINES = 80

# TAP: "ok 3 - name # SKIP reason"; pytest -rs: "SKIPPED [1] file.py:12: reason".
SKIP = re.compile(r"^(?:ok.*# SKIP:?|1\.\.0 # SKIP:?|SKIPPED \[\d+\])\s*(.*)$", re.I | re.M)
AGAIN = re.compile(r"^AGAIN (.*)$", re.M)


def main(paths):
    passed = failed = skipped = 0
    results = []
    for path in filter(os.path.exists, paths):
        with open(path, encoding="utf-8", errors="replace") as log:
            results += [json.loads(line) for line in log]
    for test in results:
        name, result = test["name"], test["result"]
        said = (test.get("stdout") or "") + (test.get("stderr") or "")
        for reason in SKIP.findall(said):
            print(f"    skipped in {name}: {reason}")
        for reason in AGAIN.findall(said):
            print(f"    made again in {name}: {reason}")
        if result in ("OK", "EXPECTEDFAIL"):
            passed += 1
        elif result == "SKIP":
            skipped += 1
            if not SKIP.search(said):
                print(f"    skipped: {name}: {said.strip() or 'it does not say why'}")
        else:
            failed += 1
            print(f"    {name}: {result} after {test['duration']:.1f} s; its last words:")
            print("\n".join(said.splitlines()[-LINES:]))
    sys.stdout.flush()
    os.write(3, f"{passed} {failed} {skipped}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
