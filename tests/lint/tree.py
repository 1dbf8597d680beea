"""The files of the repository, and what docs/ARCHITECTURE.md says of its folders."""

import os
import re
import subprocess

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def files(*suffixes, under=("",)):
    """Paths relative to ROOT, sorted: those git knows or would add; without git, all but builds."""
    try:
        said = subprocess.run(
            ["git", "-C", ROOT, "ls-files", "-z", "-c", "-o", "--exclude-standard"],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        found = said.stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        found = []
        for folder, folders, names in os.walk(ROOT):
            folders[:] = [f for f in folders if not f.startswith(("build", ".git", "__pycache__"))]
            found += [os.path.relpath(os.path.join(folder, n), ROOT) for n in names]
    return sorted(
        path
        for path in set(found)
        if path
        and os.path.isfile(os.path.join(ROOT, path))
        and (not suffixes or path.endswith(suffixes))
        and path.startswith(tuple(under))
    )


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def layers():
    """{room below src: set of the rooms that it may use}, and the set of those that must be pure,
    from the first table in docs/ARCHITECTURE.md: | `src/probe/` | what | model, base | (a name may
    be "pure")."""
    uses, pure = {}, set()
    row = re.compile(r"^\| `src/(\w+)/` \|.*\| ([^|]*) \|$", re.M)
    for name, words in row.findall(read("docs/ARCHITECTURE.md")):
        allowed = {w.strip() for w in words.split(",")} - {"libc", ""}
        if "pure" in allowed:
            pure.add(name)
        uses[name] = allowed - {"pure"}
    return uses, pure


def sub_rooms():
    """{"room/sub": set of the "room/sub" that it may use}, from the second table: its last column
    names sub-rooms of the same room, or "-". "." stands for the files of the room itself: those
    use all of its sub-rooms but the ones that use them."""
    uses = {}
    row = re.compile(r"^\| `src/(\w+)/(\w+)/` \|.*\| ([^|]*) \|$", re.M)
    for room, sub, words in row.findall(read("docs/ARCHITECTURE.md")):
        names = {w.strip() for w in words.split(",")} - {"-", ""}
        uses[f"{room}/{sub}"] = {f"{room}/{name}" for name in names}
    for room in {name.split("/")[0] for name in uses}:
        uses[f"{room}/."] = {
            name
            for name, allowed in uses.items()
            if name.startswith(f"{room}/") and f"{room}/." not in allowed
        }
    return uses
