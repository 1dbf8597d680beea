"""The program with one call that fails, at each place that makes such calls (tests/fake/faults)."""

import collections
import errno
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

# A way to a call: the name of the function, a hash, and return addresses, innermost first.
Way = collections.namedtuple("Way", "name hash at")
# How a run ended: files has what it wrote.
End = collections.namedtuple("End", "status out err files")
# What is wrong: the command, the way, the error, a sentence.
Finding = collections.namedtuple("Finding", "line way code what whole end")

MEMORY = "malloc calloc realloc reallocarray".split()
CODES = {
    "open64": "EMFILE", "openat64": "EMFILE", "opendir": "EMFILE", "fdopendir": "ENOMEM",
    "fopen64": "EMFILE", "fdopen": "ENOMEM", "pipe2": "EMFILE", "socket": "EMFILE",
    "write": "ENOSPC", "pwrite64": "ENOSPC", "fflush": "ENOSPC", "ftruncate64": "ENOSPC",
    "rename": "ENOSPC", "renameat": "ENOSPC", "mkdir": "ENOSPC", "mkdirat": "ENOSPC",
    "mmap64": "ENOMEM", "fork": "EAGAIN", "pthread_create": "EAGAIN", "flock": "ENOLCK",
}  # fmt: skip
WRONG_USAGE = 2
# How often the callers of a place that does without the call are asked by another way.
TRIES = 2


def takes_memory(name):
    return name in MEMORY or name.startswith("arena_")


def code_of(name):
    return getattr(errno, "ENOMEM" if takes_memory(name) else CODES.get(name, "EIO"))


def places(way):
    """The call sites on a way; where memory is wanted they are others than for system calls."""
    kind = takes_memory(way.name)
    return [(kind, at) for at in way.at]


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Faulty:
    """Takes commands, and has each place fail once over all of them."""

    def __init__(self, program, folder, cwd):
        self.program, self.folder, self.cwd = program, pathlib.Path(folder), cwd
        self.done = set()  # places that were seen to fail
        self.tries = collections.Counter()
        self.findings = []
        self.names = collections.Counter()  # runs, by the function that failed
        self.ended = collections.Counter()

    def start(self, words, env, folder):
        """Runs it, with what it prints in folder."""
        base = {k: v for k, v in os.environ.items() if not k.startswith(("FAKE_", "LD_"))}
        base.update(env, BRIM_CONF="/nonexistent/brim.conf", FAULTS=str(folder))
        base.update(FAULTS_OUT=str(self.out), MALLOC_PERTURB_="165")
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            return subprocess.run(
                [self.program, *words], env=base, cwd=self.cwd, stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, check=False,
            ).returncode  # fmt: skip

    @property
    def out(self):
        """Where commands write files."""
        return self.folder / "files"

    def fresh(self, name):
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def record(self, words, env):
        """(how it ends undisturbed, the ways that it goes)"""
        folder = self.fresh("record")
        status = self.start(words, env, folder)
        ways = []
        for line in (folder / "record").read_text().splitlines():
            name, key, *at = line.split()
            ways.append(Way(name, key, [int(each, 16) for each in at]))
        end = End(status, *[(folder / n).read_bytes() for n in ("out", "err")], contents(self.out))
        return end, ways

    def fail(self, words, env, ways):
        """[(how it ends, whether the call was reached)], one for each way."""
        folder = self.fresh("runs")
        specs = ["%d %s %s %x\n" % (code_of(w.name), w.name, w.hash, w.at[0]) for w in ways]
        (folder / "specs").write_text("".join(specs))
        assert self.start(words, env, folder) == 0, (folder / "err").read_text()
        ends = []
        for line in (folder / "ends").read_text().splitlines():
            number, status, reached = map(int, line.split())
            said = [(folder / (str(number) + ending)).read_bytes() for ending in (".out", ".err")]
            files = contents(folder / ("%d.files" % number))
            # As subprocess has it: negative for a signal.
            status = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            ends.append((End(status, *said, files), reached))
        assert len(ends) == len(ways)
        return ends

    def choose(self, ways):
        """Some of them, so that each place that was not seen to fail is on one."""
        chosen, taken = [], set(self.done)
        for way in ways:
            new = set(places(way)) - taken
            if new:
                chosen.append(way)
                taken |= new
        return chosen

    def take(self, line, words, env):
        """Fails what is new in one command."""
        self.fresh("files")
        whole, ways = self.record(words, env)
        ways = [way for way in ways if way.at]
        self.fresh("files")
        while True:
            chosen = self.choose(ways)
            if not chosen:
                return
            ran = self.fail(words, env, chosen)
            for way, (end, reached) in zip(chosen, ran):
                self.settle(way, end == whole)
                self.names[way.name] += 1
                self.ended["as ever" if end == whole else "status %d" % end.status] += 1
                what = judge(whole, end, way) if reached else "the call is not reached again"
                if what:
                    self.findings.append(Finding(line, way, code_of(way.name), what, whole, end))
            # one that was asked is not asked again by the same way
            ways = [way for way in ways if way not in chosen]

    def settle(self, way, did_without):
        """Which places have been seen to fail: callers of one that does without learn nothing."""
        inner, *outer = places(way)
        self.done.add(inner)
        for place in outer:
            self.tries[place] += 1
            if not did_without or self.tries[place] >= TRIES:
                self.done.add(place)

    def where(self, addresses):
        """{address: 'function file:line'}"""
        words = ["addr2line", "-f", "-e", self.program]
        asked = sorted(set(addresses))
        text = "".join("%x\n" % (self.base + at - 1) for at in asked)
        lines = subprocess.run(
            words, input=text, stdout=subprocess.PIPE, check=True, universal_newlines=True
        ).stdout.splitlines()
        return {
            at: lines[2 * i] + " " + re.sub(r"^.*?\b(src/)", r"\1", lines[2 * i + 1])
            for i, at in enumerate(asked)
        }

    @property
    def base(self):
        """Where the program begins, as its symbols have it."""
        words = ["nm", self.program]
        text = subprocess.run(
            words, stdout=subprocess.PIPE, check=True, universal_newlines=True
        ).stdout
        return int(re.search(r"^(\w+) \w __executable_start$", text, re.M)[1], 16)

    def report(self, allowed):
        """A paragraph for each finding but those that are allowed: allowed(finding, frames)."""
        at = self.where(a for f in self.findings for a in f.way.at)
        texts = {}
        for finding in self.findings:
            frames = [at[a] for a in finding.way.at]
            if not allowed(finding, frames):
                key = (finding.what.split(":")[0], finding.way.name, *frames[:3])
                texts.setdefault(key, explain(finding, frames))
        return list(texts.values())


