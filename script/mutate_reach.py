"""Which test reaches which line: the coverage that gcc counts, one test at a time.

What a test reached is kept in $XDG_CACHE_HOME/brim/mutate (~/.cache) under the content of all files
but those that are other tests' alone; what was of no use for a month goes.
"""

import collections
import contextlib
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import mutate_text
import mutate_work

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "brim/mutate"
# Files of which no reach depends: what outputs are compared with is one of them.
IDLE = re.compile(r"\.md$|^script/mutate|(^|/)meson\.build$|^tests/fixtures/golden/")
KEPT_S = 30 * 86400
LIMIT_S = 300  # for a test that counts; one that takes longer is not asked


def clean_up():
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - old.stat().st_mtime > KEPT_S:
                old.unlink()


def counted(build, folder):
    """By file the lines that ran and those that did not, from the counters below a folder."""
    lines = collections.defaultdict(lambda: (set(), set()))
    groups = collections.defaultdict(list)
    for path in folder.rglob("*.gcda"):
        if path.stat().st_size:
            groups[path.parent].append(path)
    for parent, paths in groups.items():
        notes = pathlib.Path("/") / parent.relative_to(folder)
        for path in paths:
            note = path.with_suffix(".gcno")
            if not note.exists() and (notes / note.name).exists():
                note.symlink_to(notes / note.name)
        told = subprocess.run(
            ["gcov", "--json-format", "--stdout", *[path.name for path in paths]],
            cwd=parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        for text in told.stdout.splitlines():
            if text.startswith(b"{"):
                add_file(build, json.loads(text), lines)
    return lines


def add_file(build, one, lines):
    for source in one["files"]:
        path = os.path.normpath(os.path.join(one["current_working_directory"], source["file"]))
        name = os.path.relpath(path, build.copy.tree)
        if not name.startswith(".."):
            for line in source["lines"]:
                lines[name][0 if line["count"] else 1].add(line["line_number"])


def key(copy, test, own):
    """What the reach of a test depends on: not on other tests, documents, and this script."""
    mine = set(test.files)
    names = [n for n in copy.names if (n in mine or n not in own) and not IDLE.search(n)]
    words = " ".join([test.name, *map(os.path.normpath, test.command[1:])])
    words = words.replace(str(copy.folder), "")
    return mutate_work.digest(copy.tree, names) + "-%08x" % (hash_of(words))


def hash_of(text):
    value = 0
    for char in text:
        value = (value * 131 + ord(char)) & 0xFFFFFFFF
    return value


def load(path):
    try:
        with gzip.open(path, "rt") as f:
            kept = json.load(f)
        os.utime(path)
        return kept if "guessed" in kept else None  # one of before has what failed tests reached
    except (OSError, ValueError):
        return None


def keep(path, kept):
    with contextlib.suppress(OSError):
        with gzip.open(str(path) + ".new", "wt") as f:
            json.dump(kept, f)
        os.replace(str(path) + ".new", path)


def look(copy, plain, tests, own, at_a_time, say):
    """Run each test and keep what it reached: {name: {"seconds", "wrong", "guessed", "lines"}}. One
    that fails with counters, which some programs say on stderr, must pass in the plain build."""
    clean_up()
    paths = {test.name: CACHE / (key(copy, test, own) + ".json.gz") for test in tests}
    found = {test.name: load(paths[test.name]) for test in tests}
    left = [test for test in tests if found[test.name] is None]
    if left:
        build = mutate_work.Build(copy, "reach")
        say("what tests reach: %d of %d are run with counters" % (len(left), len(tests)))
        build.configure()
        if not build.make(sorted({name for test in left for name in test.targets})):
            raise mutate_work.NoWork("the build with counters failed:\n" + build.log[-3000:])
        left.sort(key=lambda test: (not test.files or test.files[0].endswith(".py"), test.name))
        moved = [mutate_work.moved(test, copy, "plain", "reach") for test in left]
        for running, wrong in mutate_work.run_all(
            copy, moved, at_a_time, lambda test: LIMIT_S, lambda test: prefix(copy, build, test)
        ):
            name, folder = running.test.name, counters(copy, running.test)
            found[name] = reached(counted(build, folder), running.seconds(), wrong)
            shutil.rmtree(folder, ignore_errors=True)
            if not wrong:
                keep(paths[name], found[name])
        again = [test for test in left if found[test.name]["wrong"]]
        if again and not plain.make(sorted({name for test in again for name in test.targets})):
            raise mutate_work.NoWork("the build failed:\n" + plain.log[-3000:])
        for running, wrong in mutate_work.run_all(copy, again, at_a_time, lambda test: LIMIT_S):
            name = running.test.name
            found[name]["wrong"] = wrong
            if wrong:
                say("%s is not asked: %s without a change; its last words:" % (name, wrong))
                say(running.words()[-800:])
            else:
                keep(paths[name], found[name])
    for name in sorted(name for name, one in found.items() if one["guessed"] and not one["wrong"]):
        say("%s fails with counters: it is asked for all lines of what it runs" % name)
    return found


def counters(copy, test):
    return copy.folder / "counters" / test.name.replace("/", "_")


def reached(lines, seconds, wrong):
    """What is kept of a test. One that failed went another way than it goes without counters: what
    it reaches is then all of each file that it ran a line of."""
    kept = {}
    for path, (ran, idle) in lines.items():
        if wrong and ran:
            ran = ran | idle
        kept[path] = [sorted(ran), sorted(idle - ran)]
    return {"seconds": round(seconds, 3), "wrong": wrong, "guessed": bool(wrong), "lines": kept}


def make_room(build, folder):
    """A folder with the files of counters, empty, that any user can write to: a program may change
    who it is. The mask of the test stays its own, for what it tests makes files."""
    notes = [path.relative_to("/") for path in build.path.rglob("*.gcno")]
    for below in {path.parent for path in notes}:
        (folder / below).mkdir(parents=True, exist_ok=True)
    for path, _, _ in os.walk(folder):
        os.chmod(path, 0o777)
    for note in notes:
        path = (folder / note).with_suffix(".gcda")
        path.touch()
        path.chmod(0o666)


def prefix(copy, build, test):
    """What makes the counters of a test go to a folder of its own, which it makes."""
    make_room(build, counters(copy, test))
    return {"GCOV_PREFIX": str(counters(copy, test))}


class Reach:
    """Answers which tests reach a line."""

    def __init__(self, found, sources, tests=None):
        """sources: the text of each C file by name. tests: that of each test, by its name."""
        self.found = {name: one for name, one in found.items() if not one["wrong"]}
        self.by_line = collections.defaultdict(lambda: collections.defaultdict(set))
        self.counts = collections.defaultdict(set)
        for name, one in self.found.items():
            for path, (ran, idle) in one["lines"].items():
                self.counts[path].update(ran, idle)
                for line in ran:
                    self.by_line[path][line].add(name)
        self.sources = sources
        self.uses = collections.defaultdict(set)
        for path, text in sources.items():
            for word, lines in mutate_text.words(text).items():
                self.uses[word].update((path, line) for line in lines)
        self.named = collections.defaultdict(set)
        for name, text in (tests or {}).items():
            for word in mutate_text.words(text) if name in self.found else ():
                self.named[word].add(name)
        self.outlines = {path: mutate_text.outline(text) for path, text in sources.items()}

    def of(self, site):
        """Names of the tests that reach a site."""
        if site.path in self.sources:
            return self.of_line(site.path, site.line, site.name, set())
        # A file that is embedded is used where its name stands, with data_ before it.
        name = site.path.split("/", 1)[-1].replace("/", "_").replace(".", "_")
        return self.of_name(None, "data_" + name, set())

    def of_line(self, path, line, name, seen):
        """Of code those of the nearest line that counts, of data those of lines that name it. What
        the compiler joined to a line before is behind one that may be of a branch: where nobody
        reached that, those of the line before it."""
        kind, begin, table = self.outlines[path].get(line, (None, line, None))
        if kind == "body":
            for at in range(line, begin - 1, -1):
                if at in self.counts[path] and (at == line or self.by_line[path][at]):
                    return self.by_line[path][at]
            return set()
        name = name or table
        return self.of_name(path, name, seen) if name else set()

    def of_name(self, path, name, seen):
        """Those that reach a line where a name stands; in its own file, if there are any. A test
        that names it itself is one, too."""
        if name in seen:
            return set()
        seen.add(name)
        near, far = set(), set()
        for there, line in sorted(self.uses.get(name, ())):
            (near if there == path else far).update(self.of_line(there, line, None, seen))
        return (near or far) | self.named.get(name, set())
