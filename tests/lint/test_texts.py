"""Texts of checks stand alone: a failing line of TAP says what does not hold, without its file."""

import os
import re
import textwrap

import tree

CHECKS = {"ok": 1, "is_int": 2, "is_str": 2, "tap_ok": 3, "tap_is_int": 3, "tap_is_str": 3}
WORDS = 3  # at least
# A text that begins with these goes on with the one before it, or with a subject from there.
GOES_ON = re.compile(
    r"(and|but|nor|or|also|so|then|until|not|which|who|whose|that|those|they|it|its|their|"
    r"is|are|has|have|had|does|do|goes|to)\b(?!')"
)
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|" + LITERAL + r"|'(?:[^'\\\n]|\\.)*'|\w+|.", re.S)
# Literals side by side are one, with names of macros such as PRIu64 between them.
TEXT = re.compile(LITERAL + r"(?:\s*(?:\\\s*)?(?:[A-Z]\w*|" + LITERAL + r"))*")
BODY = re.compile(r"\)\n\{\n.*?^\}", re.S | re.M)
MACRO = re.compile(r"^#define (\w+)\(([^)\n]*)\)((?:[^\n]*\\\n)*[^\n]*)$", re.M)


def without_comments(source):
    """Its lines stay where they are."""

    def blank(m):
        token = m.group()
        return re.sub(r"[^\n]", " ", token) if token.startswith(("//", "/*")) else token

    return TOKEN.sub(blank, source)


def arguments(source, at):
    """Where each argument begins and ends, of a call whose bracket opens before 'at'."""
    found, depth, begin = [], 0, at
    while at < len(source):
        m = TOKEN.match(source, at)
        token = m.group()
        if token in (")", "]", "}") and depth == 0:
            return found + [(begin, at)]
        if token == "," and depth == 0:
            found.append((begin, at))
            begin = m.end()
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        at = m.end()
    return found


def functions(source):
    """(name, [parameter], begin, end) of each function and macro."""
    for m in BODY.finditer(source):
        at, depth = m.start(), 1
        while depth and at > 0:
            at -= 1
            depth += (source[at] == ")") - (source[at] == "(")
        name = re.search(r"\w*$", source[:at]).group()
        names = [
            re.search(r"(\w*)\W*$", source[b:e]).group(1) if "char" in source[b:e] else ""
            for b, e in arguments(source, at + 1)
        ]
        yield name, names, m.start(), m.end()
    for m in MACRO.finditer(source):
        yield m.group(1), [p.strip() for p in m.group(2).split(",")], m.start(3), m.end()


def calls(source, checks, begin=0, end=None):
    """(name, [arguments as they stand], where its text begins) of each call that has a text."""
    for m in re.compile(r"\b(\w+)\(").finditer(source, begin, len(source) if end is None else end):
        if m.group(1) in checks:
            found = arguments(source, m.end())[checks[m.group(1)] :]
            if found:
                yield m.group(1), [source[b:e].strip() for b, e in found], found[0][0]


def passed_on(args):
    """The word that is the whole text of a call: what, or "%s", what."""
    word = args[1] if args[0] == '"%s"' and len(args) == 2 else args[0]
    return word if re.fullmatch(r"\w+", word) else None


def helpers(source, checks):
    """The checks, and what passes a parameter on to one as its whole text."""
    checks = dict(checks)
    more = True
    while more:
        more = False
        for name, parameters, begin, end in functions(source):
            if name in checks:
                continue
            for _, args, _ in calls(source, checks, begin, end):
                if passed_on(args) in parameters:
                    checks[name] = parameters.index(passed_on(args))
                    more = True
                    break
    return checks


def is_alone(text):
    """Whether a text stands alone."""
    return len(text.split()) >= WORDS and not GOES_ON.match(text)


def poor(source, checks):
    """(line, text) of each text that does not stand alone, in a source without comments."""
    checks = helpers(source, checks)
    inside = [(begin, end, names) for _, names, begin, end in functions(source)]
    found = []
    for _, args, at in calls(source, checks):
        names = [n for begin, end, ns in inside if begin <= at < end for n in ns]
        if passed_on(args) in names:  # its callers' texts are looked at
            continue
        for m in TEXT.finditer(args[0]):
            text = "".join(part[1:-1] for part in re.findall(LITERAL, m.group()))
            if not is_alone(text):
                found.append((source.count("\n", 0, at) + 1, text))
    return found


def all_sources():
    """{path: its text without comments} of all that checks."""
    return {
        path: without_comments(tree.read(path))
        for path in tree.files(".c", ".h", under=("tests/unit/",))
        if os.path.basename(path) != "tap.h"
    }


def all_poor(sources):
    """["path:line: text"]; what a header passes on counts where it is called."""
    shared = dict(CHECKS)
    for path, source in sources.items():
        if path.endswith(".h"):
            shared.update(helpers(source, shared))
    return [
        f'{path}:{line}: "{text}"'
        for path, source in sources.items()
        for line, text in poor(source, shared)
    ]


def test_texts_stand_alone():
    sources = all_sources()
    assert len(sources) > 100, "tests/unit/ is not where it was"
    bad = all_poor(sources)
    assert not bad, (
        "\n" + "\n".join(bad) + "\nthese texts do not stand alone: write subject, verb, object"
    )


def test_what_is_found():
    source = textwrap.dedent(
        """
        /* ok(1, "in a comment") */
        static void rows(const char *text, void (*fn)(int, int), const char *what)
        {
            is_str(text, "", "%s", what);
            is_int(1, 1, "the rows of '%s'", text);
        }

        #define is_good(x, why) \\
            ok((x), why)

        static void test(const char *name)
        {
            rows("a", NULL, "it has");
            rows("b, \\"c\\"", NULL, "a text may have a comma");
            ok(f(1, "and x") == 0, "and so on it goes");
            ok(true, "");
            ok(true, "%s", list[0].name);
            ok(true, "the number is %" PRIu64 " of "
                     "%d", 1, 2);
            is_int(2, 2, both ? "both are there" : "one");
            is_good(true, "good");
            is_good(true, "a macro passes its text on");
            ok(true, "%s: x", name);
            ok(true, "the file %s", name);
            ok(true, "which has no subject");
            ok(true, "items of a list stay");
        }
        """
    )
    found = poor(without_comments(source), CHECKS)
    texts = [text for _, text in found]
    assert texts == [
        *("it has", "and so on it goes", "", "%s", "one", "good", "%s: x"),
        "which has no subject",
    ]
    assert found[0][0] == source[: source.index("it has")].count("\n") + 1
