"""What script/mutate breaks in a text, and which tests it takes for those that reach a line."""

import importlib.machinery
import importlib.util
import os
import pathlib
import stat
import sys
import types

import pytest
import tree

sys.path.insert(0, os.path.join(tree.ROOT, "script"))

import mutate_reach  # noqa: E402
import mutate_text  # noqa: E402
import mutate_work  # noqa: E402


def broken(text, kind, path="a.c"):
    """All texts that a change of that kind makes of one."""
    found = [site for site in mutate_text.sites(path, text) if site.kind == kind]
    return [
        mutate_text.changed(text, site, i) for site in found for i in range(len(site.choices))
    ]


def body(statements):
    return "int f(int a)\n{\n    %s\n}\n" % statements


@pytest.mark.parametrize(
    "statements, kind, made",
    [
        ("if (a < 2)\n        return 1;", "guard", ["if ((a < 2) && 0)", "if (!(a < 2))"]),
        ("if (g(a)) {\n        h();\n        continue;\n    }", "guard", ["if ((g(a)) && 0)"]),
        ("x = a <= b;", "comparison", ["a < b"]),
        ("x = a >= b;", "comparison", ["a > b"]),
        ("x = a && b;", "logic", ["a || b"]),
        ("x = 100;", "constant", ["x = 150;", "x = 66;"]),
        ("x = 2;", "constant", ["x = 3;"]),
        ("x = 0.5;", "constant", ["x = 0.75;"]),
        ("x = 0x10u;", "constant", ["x = 24u;"]),
        ("x = 0600;", "constant", ["x = 576;"]),
        ("x = y;", "statement", ["{\n    ;\n}"]),
        ("if (a)\n        put(a, 1);", "statement", ["if (a)\n        ;"]),
        ("*p->q += 1;", "statement", ["{\n    ;\n}"]),
    ],
)
def test_one_change(statements, kind, made):
    """Each kind of change makes the texts that it should."""
    found = broken(body(statements), kind)
    for part in made:
        assert any(part in text for text in found), found


@pytest.mark.parametrize(
    "statements, kind",
    [
        ("/* if (a < 2) return 1; */", "guard"),
        ('say("a < b && c");', "comparison"),
        ("assert(a < 2 && a > 0);", "logic"),
        ('log_info("%d", 100);', "constant"),
        ("char text[100];", "constant"),
        ("const struct x *y = z;", "statement"),
        ("for (i = 0; i < n; i++)\n        g(i);", "guard"),
        ("again:\n    return 1;", "statement"),
        ("if (a)\n        g(a);", "guard"),
    ],
)
def test_what_is_left_alone(statements, kind):
    """Comments, strings, assertions, logs, sizes of buffers and declarations stay as they are."""
    assert broken(body(statements), kind) == []


def test_what_parts_a_loop_is_no_statement():
    """Of a for loop the body may go, its three parts not."""
    text = body("for (i = 0; i < n; i++)\n        g(i);")
    assert broken(text, "statement") == [text.replace("g(i);", ";")]


def test_rows_of_tables_go_whole():
    """A row goes with its comma, and the row of zeros that ends a table stays."""
    text = 'static const struct x rows[] = {\n{ "a", 1 },\n{ "b", 2 },\n{ NULL, 0 },\n};\n'
    found = broken(text, "row")
    assert found == [text.replace('{ "a", 1 },', ""), text.replace('{ "b", 2 },', "")]


def test_numbers_of_names():
    """What a header calls by a name is a constant too."""
    text = "#define LONGEST 30 /* s */\n"
    assert broken(text, "constant", "a.h")[0] == text.replace("30", "45")
    assert broken("#define DAY_S (24 * HOUR_S)\n", "constant")[0] == "#define DAY_S (36 * HOUR_S)\n"
    assert broken('#define TEXT "7"\n', "constant") == []
    assert broken("enum a { B = 7 };\n", "constant", "a.h")[0] == "enum a { B = 10 };\n"


