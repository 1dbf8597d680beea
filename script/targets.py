#!/usr/bin/env python3
"""Print the ninja targets that the meson.build files below a source folder define, or those that
the tests of a suite need: targets.py BUILD-DIRECTORY FOLDER|suite:NAME."""

import json
import os
import subprocess
import sys


def introspect(what, build):
    said = subprocess.run(
        ["meson", "introspect", "--" + what, build], check=True, stdout=subprocess.PIPE
    )
    return json.loads(said.stdout)


def needed(build, suite):
    """The ids of targets that tests need."""
    ids = set()
    for test in introspect("tests", build):
        if suite in [name.split(":")[-1] for name in test["suite"]]:
            ids.update(test["depends"])
    return ids


def main(build, what):
    suite = what.partition("suite:")[2]
    root = os.path.abspath(what) + os.sep
    ids = needed(build, suite) if suite else None
    for target in introspect("targets", build):
        if target["id"] in ids if suite else target["defined_in"].startswith(root):
            for name in target["filename"]:
                print(os.path.relpath(name, os.path.abspath(build)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
