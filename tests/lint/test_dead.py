"""Every function that a header declares is reached from a program.

Found in the text, so that every build and every compiler finds the same: a function, a table or a
macro reaches what it names. Programs are main(), the plugins and the library of marks; a function
that only tests call, or only a function that nothing reaches, is dead."""

import re

import tree

# Functions that no program calls, each with the reason why it stays. This list only gets shorter.
EXCEPTIONS = {
    "audit_check_name": "the tests of each check list them",
    "judge_limits_name": "the tests of each threshold list them",
    "pack_count": "the tests and the fuzzer compare it with the entries of the text",
    "sched_devices": "the tests compare a job's devices with what the actions gave it",
    "sched_reserve": "the tests check that batch jobs leave it free",
    "service_reserve": "sched_reserve() asks it",
    "space_has": "the tests check what a search finds against all layouts, one by one",
}

# What is called from outside: the library of marks, and what the plugins call.
ENTRANCES = ("src/step/", "plugins/")
BLANK = re.compile(
    r"/\*.*?\*/|//[^\n]*|#[ \t]*include[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S
)
CLEANUP = re.compile(r"^DEFINE_CLEANUP\((.*), (\w+)\)$", re.M)
# What is called through a pointer to a struct is another name: ops->open().
WORD = re.compile(r"(?<!\.)(?<!->)\b[A-Za-z_]\w*")
MACRO = re.compile(r"\s*#\s*define\s+(\w+)")
ATTRIBUTE = re.compile(r"^[A-Z_]+(\(.*\))?\s*$", re.M)
# A table or variable that has a value, and a function that has a body, with @ for what braces hold.
OBJECT = re.compile(r"^[^=()]*?\b(\w+)\s*(?:\[[^\]]*\]\s*)*=")
FUNCTION = re.compile(r"^[^(=]*?\b(\w+)\s*\([^=]*\)\s*@$")


def items(path):
    """The top-level items of a file: a function, a declaration, a line for the preprocessor."""
    text = BLANK.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), tree.read(path))
    text = CLEANUP.sub(r"static inline void \2p(\1 **p) { \2(*p); }", text)
    item, depth = [], 0
    for line in text.replace("\\\n", " ").splitlines():
        if line.lstrip().startswith("#"):
            yield line
            continue
        item.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0 and (not line.strip() or line.rstrip().endswith((";", "}"))):
            yield "\n".join(item)
            item = []
    yield "\n".join(item)


def defined(item):
    """The name that an item defines, and whether it is a function: ("clock_wall_ns", True); None
    for what defines nothing, a prototype for one."""
    macro = MACRO.match(item)
    if macro:
        return macro.group(1), False
    text = ATTRIBUTE.sub("", item)
    while True:
        text, inner = re.subn(r"{[^{}]*}", "@", text)
        if not inner:
            break
    function = FUNCTION.search(text.strip())
    found = function or OBJECT.search(text.strip())
    return (found.group(1), bool(function)) if found else None


def read_tree():
    """({(file, name): names that it uses}, {name: file} of what other files can call)."""
    uses, public = {}, {}
    for path in tree.files(".c", ".h", under=("src/", "include/", "plugins/")):
        for item in items(path):
            found = defined(item)
            if not found:
                continue
            name, function = found
            words = set(WORD.findall(item)) - {name}
            private = "static" in item.partition("{")[0].split() and path.endswith(".c")
            uses.setdefault((path, name), set()).update(words)
            if path.endswith(".h") or MACRO.match(item) or not private:
                public.setdefault(name, (path, function and path.endswith(".c")))
    return uses, public


def reached(uses, public):
    """All that is reached from the programs, as (file, name)."""
    left = [node for node in uses if node[1] == "main" or node[0].startswith(ENTRANCES)]
    seen = set(left)
    while left:
        path, _ = here = left.pop()
        for word in uses[here]:
            node = (path, word)
            if node not in uses and word in public:
                node = (public[word][0], word)
            if node in uses and node not in seen:
                seen.add(node)
                left.append(node)
    return seen


def test_every_function_is_reached_from_a_program():
    uses, public = read_tree()
    assert sum(function for _, function in public.values()) > 1000, "functions are not found"
    seen = reached(uses, public)
    dead = {
        name: path
        for name, (path, function) in public.items()
        if function and (path, name) not in seen
    }
    bad = [f"{dead[name]}: no program calls {name}()" for name in set(dead) - set(EXCEPTIONS)]
    bad += [f"{name}() is called or gone: take it off" for name in set(EXCEPTIONS) - set(dead)]
    assert not bad, "\n" + "\n".join(sorted(bad))
