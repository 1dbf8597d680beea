"""What the documents say is so: links lead somewhere, commands and options exist."""

import functools
import os
import re
import subprocess

import pytest
import tree

DOCUMENTS = tree.files(".md")
BRIM = os.environ.get("BRIM")
# Written so that this file does not contain what it looks for.
LEFTOVER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
MACHINE = re.compile(r"(?<![\w.~-])/(wo" + r"rk/|tmp/w" + r"t\b)")


def headings(text):
    """Anchors of the headings of a page, as GitHub makes them: words in small letters with "-" for
    blanks, other signs left out; one that comes again gets -1, -2 ..."""
    found, seen = set(), {}
    for line in re.findall(r"^#{1,6} +(.*?) *#*$", fences_out(text), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)
        name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        again = seen.get(name, 0)
        seen[name] = again + 1
        found.add(f"{name}-{again}" if again else name)
    return found


def fences_out(text):
    """A page without its fenced blocks, in which '#' begins a comment and brackets are code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def wrong_links(path, text, read):
    """What of the links of a page leads nowhere. read(path) gives another page's text, or None."""
    bad = []
    for target in re.findall(r"\]\(([^)\s]+)\)", fences_out(text)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        whole = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        there = text if not file else read(whole)
        if there is None:
            bad.append(f"{path}: {target} does not exist")
        elif anchor and anchor not in headings(there):
            bad.append(f"{path}: {target}: there is no such heading")
    return bad


def page(path):
    """The text of a document, "" for what else is there, None where nothing is."""
    if not os.path.exists(os.path.join(tree.ROOT, path)):
        return None
    return tree.read(path) if path.endswith(".md") else ""


def test_links():
    bad = [line for path in DOCUMENTS for line in wrong_links(path, tree.read(path), page)]
    assert not bad, "\n" + "\n".join(bad)


def test_a_link_that_leads_nowhere_is_found():
    b = "# Two words: `x`\n```sh\n# no heading [a](gone.md)\n```\n## Two words x\n"
    read = {"pages/b.md": b}.get
    good = "# Up\n[](b.md) [2](b.md#two-words-x) [3](b.md#two-words-x-1) [4](#up) [5](http://x/#z)"
    assert not wrong_links("pages/a.md", good, read)
    for target in ("gone.md", "b.md#no-heading-a", "b.md#two-words-x-2", "#down"):
        assert wrong_links("pages/a.md", good + f"[6]({target})", read), target


# Named in the tree as the pages of others.
PAGES_OF_OTHERS = {"docs/performance.md"}


def test_pages_that_the_tree_names_are_there():
    """A page of docs in a comment, a help text, a script or a test."""
    bad = []
    for path in tree.files():
        try:
            text = tree.read(path)
        except UnicodeDecodeError:
            continue
        for name in set(re.findall(r"\bdocs/[\w/-]+\.md\b", text)) - PAGES_OF_OTHERS:
            if not os.path.exists(os.path.join(tree.ROOT, name)):
                bad.append(f"{path}: there is no {name}")
    assert not bad, "\n" + "\n".join(bad)


def commands(path):
    """(words after "brim") of each command in a document: in fenced blocks, in lines that are
    indented as code, and `between marks`."""
    text = tree.read(path)
    lines = [line for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
             for line in block.splitlines()]
    lines += re.findall(r"^    (?:sudo )?(brim .*)$", fences_out(text), re.M)
    lines += re.findall(r"`((?:sudo )?brim [^`\n]+)`", fences_out(text))
    for line in lines:
        line = re.split(r"\s#\s", line)[0]
        for words in re.findall(r"(?:^|[\s/])brim[ \t]+([^|;&>]+)", line):
            yield words.split()


def brim(*words):
    said = subprocess.run(
        [BRIM, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    return said.stdout


def unknown(help_of, name, rest):
    """What of a command line its help does not list: the command, a subcommand, options."""
    if name.startswith("-") or name.endswith(":") or re.match(r"(help|[A-Z.]+)$", name):
        return  # what a command prints, its name in capitals, or help itself
    if not re.search(rf"^  {re.escape(name)} ", help_of("help"), re.M):
        yield f"brim {name}: 'brim help' does not list it"
        return
    said = help_of(name, "--help")
    subs = re.search(r"^subcommands:\n((?:  .*\n)+)", said, re.M)
    first = next((w for w in rest if not w.startswith("-")), "")
    if subs and re.match(r"[a-z]+$", first):
        if not re.search(rf"^  {first} ", subs[1], re.M):
            yield f"brim {name} {first}: --help does not list it"
    if "--" in rest:  # what follows is another program's
        rest = rest[:rest.index("--")]
    for option in (w.split("=")[0] for w in rest if re.match(r"--?[a-zA-Z]", w)):
        if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", said):
            yield f"brim {name} {option}: --help does not list it"


@pytest.mark.skipif(not BRIM, reason="BRIM, the program, is not set")
def test_commands_exist():
    help_of = functools.lru_cache(None)(brim)
    bad = [
        f"{path}: {what}"
        for path in DOCUMENTS for name, *rest in commands(path)
        for what in unknown(help_of, name, rest)
    ]
    assert not bad, "\n" + "\n".join(bad)


def test_what_help_does_not_list_is_found():
    said = {
        ("help",): "  plan  predict\n  run   a job\n",
        ("plan", "--help"): "subcommands:\n  train  search\n\n  --best=N\n",
        ("run", "--help"): "  --name=NAME\n",
    }
    help_of = lambda *words: said[words]
    for line in ("plan train M --best=3", "run --name x -- cc -Wall", "plan MODEL", "run: 3 s"):
        name, *rest = line.split()
        assert not list(unknown(help_of, name, rest)), line
    for line in ("plane x", "plan trian M", "plan train --worst", "run --nome x -- y"):
        name, *rest = line.split()
        assert list(unknown(help_of, name, rest)), line


INDEX = "docs/README.md"


def test_each_page_has_a_question():
    """docs/README.md is a list of questions: it leads to each page, with one command."""
    rows = re.findall(r"^\| (.+\?) \| \[.*\]\((\S+)\) \|(.*)\|$", tree.read(INDEX), re.M)
    pages = {"docs/" + target.split("#")[0] for _, target, _ in rows}
    lost = set(tree.files(".md", under=("docs/",))) - pages - {INDEX}
    assert not lost, f"{INDEX} does not lead to: {sorted(lost)}"
    # Two that are about the source have none.
    bad = [question for question, target, command in rows
           if not re.match(r" `[^`]+` $", command) and not re.match(r"[A-Z]+\.md$", target)]
    assert not bad, f"{INDEX}: no command: {bad}"


# A table that a script makes is as long as its rows.
MADE = {"docs/accuracy.md", "docs/hardware-runs.md"}


def test_pages_are_short():
    """Who has one question reads one page."""
    long = [path for path in tree.files(".md", under=("docs/",))
            if path not in MADE and len(tree.read(path).splitlines()) > 250]
    assert not long, f"more than 250 lines: {long}"


def test_nothing_is_left_over():
    bad = []
    for path in tree.files():
        try:
            text = tree.read(path)
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if LEFTOVER.search(line):
                bad.append(f"{path}:{number}: unfinished: {line.strip()[:80]}")
            if MACHINE.search(line) and not path.startswith("tests/fixtures/"):
                bad.append(f"{path}:{number}: a path of one machine: {line.strip()[:80]}")
    assert not bad, "\n" + "\n".join(bad)


def test_files_that_are_named_are_there():
    """`x.c` and `room/x.c` in a document: some file of the tree has that name."""
    there = ["/" + path for path in tree.files()]
    bad = []
    for path in DOCUMENTS:
        for name in re.findall(r"`((?:[\w-]+/)*\w[\w-]*\.(?:c|h))`", tree.read(path)):
            # NAME and X stand for any.
            if re.search(r"NAME|\bX_", name):
                continue
            if not any(file.endswith("/" + name) for file in there):
                bad.append(f"{path}: there is no {name}")
    assert not bad, "\n" + "\n".join(bad)


NAMED = re.compile(r"(?<![\w<./-])(?:\w+/)?\w\w+\.[ch]\b(?!/)")
# Named in comments as the sources of facts: they are other projects'.
ELSEWHERE = {"bnxt_re/hw_counters.c", "lprocfs_status.c", "smu_v13_0_6_pmfw.h"}


def test_files_that_comments_name_are_there():
    """`x.c` or `room/x.h` in a comment of the program, where it is not a path of another one."""
    there = ["/" + path for path in tree.files()]
    bad = []
    for path in tree.files():
        if not re.match(r"(src|include|plugins)/.*\.[ch]$", path):
            continue
        for comment in re.findall(r"/\*.*?\*/|//[^\n]*", tree.read(path), re.S):
            for name in NAMED.findall(comment):
                named = not re.search(r"NAME|\bX\b", name) and name not in ELSEWHERE
                if named and not any(file.endswith("/" + name) for file in there):
                    bad.append(f"{path}: there is no {name}")
    assert not bad, "\n" + "\n".join(bad)