def test_lines_stay_where_they_are():
    """A change of several lines leaves as many."""
    text = body("put(a,\n        b);\n    x = y;")
    assert {made.count("\n") for made in broken(text, "statement")} == {text.count("\n")}


def test_data_files():
    """Numbers of data move by half, but for those in prose; rows of a table go."""
    ini = "[a]\nvalue = 0.2\nsource = page 12\n"
    assert broken(ini, "data", "a.ini") == [ini.replace("0.2", "0.3"), ini.replace("0.2", "0.1")]
    table = "# facts\nname,size\nx,40\n"
    assert broken(table, "row", "a.csv") == ["# facts\nname,size\n# gone\n"]
    assert broken(table, "data", "a.csv") == [table.replace("40", "60"), table.replace("40", "20")]


def test_what_changes_nothing_is_counted_apart():
    """A change that no test can see is left out with a reason, and no other one is."""
    assert "memory" in mutate_text.excluded("statement", "    free(p);")
    assert "grows" in mutate_text.excluded("constant", "    cap = cap * 2;")
    assert "descriptor" in mutate_text.excluded("constant", "    CLEANUP(closep) int fd = -1;")
    assert "parameter" in mutate_text.excluded("statement", "    (void)p, (void)now_ms;")
    assert mutate_text.excluded("statement", "    (void)rmdir(path);") is None
    assert mutate_text.excluded("guard", "    if (!cap)") is None
    assert mutate_text.excluded("constant", "    int node = -1;") is None
    assert mutate_text.excluded("statement", "    fd = -1;") is None
    assert mutate_text.excluded("statement", "    end_round(r);") is None


def test_lengths_of_texts():
    """A name that is nothing but the length of a text is one; one that is counted to is none."""
    head = "enum { TEXT = 8, ROWS = 4, KEPT = 3 };\n"
    head += "struct s {\nchar t[TEXT];\nint rows[ROWS];\n};\n"
    code = "void f(void)\n{\nchar b[KEPT];\nfor (int i = 0; i < KEPT; i++)\nb[i] = 0;\n}\n"
    assert mutate_text.lengths([head, code]) == {"TEXT"}
    # The length of a member is reached by those who use the member.
    found = {"one": {"seconds": 1, "wrong": "", "lines": {"a.c": [[3], []]}}}
    texts = {"a.h": head, "a.c": "int g(struct s *s)\n{\nreturn s->rows[0];\n}\n"}
    by_name = {site.name: site for site in mutate_text.sites("a.h", head)}
    assert mutate_reach.Reach(found, texts).of(by_name["ROWS"]) == {"one"}
    assert mutate_reach.Reach(found, texts).of(by_name["TEXT"]) == set()


def test_who_reaches_a_line():
    """Code is reached where it counts; a table by those who reach a line that names it."""
    table = "static const int t[] = {\n7,\n8,\n};\n"
    text = table + "int f(int a)\n{\nif (a &&\nt[a])\nreturn 1;\nreturn 0;\n}\n"
    found = {
        "one": {"seconds": 1, "wrong": "", "lines": {"a.c": [[7], [9, 10]]}},
        "two": {"seconds": 1, "wrong": "", "lines": {"a.c": [[7, 9], [10]]}},
        "bad": {"seconds": 1, "wrong": "a failure", "lines": {"a.c": [[10], []]}},
    }
    reach = mutate_reach.Reach(found, {"a.c": text}, {"two": "g(v);", "bad": "g(v);"})
    by = {(site.line, site.kind): reach.of(site) for site in mutate_text.sites("a.c", text)}
    assert by[7, "logic"] == {"one", "two"}
    assert by[9, "constant"] == {"two"}
    assert by[10, "constant"] == set()
    assert by[2, "row"] == {"one", "two"}
    assert reach.of_name(None, "v", set()) == {"two"}


