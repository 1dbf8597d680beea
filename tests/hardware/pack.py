"""What a machine needs that has Python and gcc and nothing else: a folder of at most 64 MiB beside
the tree, made on a machine where brim is built.

How brim becomes a program that needs nothing but libc: its last link, as ninja knows it, is done
again with libuv, SQLite and zlib as archives in place of shared libraries. Where libc is too old
for that program, gcc compiles the same sources there, by the commands that ninja knows, with the
headers and archives of the three and the generated sources from the folder. libmicrohttpd, which
the agent opens when it serves, is copied with what it needs into lib/, of which the agent alone is
told.

The folder is build/hardware: as deep in the tree as the one that it is made of, so that the paths
in these commands hold, and above src/cmd/brim, so that brim finds its shim."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import about
from section import ROOT, Failed

MOST_B = 64 << 20
PROGRAM, STEP = "src/cmd/brim", "src/step/libbrim-step.so.1.0.0"
MARK = "plugins/torch/brim_mark.abi3.so"
ARCHIVES = {"libuv.so": "libuv_a.a", "libsqlite3.so": "libsqlite3.a", "libz.so": "libz.a"}
HEADERS = ("uv.h", "uv", "sqlite3.h", "zlib.h", "zconf.h", "microhttpd.h")
SERVES = "libmicrohttpd.so.12"
LIBC = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s)\.so|ld-linux")
HERE = "@ROOT@"  # in place of the tree's own path
COMMANDS = "commands.json"


def needed(program):
    """The shared libraries that a program names; [] where nothing tells."""
    try:
        done = subprocess.run(
            ["readelf", "-d", str(program)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        return []
    return re.findall(r"Shared library: \[(.*?)\]", done.stdout)


def commands(build, target):
    """What makes a target, in order."""
    done = subprocess.run(
        ["ninja", "-C", str(build), "-t", "commands", target], stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise Failed("%s is no build folder of ninja: script/test quick makes build/gcc" % build)
    return [line for line in done.stdout.splitlines() if not line.startswith("ninja:")]


def archive(path, to):
    """A word of a link: the archive in place of the shared library, both in one folder."""
    folder, name = os.path.split(path)
    if name not in ARCHIVES:
        return path
    return os.path.join(to, ARCHIVES[name]) if to else os.path.join(folder, ARCHIVES[name])


def static_link(command, output, archives=""):
    """The last link again, into another file."""
    words = [archive(word, archives) for word in command.split()]
    words[words.index("-o") + 1] = str(output)
    return " ".join(words) + " -static-libgcc -Wl,-s"


def is_compile(command):
    return re.search(r"\s-c\s", command) is not None


def is_made_of_c(command):
    """Compilers and archives, and not what Python or ccache make before."""
    return is_compile(command) or re.search(r"\bar\b|-o ", command) is not None


def portable(command):
    """As it is said anywhere: the tree's path is left open, ccache is not asked, and warnings are
    not named, of which another gcc has others."""
    command = re.sub(r"^(?:\S*/)?ccache ", "", command)
    command = command.replace(str(ROOT), HERE)
    return re.sub(r" (?:-W(?!l,)\S*|-g)(?= )", "", command)


def generated(build):
    """Sources and headers that the build has made."""
    return [path for path in build.rglob("*.[ch]")
            if "meson-private" not in path.parts and "meson-info" not in path.parts]


def copy(source, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, to)


def libraries_of(library):
    """{name: path} of a library and of all that it needs but libc."""
    done = subprocess.run(["ldd", library], stdout=subprocess.PIPE, text=True)
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", done.stdout, re.M))
    found[os.path.basename(library)] = library
    return {name: path for name, path in found.items() if not LIBC.match(name)}


def find_library(name):
    """Where the loader has it."""
    done = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True)
    found = re.search(r"^\s*%s \(.*\) => (\S+)$" % re.escape(name), done.stdout, re.M)
    return found[1] if found else None


def sources(build, folder, said):
    """What gcc needs there: headers, archives, generated sources, commands."""
    linked = [word for word in said[-1].split() if os.path.basename(word) in ARCHIVES]
    for word in linked:
        copy(archive(word, ""), folder / "archives" / ARCHIVES[os.path.basename(word)])
    for name in HEADERS:
        source = pathlib.Path("/usr/include") / name
        if source.is_dir():
            shutil.copytree(source, folder / "include" / name)
        elif source.exists():
            copy(source, folder / "include" / name)
    for path in generated(build):
        copy(path, folder / path.relative_to(build))
    link = static_link(said[-1], PROGRAM, "archives")
    made = [portable(c) for c in said[:-1] if is_made_of_c(c)] + [portable(link)]
    (folder / COMMANDS).write_text(json.dumps(made, indent=0), encoding="utf-8")


def check(folder):
    """The program starts and needs libc alone; all of it is small enough."""
    program = folder / PROGRAM
    subprocess.run([str(program), "--version"], check=True, stdout=subprocess.DEVNULL)
    more = [name for name in needed(program) if not LIBC.match(name)]
    if more:
        raise Failed("%s needs %s" % (program, ", ".join(more)))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MOST_B:
        raise Failed("%s has %d MiB: 64 may be carried" % (folder, size >> 20))
    return size


def fill(build, folder):
    for target in (PROGRAM, STEP):
        if not (build / target).exists():
            raise Failed("%s has no %s: script/test quick builds it" % (build, target))
    said = commands(build, PROGRAM)
    (folder / PROGRAM).parent.mkdir(parents=True)
    subprocess.run(static_link(said[-1], folder / PROGRAM), shell=True, cwd=build, check=True)
    copy(build / STEP, folder / "src" / "step" / "libbrim-step.so")
    if (build / MARK).exists():
        copy(build / MARK, folder / MARK)
    serves = find_library(SERVES)
    for name, path in libraries_of(serves).items() if serves else ():
        copy(path, folder / "lib" / name)
    sources(build, folder, said)
    (folder / "commit").write_text(about.commit() + "\n", encoding="utf-8")


def make(folder):
    """script/hardware --pack: 0, or 1 with a sentence."""
    build = pathlib.Path(os.environ.get("BUILD", ROOT / "build" / "gcc")).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    try:
        fill(build, folder)
        size = check(folder)
    except (Failed, OSError, subprocess.CalledProcessError) as e:
        shutil.rmtree(folder, ignore_errors=True)
        print("hardware: %s" % e, file=sys.stderr)
        return 1
    print("%s: %.1f MiB; brim needs libc alone" % (folder, size / (1 << 20)))
    return 0


def compile_one(command, folder):
    output = re.search(r"-o (\S+)", command)
    if output:
        (folder / output[1]).parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return None if done.returncode == 0 else "%s: %s" % (command[:60], done.stdout[-300:])


def compile_here(folder, seconds):
    """Make the program by gcc alone, of what was packed. Returns the seconds that it took."""
    if not (folder / COMMANDS).exists():
        raise Failed("no brim that starts, and nothing packed in build/hardware: script/hardware "
                     "--pack makes that where brim is built")
    begin = time.monotonic()
    said = json.loads((folder / COMMANDS).read_text(encoding="utf-8"))
    said = [c.replace(HERE, str(ROOT)) for c in said]
    compiles = ["%s -I%s" % (c, folder / "include") for c in said if is_compile(c)]
    (folder / PROGRAM).unlink(missing_ok=True)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for wrong in pool.map(lambda c: compile_one(c, folder), compiles):
            if wrong or time.monotonic() - begin > seconds:
                pool.shutdown(wait=False)
                raise Failed(wrong or "gcc took longer than %.0f s" % seconds)
    for command in (c for c in said if not is_compile(c)):
        wrong = compile_one(command, folder)
        if wrong:
            raise Failed(wrong)
    return time.monotonic() - begin
