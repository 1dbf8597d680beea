#!/usr/bin/env python3
"""Run clang-tidy, or gcc's analyzer, over the C files below a source folder:

    tidy.py BUILD-DIRECTORY FOLDER [--analyzer] [--changed BASE] [--most N]

--analyzer compiles them by the commands of a build directory of gcc and has it follow each path:
what may be NULL, for want of memory, and is not looked at.

--changed looks only at what differs from the commit BASE, in commits or in the working tree: C
files, and for a header the C file of its name. An empty BASE is what was last fetched of the
branch, or the commit before this one where nothing differs from that. --most N looks at N files
at most that are not known, and tells how many it left. Prints what it finds, and ends with 1
then. What was found clean is not looked at again while nothing that it is made of has changed:
the file and all that it includes, its compiler's command, the checks, clang-tidy itself
(known.py).
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

import known

KNOWN = known.Known("tidy")
AT_A_TIME = 8  # it starts slowly, and reads the commands of all files each time
# An arena frees what it owns (base/arena.h): nothing that this one could see.
ANALYZER = ["-fanalyzer", "-Werror", "-Wno-analyzer-malloc-leak", "-fdiagnostics-color=never"]


def said(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)


@functools.lru_cache(maxsize=None)
def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def compiler(entry, *more):
    """The command of a file, which writes nothing, and more words."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    words = [w for w in words[:at] + words[at + 2 :] if w not in ("-c", "-MD", "-MQ", "-MF")]
    return [w for w in words if not w.endswith((".o", ".o.d")) and w != "ccache"] + list(more)


def parts(entry):
    """The files that one is made of, as its compiler names them."""
    made = said(compiler(entry, "-M"), cwd=entry["directory"], check=True).stdout
    return made.replace("\\\n", " ").split()[1:]


def key(entry, common):
    """What a verdict on a file depends on."""
    h = hashlib.sha256(common)
    h.update(entry["command"].encode())
    for part in parts(entry):
        h.update(part.encode() + digest(os.path.join(entry["directory"], part)).encode())
    return h.hexdigest()


def look(build, entries):
    """Entries to look at, each with its key: (status, what clang-tidy says)."""
    files = [entry["file"] for entry, _ in entries]
    command = ["clang-tidy", "--quiet", "--warnings-as-errors=*", "-p", build]
    p = said(command + files, stderr=subprocess.STDOUT)
    if p.returncode == 0:
        for _, name in entries:
            KNOWN.add(name)
    return p.returncode, p.stdout


def analyze(entries):
    """The same by gcc's analyzer."""
    status, text = 0, ""
    for entry, name in entries:
        p = said(compiler(entry, *ANALYZER, "-S", "-o", os.devnull), cwd=entry["directory"],
                 stderr=subprocess.STDOUT)
        if p.returncode == 0:
            KNOWN.add(name)
        status, text = status or p.returncode, text + p.stdout
    return status, text


def is_finding(line):
    return ": error:" in line or ": warning:" in line or line.startswith("error")


def git(*args):
    """The lines that git prints; none where it fails: no such commit, or no repository."""
    p = said(["git", *args], stderr=subprocess.DEVNULL)
    return p.stdout.splitlines() if p.returncode == 0 else []


def differ(base):
    fork = git("merge-base", base, "HEAD")
    new = git("ls-files", "--others", "--exclude-standard")
    changed = ("diff", "--name-only", "--no-renames", "--relative")
    return set(git(*changed, *fork) + new) if fork else set()


def changed(base):
    """The C files whose text, or whose header's, differs from that commit."""
    bases = [base] if base else ["@{upstream}", "origin/HEAD", "HEAD^"]
    names = next((names for names in map(differ, bases) if names), set())
    return {os.path.abspath(os.path.splitext(name)[0] + ".c") for name in names
            if name.endswith((".c", ".h"))}


def parse(args):
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--analyzer", action="store_true")
    parser.add_argument("--changed", metavar="BASE")
    parser.add_argument("--most", type=int, metavar="N")
    return parser.parse_args(args)


def main(args):
    root = os.path.abspath(args.folder) + os.sep
    with open(os.path.join(args.build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    for entry in entries:
        entry["file"] = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
    found = {e["file"]: e for e in entries if e["file"].startswith(root)}
    if not found:
        return 1
    if args.changed is not None:
        wanted = changed(args.changed)
        found = {path: entry for path, entry in found.items() if path in wanted}
    if args.analyzer:
        common = " ".join(ANALYZER) + said(["gcc", "--version"]).stdout
    else:
        common = said(["clang-tidy", "--version"]).stdout + pathlib.Path(".clang-tidy").read_text()
    findings, status = set(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        keys = pool.map(lambda entry: key(entry, common.encode()), found.values())
        left = [(entry, name) for entry, name in zip(found.values(), keys) if name not in KNOWN]
        unseen = left[args.most:] if args.most is not None else []
        left = left[: len(left) - len(unseen)]
        pieces = [left[i : i + AT_A_TIME] for i in range(0, len(left), AT_A_TIME)]
        for code, text in pool.map(
            lambda piece: analyze(piece) if args.analyzer else look(args.build, piece), pieces
        ):
            status = status or code
            print(text, file=sys.stderr)
            findings.update(filter(is_finding, text.splitlines()))
    looked = "%d of %d files were looked at" % (len(left), len(found))
    looked += "; %d are left for script/night" % len(unseen) if unseen else ""
    print("\n".join(sorted(findings)) or looked)
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main(parse(sys.argv[1:])))