def test_what_a_failed_test_reaches():
    """A test that fails with counters is asked for all lines of a file that it ran a line of."""
    lines = {"a.c": ({7}, {8, 9}), "b.c": (set(), {3})}
    assert mutate_reach.reached(lines, 1, "")["lines"] == {"a.c": [[7], [8, 9]], "b.c": [[], [3]]}
    kept = mutate_reach.reached(lines, 1, "a failure")
    assert kept["lines"] == {"a.c": [[7, 8, 9], []], "b.c": [[], [3]]}
    assert kept["guessed"]


def test_counters_leave_the_mask_of_a_test_alone(tmp_path):
    """Any user may write the counters of a test, and its own files have the rights they always
    have."""
    build = types.SimpleNamespace(path=tmp_path / "build")
    (build.path / "x.p").mkdir(parents=True)
    (build.path / "x.p/a.c.gcno").touch()
    copy = types.SimpleNamespace(folder=tmp_path, room=[])
    test = mutate_work.Test("x/y", ["sh", "-c", "umask"], {}, str(tmp_path), set(), [], [], None)
    more = mutate_reach.prefix(copy, build, test)
    counter = pathlib.Path(more["GCOV_PREFIX"] + str(build.path)) / "x.p/a.c.gcda"
    assert stat.S_IMODE(counter.stat().st_mode) == 0o666
    assert stat.S_IMODE(counter.parent.stat().st_mode) == 0o777
    assert mutate_reach.counted(build, pathlib.Path(more["GCOV_PREFIX"])) == {}
    mask = os.umask(0o027)
    try:
        ((running, wrong),) = mutate_work.run_all(copy, [test], 1, lambda t: 60, lambda t: more)
    finally:
        os.umask(mask)
    assert (running.words(), wrong) == ("0027\n", "")


@pytest.mark.parametrize(
    "status, output, wrong",
    [
        (0, "ok 1\n1..1\n", False),
        (0, "ok 1\nnot ok 2\n1..2\n", True),
        (0, "ok 1\n1..2\n", True),
        (0, "3 passed\n", False),
        (77, "", False),
        (1, "ok 1\n1..1\n", True),
        (-11, "", True),
    ],
)
def test_when_a_test_has_failed(status, output, wrong):
    """A status, a check that failed and one that is missing are failures; a skip is none."""
    assert bool(mutate_work.failed(None, status, output)) == wrong


def test_sanitizers_are_asked_once_more(monkeypatch):
    """A test that fails with sanitizers sees a change unless it fails without the change, too."""
    loader = importlib.machinery.SourceFileLoader("mutate", tree.ROOT + "/script/mutate")
    mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
    loader.exec_module(mutate)
    texts, made = {"a.c": "broken"}, []

    def ran(copy, tests, at_a_time, limit, more, until_failure):
        for test in tests:
            bad = test.name == "unfit" or (test.name == "sees" and texts["a.c"] == "broken")
            yield types.SimpleNamespace(test=test), "a signal" if bad else ""

    def make(targets, keep=True):
        made.append((targets, keep, texts["a.c"]))
        return True

    def test_of(name, suite):
        return mutate_work.Test(name, [], {}, "", {suite}, [name], [], 1)

    monkeypatch.setattr(mutate_work, "run_all", ran)
    tests = [test_of(n, "unit") for n in ("quiet", "unfit", "sees")] + [test_of("sums", "sums")]
    breaker = mutate.Breaker.__new__(mutate.Breaker)
    breaker.copy = types.SimpleNamespace(write=texts.__setitem__)
    breaker.asked = types.SimpleNamespace(jobs=1)
    breaker.strict = types.SimpleNamespace(configure=lambda: None, make=make, tests=lambda: tests)
    breaker.strict_tests, breaker.strict_made, breaker.unfit = {}, set(), set()
    site = types.SimpleNamespace(path="a.c")
    assert breaker.ask_strictly(site, "broken", "good", tests) == "sees (with sanitizers)"
    assert breaker.unfit == {"unfit"}
    assert all(keep == (text == "good") for targets, keep, text in made if len(targets) == 3)
    texts["a.c"] = "broken"
    assert breaker.ask_strictly(site, "broken", "good", tests[:2]) is None
