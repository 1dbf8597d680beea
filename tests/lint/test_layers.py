"""Who includes whom, how long files and functions are, and where state may live."""

import os
import re

import tree

FILE_LINES = 1000
FUNCTION_LINES = 80
ROOM_FILES = 40

MAY_GETENV = ("src/base/conf.c", "src/base/opt.c", "src/step/open.c", "plugins/")
MAY_HAVE_STATE = ("src/base/log.c",)
# Made of files of data/ (its meson.build), of web/, and of what git knows.
GENERATED = re.compile(r"^(\w+_(csv|ini)|site|commit)\.h$")

SOURCES = tree.files(".c", ".h", under=("src/", "include/", "plugins/"))
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
# What reads a clock, a file or chance, or talks.
IMPURE = re.compile(
    r"(?<![\w.>])(fopen|open|openat|read|pread|time|clock_gettime|getenv|getrandom|printf|fprintf"
    r"|puts|perror)\s*\("
)


def code(path):
    """The text with comments and string literals blanked, line numbers kept."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    return re.sub(pattern, blank, tree.read(path), flags=re.S)


def report(bad):
    assert not bad, "\n" + "\n".join(bad)


def test_the_table_names_every_folder():
    uses, _ = tree.layers()
    there = {path.split("/")[1] for path in SOURCES if path.startswith("src/")}
    missing = sorted(there - set(uses))
    report([f"src/{name}/ is not in the table of docs/ARCHITECTURE.md" for name in missing])
    for name, allowed in uses.items():
        report([f"src/{name}/ uses unknown {a}" for a in sorted(allowed - set(uses))])
    has_no_circle(uses)


def has_no_circle(uses):
    """Taking away those that use nothing that is left must end with nothing."""
    left = {name: set(allowed) for name, allowed in uses.items()}
    while left:
        low = {name for name, allowed in left.items() if not allowed & set(left)}
        assert low, f"these use each other in a circle: {sorted(left)}"
        left = {name: allowed for name, allowed in left.items() if name not in low}


def room(path):
    """The sub-room of a file or of a name that is included: "probe/kernel", "probe/." for what lies
    in the room itself; None outside of src."""
    if path.startswith("src/"):
        path = path[4:]
    folder = os.path.dirname(path)
    return folder if "/" in folder else f"{folder}/."


def test_the_table_names_every_sub_room():
    uses = tree.sub_rooms()
    there = {room(path) for path in SOURCES if path.startswith("src/")}
    there = {name for name in there if not name.endswith("/.")}
    named = {name for name in uses if not name.endswith("/.")}
    report([f"src/{name}/ is not in the table of sub-rooms" for name in sorted(there - named)])
    report([f"src/{name}/ has no files" for name in sorted(named - there)])
    for name, allowed in uses.items():
        report([f"src/{name}/ uses unknown {a}" for a in sorted(allowed - set(uses))])
    has_no_circle(uses)


def test_no_room_is_deeper_than_two():
    report([path for path in SOURCES if path.startswith("src/") and path.count("/") > 3])


def test_includes_of_sub_rooms_point_down():
    uses = tree.sub_rooms()
    bad = []
    for path in SOURCES:
        if not path.startswith("src/"):
            continue
        here = room(path)
        for name in INCLUDE.findall(tree.read(path)):
            target = room(name)
            if not os.path.isfile(os.path.join(tree.ROOT, "src", name)):
                continue
            if target.split("/")[0] == here.split("/")[0] and target != here:
                if target not in uses.get(here, ()):
                    bad.append(f'{path}: "{name}": src/{here}/ may not use src/{target}/')
    report(bad)


def test_private_headers_stay_in_their_room():
    bad = []
    for path in SOURCES:
        for name in INCLUDE.findall(tree.read(path)):
            if name.endswith("_private.h") and not path.startswith(f"src/{os.path.dirname(name)}/"):
                bad.append(f'{path}: "{name}" is private to src/{os.path.dirname(name)}/')
    report(bad)


def test_no_name_hides_another():
    """A quoted include is first looked for beside the file that has it: src/cmd/optimize/x.h would
    hide src/optimize/x.h from the files of src/cmd."""
    there = {path[4:] for path in SOURCES if path.startswith("src/")}
    hidden = {path: path.split("/", 1)[1] for path in there}
    report([f"src/{path} hides src/{name}" for path, name in hidden.items() if name in there])


def test_rooms_are_small():
    count = {}
    for path in tree.files():
        folder = os.path.dirname(path)
        count[folder] = count.get(folder, 0) + 1
    report([f"{f}/: {n} files (at most {ROOM_FILES})" for f, n in count.items() if n > ROOM_FILES])


def test_includes_point_down():
    uses, _ = tree.layers()
    bad = []
    for path in SOURCES:
        here = path.split("/")[1] if path.startswith("src/") else None
        for name in INCLUDE.findall(tree.read(path)):
            target = name.split("/")[0]
            if GENERATED.match(name) or target == "brim":
                continue
            if here is None and os.path.isfile(
                os.path.join(tree.ROOT, os.path.dirname(path), name)
            ):
                continue  # a plugin's own
            if "/" not in name:
                bad.append(f'{path}: "{name}": write it with its folder, "{here}/{name}"')
            elif target != here and target not in uses.get(here, ()):
                bad.append(f'{path}: "{name}": src/{here}/ may not use {target}')
            elif not os.path.isfile(os.path.join(tree.ROOT, "src", name)):
                bad.append(f'{path}: "{name}": there is no such file')
    report(bad)


def test_pure_folders_do_nothing_but_compute():
    _, pure = tree.layers()
    bad = []
    for path in SOURCES:
        if path.startswith("src/") and path.split("/")[1] in pure and path.endswith(".c"):
            for number, line in enumerate(code(path).splitlines(), 1):
                for call in IMPURE.findall(line):
                    bad.append(f"{path}:{number}: {call}() in a folder that is pure")
    report(bad)


def test_files_are_short():
    bad = []
    for path in tree.files(".c", ".h", ".py", ".sh"):
        lines = tree.read(path).count("\n")
        if lines > FILE_LINES:
            bad.append(f"{path}: {lines} lines (at most {FILE_LINES})")
    report(bad)


def test_functions_are_short():
    bad = []
    for path in tree.files(".c", ".h"):
        begin = None
        for number, line in enumerate(tree.read(path).splitlines(), 1):
            if line.startswith("{"):
                begin = number
            elif line.startswith("}") and begin is not None:
                if number - begin + 1 > FUNCTION_LINES:
                    bad.append(f"{path}:{begin}: {number - begin + 1} lines in a function")
                begin = None
    report(bad)


def test_the_environment_is_read_in_few_places():
    bad = []
    for path in SOURCES:
        if not path.startswith(MAY_GETENV):
            for number, line in enumerate(code(path).splitlines(), 1):
                if re.search(r"\b(secure_)?getenv\s*\(|\benviron\b", line):
                    bad.append(f"{path}:{number}: getenv() outside {', '.join(MAY_GETENV)}")
    report(bad)


def is_const(declaration):
    """What a declaration declares cannot be assigned to: the last word of its type is const."""
    if "*" in declaration:
        return re.search(r"\*\s*const\b[^*]*$", declaration) is not None
    return re.search(r"\bconst\b", declaration) is not None


def test_there_are_no_mutable_globals():
    # "static int n;", "int n = 0;", "static char *names[] = {": a type, a name, then ; or = or [.
    variable = re.compile(
        r"^(?!\s*(?:typedef|extern|return|goto|else|case|struct \w+;|enum|union \w+;|#))"
        r"(?P<static>static\s+)?(?P<type>"
        r"(?:_Thread_local\s+|const\s+|volatile\s+|struct\s+|enum\s+|unsigned\s+)*"
        r"\w+[\s*](?:const\b|[\s*])*)\w+\s*(?:\[[^\]]*\]\s*)*[=;]"
    )
    local = re.compile(r"^\s+static\s+(?!inline\b|_Static_assert)(?P<rest>[^=;(]*)[=;\[]")
    bad = []
    for path in SOURCES:
        if path in MAY_HAVE_STATE or not path.startswith("src/"):
            continue
        depth = 0
        for number, line in enumerate(code(path).splitlines(), 1):
            if depth == 0 and not line.startswith((" ", "}")):
                match = variable.match(line)
                if match and not is_const((match["static"] or "") + match["type"]):
                    bad.append(f"{path}:{number}: mutable global: {line.strip()}")
            else:
                match = local.match(line)
                if match and not is_const(match["rest"]):
                    bad.append(f"{path}:{number}: mutable static: {line.strip()}")
            depth += line.count("{") - line.count("}")
    report(bad)