def explain(finding, frames):
    return "%s\n    %s fails with %s in %s\n    %s" % (
        finding.line, finding.way.name, errno.errorcode[finding.code],
        "\n        from ".join(frames[:8]), finding.what,
    )  # fmt: skip


def is_json(text):
    try:
        json.loads(text)
        return True
    except ValueError:
        return False


def judge(whole, end, way):
    """What is wrong with how it ended; None: nothing."""
    err = end.err.decode("utf-8", "replace")
    if "Sanitizer" in err or "runtime error" in err:
        return "a sanitizer speaks: " + "\n        ".join(err.splitlines()[:40])
    if end.status < 0:
        return "it ends by a signal: %s" % signal.Signals(-end.status).name
    if end == whole:
        return None
    if end.status == 0:
        return "status 0 with another output: " + difference(whole, end)
    return refusal(whole, end, way, err)


def difference(whole, end):
    for name in ("out", "err", "files"):
        was, now = getattr(whole, name), getattr(end, name)
        if was != now:
            return "%s has %r and not %r" % (name, *first_difference(was, now))
    return "status %d and not %d" % (end.status, whole.status)


def first_difference(was, now):
    if isinstance(was, dict):
        if set(was) != set(now):
            return sorted(now), sorted(was)
        name = next(n for n in was if was[n] != now[n])
        was, now = was[name], now[name]
    i = next((i for i, (a, b) in enumerate(zip(was, now)) if a != b), min(len(was), len(now)))
    begin = max(i - 30, 0)
    return now[begin : i + 50], was[begin : i + 50]


def refusal(whole, end, way, err):
    """What is wrong with one that says that it failed."""
    last = err.splitlines()[-1] if err else ""
    sentence = re.fullmatch(r"brim(?: \w+)?: (.*)", last)
    if not sentence:
        return "status %d and no sentence: %r" % (end.status, err[-300:])
    if end.status == whole.status == WRONG_USAGE:
        return None  # what would be right may be left out of the sentence
    if takes_memory(way.name) and "out of memory" not in last:
        return "it does not say that it is out of memory: %r" % last
    if sentence[1] == os.strerror(code_of(way.name)):
        return "the sentence names nothing: %r" % last
    if end.out not in (b"", whole.out) and not is_json(end.out):
        return "it fails and prints a part: %r" % end.out[-100:]
    if not set(end.files.items()) <= set(whole.files.items()):
        return "it fails and leaves files: %r" % sorted(end.files)
    return None
