"""Where script/mutate works: a copy of the tree outside it, builds of it, and its tests.

A test runs in a process namespace of its own where there is such a thing: what a broken program
leaves behind ends with it, what it kills is its own, and of files it can write those of the copy.
"""

import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

# files: those that are this test's alone. targets: what ninja makes for it.
Test = collections.namedtuple("Test", "name command env folder suites targets files seconds")

# What a program dumps of its coverage at its end is dumped at _exit(), too.
DUMP = """\
#include <stdlib.h>
#include <unistd.h>
extern void __gcov_dump(void);
#define _exit(status) (__gcov_dump(), (_exit)(status))
"""
# Line tables: a test of calls that fail names their places.
FLAGS = {
    "plain": ["-Dwarning_level=0", "-Ddebug=false", "-Doptimization=1", "-Dc_args=-w -g1"],
    "strict": [
        "-Dwarning_level=0",
        "-Ddebug=false",
        "-Doptimization=1",
        "-Dc_args=-w",
        "-Db_sanitize=address,undefined",
        "-Db_lundef=false",
    ],
    "reach": ["-Dwarning_level=0", "-Ddebug=false", "-Doptimization=1", "-Db_coverage=true"],
    # What script/test finds without running it: warnings of both compilers, gcc's analyzer (as in
    # script/tidy.py), and clang-tidy by the commands of clang.
    "gcc": ["--werror", "-Dc_args=-fanalyzer -Wno-analyzer-malloc-leak"],
    "clang": ["--werror", "-Db_lundef=false", "-Doptimization=1"],
}
# $1: the folder that can be written; /tmp and /dev/shm begin empty. Then the test's folder, and it.
# The shell stays, to end the processes that nobody else waits for.
ROOM = """
set -e
mount --make-rprivate /
mount --rbind "$1" /mnt
mount -t tmpfs -o mode=1777 tmpfs /tmp
mkdir -p "$1"
mount --move /mnt "$1"
mount -o remount,bind,ro /
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
cd "$2"
shift 2
"$@" && exit 0 || exit $?
"""
# Not asked: what compares times or measures; lint, but for what reads data.
LEFT_OUT = {"timed", "alone", "lint"}


class NoWork(Exception):
    """A sentence for whoever called the script."""


def said(command, **options):
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **options,
    )
    if done.returncode != 0:
        raise NoWork("%s: status %d\n%s" % (command[0], done.returncode, done.stdout[-3000:]))
    return done.stdout


def listed(root):
    """All files that git knows or does not ignore."""
    names = said(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root)
    return sorted(name for name in names.split("\0") if name and os.path.isfile(root / name))


class Copy:
    """A copy of the tree in a folder, with its builds."""

    def __init__(self, root, folder):
        self.root = pathlib.Path(root)
        self.temporary = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="brim-mutate-")).resolve()
        self.tree = self.folder / "tree"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)  # an agent gives up the rights of root
        self.names = []
        self.room = self.find_room()

    def find_room(self):
        """The command that gives a test a room of its own, or nothing."""
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0:
            unshare[1:1] = ["--user", "--map-root-user"]
        room = [*unshare, "sh", "-c", ROOM, "room", str(self.folder)]
        try:
            tried = subprocess.run([*room, "/", "true"], stderr=subprocess.DEVNULL)
        except OSError:
            return []
        return room if tried.returncode == 0 else []

    def fill(self):
        """Bring the copy to what the tree is; files that are the same stay as they are."""
        self.names = listed(self.root)
        for name in self.names:
            self.put(name, (self.root / name).read_bytes(), (self.root / name).stat().st_mode)
        known = set(self.names)
        for old in listed(self.tree) if (self.tree / ".git").exists() else []:
            if old not in known:
                (self.tree / old).unlink()
        if not (self.tree / ".git").exists():
            said(["git", "init", "-q"], cwd=self.tree)  # tests ask git for the files there are
        said(["git", "add", "-A"], cwd=self.tree)
        self.link("web/node_modules", self.tree / "web/node_modules")
        self.link("../shared", self.folder / "shared")

    def put(self, name, content, mode):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
        path.chmod(mode)

    def link(self, name, path):
        """What lies beside the tree or is ignored in it, where it is there."""
        there = (self.root / name).resolve()
        if there.exists() and not os.path.lexists(path):
            path.symlink_to(there)

    def read(self, name):
        return (self.tree / name).read_text(encoding="utf-8")

    def write(self, name, text):
        (self.tree / name).write_text(text, encoding="utf-8")

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Build:
    """A build directory of the copy."""

    def __init__(self, copy, kind):
        self.copy, self.kind = copy, kind
        self.path = copy.tree / "build" / kind
        where = {"CCACHE_BASEDIR": str(copy.tree), "CCACHE_NOHASHDIR": "1"}
        self.env = {**os.environ, **where}

    def configure(self):
        flags = list(FLAGS[self.kind])
        if self.kind == "reach":
            dump = self.copy.folder / "dump.h"
            dump.write_text(DUMP)
            flags.append("-Dc_args=-w -g1 -include %s" % dump)
        cc = "clang" if self.kind == "clang" else "gcc"
        cc = "ccache " + cc if shutil.which("ccache") else cc
        env = {**self.env, "CC": cc}
        if not (self.path / "build.ninja").exists():
            shutil.rmtree(self.path, ignore_errors=True)
            said(["meson", "setup", str(self.path), *flags], cwd=self.copy.tree, env=env)
        else:  # what is kept may be of other meson.build
            said(["ninja", "-C", str(self.path), "build.ninja"], env=env)

    def make(self, targets=(), keep=True):
        """Whether ninja could build; what it said is in self.log. What is broken is not kept."""
        env = self.env if keep else {**self.env, "CCACHE_READONLY": "1"}
        done = subprocess.run(
            ["ninja", "-C", str(self.path), *targets],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            text=True,
            errors="replace",
        )
        self.log = done.stdout
        return done.returncode == 0

    def found(self, path):
        """Lines of a C file in which compilers or clang-tidy find something."""
        self.make([self.objects()[path]], keep=False)
        if self.kind == "clang":
            tidy = ["clang-tidy", "--quiet", "-p", str(self.path), str(self.copy.tree / path)]
            done = subprocess.run(tidy, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  cwd=self.copy.tree, text=True, errors="replace")
            self.log += done.stdout
        named = re.escape(os.path.basename(path)) + r":(\d+):\d+: (?:error|warning):"
        return {int(line) for line in re.findall(named, self.log)}

    def introspect(self, what):
        return json.loads(said(["meson", "introspect", "--" + what, str(self.path)]))

    def objects(self):
        """Of each C file of the copy the object made of it, by its name."""
        found = {}
        for entry in json.loads((self.path / "compile_commands.json").read_text()):
            name = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
            found.setdefault(os.path.relpath(name, self.copy.tree), entry["output"])
        return found

    def tests(self):
        """All tests of the build that may be asked, and those of lint."""
        targets = {t["id"]: t for t in self.introspect("targets")}
        found, tree = [], self.copy.tree
        for test in self.introspect("tests"):
            suites = {name.split(":")[-1] for name in test["suite"]}
            made, files = [], []
            for each in test["depends"]:
                target = targets[each]
                made += [os.path.relpath(name, self.path) for name in target["filename"]]
                for source in target.get("target_sources", []):
                    files += [os.path.relpath(name, tree) for name in source["sources"]]
            files += [os.path.relpath(word, tree) for word in test["cmd"] if word.endswith(".py")]
            folder = test["workdir"] or str(self.path)
            found.append(
                Test(test["name"], test["cmd"], test["env"], folder, suites, made, files, None)
            )
        asked = [test for test in found if "lint" in test.suites or not test.suites & LEFT_OUT]
        shared = collections.Counter(name for test in asked for name in set(test.files))
        return [
            test._replace(files=sorted(n for n in set(test.files) if shared[n] == 1))
            for test in asked
        ]


