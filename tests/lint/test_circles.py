"""Files that need each other in a circle: A uses what B defines and B, through any chain, what A
defines. Such files can only be understood together. The usual reason is a file that holds both the
list of a room and the tools of those on the list: these are two files.

Of C the objects of the build are asked (nm), so that tables of functions count as calls do; of the
shim's Python, what its modules import, in functions too, but not for types alone."""

import ast
import json
import os
import subprocess

import pytest
import tree

# Circles that stay, each with its reason. This list only gets shorter.
KNOWN = {
    "src/cmd/completion.c src/cmd/help.c src/cmd/man.c src/cmd/mcp.c src/cmd/table.c":
        "these commands print the list that has them",
}
# Of builds in which the program carries its libraries (meson: link): they use nothing of others.
ELSEWHERE = {"src/cmd/common/no_loader.c", "src/daemon/http/library_carried.c"}
MOST, LONGEST = 6, 5  # circles, and files of one


def circles(uses):
    """The sets of names that reach each other, of {name: set of names that it uses} (Tarjan)."""
    number, low, stack, found = {}, {}, [], []

    def visit(name):
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in sorted(uses[name]):
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(frozenset(stack[at:]))
            del stack[at:]

    for name in sorted(uses):
        if name not in number:
            visit(name)
    return found


def test_circles_are_found():
    uses = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"f", "a"}, "f": {"e"}}
    assert set(circles(uses)) == {frozenset("bc"), frozenset("ef")}
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def objects():
    """{source: object} of what is built: all of src/, and the extension for Python if it can be."""
    build = os.path.abspath(os.path.join(os.path.dirname(os.environ["BRIM"]), "..", ".."))
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    built = {}
    for row in commands:
        source = os.path.relpath(os.path.join(row["directory"], row["file"]), tree.ROOT)
        path = os.path.join(row["directory"], row["output"])
        if source.startswith(("src/", "plugins/")) and os.path.exists(path):
            built[source] = path
    wanted = set(tree.files(".c", under=("src/",))) - ELSEWHERE
    missing = sorted(wanted - set(built))
    assert not missing, f"no object of {', '.join(missing)} in {build}"
    return built


def symbols():
    """{source: (names it defines, names it uses from elsewhere)}"""
    built = objects()
    said = subprocess.run(
        ["nm", "-A", "-g", "-P", *built.values()], check=True, stdout=subprocess.PIPE
    )
    of = {path: source for source, path in built.items()}
    found = {source: (set(), set()) for source in built}
    for line in said.stdout.decode().splitlines():
        path, name, kind = line.split()[:3]
        found[of[path.rstrip(":")]][kind in "Uvw"].add(name)
    return found


def uses_of_c():
    """{source: {source that it uses: names}}"""
    found = symbols()
    home = {name: source for source, (defined, _) in found.items() for name in defined}
    uses = {source: {} for source in found}
    for source, (_, wanted) in found.items():
        for name in wanted:
            if home.get(name, source) != source:
                uses[source].setdefault(home[name], set()).add(name)
    return uses


def uses_of_python(folder="plugins/torch/"):
    """{path: {path of a module that it imports: its name}}; what only a checker of types sees is
    left out."""
    paths = {
        path[len(folder) : -3].replace("/", "."): path
        for path in tree.files(".py", under=(folder,))
    }
    uses = {path: {} for path in paths.values()}
    for path in uses:
        left = [ast.parse(tree.read(path))]
        while left:
            node = left.pop()
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                left.extend(node.orelse)
                continue
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
            for name in names:
                if name in paths and paths[name] != path:
                    uses[path].setdefault(paths[name], set()).add(name)
            left.extend(ast.iter_child_nodes(node))
    return uses


def shown(circle, uses):
    """What ties each file of a circle to the others."""
    lines = [f"a circle of {len(circle)} files:"]
    for path in sorted(circle):
        others = sorted(circle & set(uses[path]))
        ties = [f"{other} ({', '.join(sorted(uses[path][other]))})" for other in others]
        lines.append(f"    {path} uses {'; '.join(ties)}")
    return "\n".join(lines)


def check(uses, known):
    found = set(circles(uses))
    bad = [shown(c, uses) for c in sorted(found - known, key=sorted)]
    bad += [
        f"no circle any more, or another one: take it off the list: {', '.join(sorted(c))}"
        for c in sorted(known - found, key=sorted)
    ]
    assert not bad, "\n" + "\n".join(bad)


@pytest.mark.skipif("BRIM" not in os.environ, reason="nothing is built")
def test_files_have_no_circles():
    check(uses_of_c(), {frozenset(files.split()) for files in KNOWN})


def test_modules_have_no_circles():
    check(uses_of_python(), set())


def test_the_list_is_short():
    assert len(KNOWN) <= MOST
    assert all(len(files.split()) <= LONGEST for files in KNOWN)