def moved(test, copy, old, new):
    """A test of one build as that of another one."""
    one, other = str(copy.tree / "build" / old) + "/", str(copy.tree / "build" / new) + "/"
    return test._replace(
        command=[(word + "/").replace(one, other)[:-1] for word in test.command],
        env={name: (value + "/").replace(one, other)[:-1] for name, value in test.env.items()},
        folder=(test.folder + "/").replace(one, other)[:-1],
    )


def environment(test, more):
    """Of a test: the same memory, language and folders for whoever calls."""
    env = {**os.environ, "MALLOC_PERTURB_": "165", "LC_ALL": "C.UTF-8"}
    env.pop("TMPDIR", None)
    return {**env, "PYTHONDONTWRITEBYTECODE": "1", **test.env, **more}


def failed(test, status, output):
    """What is wrong with an end of a test, or None."""
    if status == 77:
        return None
    if status != 0:
        return "a signal" if status < 0 or status > 128 else "a failure"
    plan = re.search(r"^1\.\.(\d+)", output, re.M)
    if plan and len(re.findall(r"^ok\b", output, re.M)) != int(plan[1]):
        return "a failure"
    return None


class Running:
    """A test that runs."""

    def __init__(self, copy, test, limit, more=None, until_failure=False):
        self.test, self.limit, self.begin = test, limit, time.monotonic()
        self.out = tempfile.TemporaryFile(mode="w+", errors="replace")
        command = list(test.command)
        if until_failure and any("run_pytest" in word for word in command):
            command.append("-x")
        if copy.room:
            command = [*copy.room, test.folder, *command]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self.out,
            stderr=subprocess.STDOUT,
            cwd=test.folder,
            env=environment(test, more or {}),
            start_new_session=True,
        )

    def seconds(self):
        return time.monotonic() - self.begin

    def poll(self):
        """None while it runs; else what is wrong with it, '' for nothing."""
        status = self.process.poll()
        if status is None:
            if self.seconds() < self.limit:
                return None
            self.stop()
            return "it did not end"
        self.out.seek(0)
        wrong = failed(self.test, status, self.out.read())
        self.stop()
        return wrong or ""

    def stop(self):
        """End it and what it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def words(self):
        self.out.seek(0)
        return self.out.read()


def run_all(copy, tests, at_a_time, limit, more=None, until_failure=False):
    """Run tests beside each other; yields (Running, what is wrong or '') as they end."""
    waiting, running = list(tests), []
    try:
        while waiting or running:
            while waiting and len(running) < at_a_time:
                test = waiting.pop(0)
                env = more(test) if more else None
                running.append(Running(copy, test, limit(test), env, until_failure))
            for each in list(running):
                wrong = each.poll()
                if wrong is None:
                    continue
                running.remove(each)
                yield each, wrong
                if wrong and until_failure:
                    return
            time.sleep(0.003)
    finally:
        for each in running:
            each.stop()


def digest(root, names):
    """A number for the content of files."""
    h = hashlib.sha256()
    for name in names:
        content = (root / name).read_bytes()
        h.update(b"%s %d\n" % (name.encode(), len(content)) + content)
    return h.hexdigest()[:24]
