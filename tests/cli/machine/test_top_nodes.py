"""brim top --nodes: what many agents tell, those that are scripted and real ones."""

import json
import re
import subprocess

import pytest
from conftest import one_line
from scripted_agents import TOKEN, WAYS, Agents, limited, report
from test_top import Screen, last_page

# {what a node does: the word for it, and a part of its sentence}
FAULTS = {
    "refused": ("refused", "nothing listens on port"),
    "closed": ("closed", "ends the connection before its answer is whole"),
    "cut": ("closed", "ends the connection before its answer is whole"),
    "no agent": ("no_agent", "what answers there is no agent of brim"),
    "web page": ("no_agent", "what answers there is no agent of brim"),
    "redirect": ("no_agent", "what answers there is no agent of brim"),
    "huge": ("no_agent", "what answers there is no agent of brim"),
    "endless": ("no_agent", "what answers there is no agent of brim"),
    "long head": ("no_agent", "what answers there is no agent of brim"),
    "chunked": ("no_agent", "what answers there is no agent of brim"),
    "not found": ("other_version", "no agent of this version of brim"),
    "own only": ("own_only", "serves its own machine alone"),
    "busy": ("busy", "has no sample for us now"),
    "locked": ("token", "wants a token"),
}
SLOW = ("silent", "trickle")


@pytest.fixture
def agents():
    with Agents() as made:
        yield made


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    return path


def rows(brim, *args):
    """Of nodes that answer in time, however busy this machine is."""
    told = json.loads(brim.out("top", "--json", "--patience=60s", *args))
    assert told["schema"] == "brim.nodes.v1"
    return told, {row["node"]: row for row in told["rows"]}


def test_each_way_not_to_answer(brim, agents):
    """One node answers, so that the command succeeds; the others are named."""
    assert {*FAULTS, *SLOW} == {*WAYS, "refused"}
    ways = {agents.add(way): way for way in FAULTS}
    well = agents.add(report())
    told, by_name = rows(brim, "--nodes", agents.list)
    assert told["nodes"] == len(FAULTS) + 1
    assert told["states"]["no answer"] == len(FAULTS)
    assert told["sentence"].startswith("%d nodes: %d do not answer, " % (len(FAULTS) + 1,
                                                                         len(FAULTS)))
    assert by_name[well]["state"] == "well" and by_name[well]["fault"] is None
    for name, way in ways.items():
        fault, sentence = FAULTS[way]
        assert (way, by_name[name]["fault"]) == (way, fault)
        assert sentence in by_name[name]["sentence"], way


def test_those_that_take_too_long(brim, agents):
    names = [agents.add(way) for way in SLOW]
    done = brim("top", "--json", "--patience=500ms", "--nodes", agents.list)
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert sorted(row["node"] for row in told["rows"]) == sorted(names)
    for row in told["rows"]:
        assert (row["fault"], row["sentence"]) == ("silent", "no answer within 500 ms")


def test_a_name_that_nobody_knows(brim, agents):
    # an empty label is in no name service: no server is asked for it
    agents.add(report())
    _, by_name = rows(brim, "--nodes", agents.list + ",no..name")
    assert by_name["no..name"]["fault"] in ("no_name", "no_lookup")


def test_the_worst_come_first(brim, agents):
    names = {
        "well": agents.add(report()),
        "limited": agents.add(limited()),
        "limited more": agents.add(limited(gpu_hours_lost_per_h=7.5)),
        "alert": agents.add(report(alerts_warning=1, alert="/ has 3 % of its room left")),
        "lost": agents.add(limited(gpus_lost=1, bottleneck="gpu", alerts_critical=1,
                                   alert="GPU 3 does not answer its driver")),
        "dead": agents.add("refused"),
    }
    told, _ = rows(brim, "--nodes", agents.list)
    order = [row["node"] for row in told["rows"]]
    wanted = ["dead", "lost", "alert", "limited more", "limited", "well"]
    assert order == [names[name] for name in wanted]
    assert told["sentence"] == (
        "6 nodes: 1 does not answer, 1 has critical alerts, 1 has warnings, 2 are limited by "
        "storage, 1 by their GPUs, 15 of 41 GPUs idle, 1 lost")
    page = brim.out("top", "--nodes", agents.list, "--once", "--patience=60s").splitlines()
    assert page[0] == told["sentence"]
    assert [line.split()[0] for line in page[3:]] == order
    assert page[4].endswith("GPU 3 does not answer its driver; " + limited()["sentence"])


def test_tokens(brim, agents, token):
    name = agents.add("locked")
    done = brim("top", "--patience=60s", "--nodes", name)
    assert done.returncode == 1
    assert done.stderr == (
        "brim top: none of 1 node answers; %s: its agent wants a token: --token-file FILE\n" % name)
    assert name in done.stdout
    _, by_name = rows(brim, "--nodes", name, "--token-file", token)
    assert by_name[name]["state"] == "well"
    token.write_text("f" * 16)
    done = brim("top", "--patience=60s", "--nodes", name, "--token-file", token)
    assert done.returncode == 1
    assert "its agent wants another token than this one" in done.stderr
    for sent in [request for _, request in agents.asked][:1]:
        assert sent.startswith(b"GET /api/v1/node.json HTTP/1.0\r\n") and b"Bearer" not in sent


def test_exit_statuses(brim, agents):
    well, dead = agents.add(report()), agents.add("refused")
    assert brim("top", "--patience=60s", "--nodes", well).returncode == 0
    assert brim("top", "--patience=60s", "--nodes", well + "," + dead).returncode == 0
    done = brim("top", "--json", "--nodes", dead)
    assert done.returncode == 1
    assert done.stderr.startswith("brim top: none of 1 node answers; " + dead)
    assert done.stderr.count("\n") == 1
    assert json.loads(done.stdout)["states"]["no answer"] == 1


def test_lists_in_files(brim, agents, tmp_path):
    names = [agents.add(report()) for _ in range(3)]
    path = tmp_path / "nodes"
    path.write_text("# all of them\n%s\n\n  %s # the second\n%s,%s\n" % (*names, names[0]))
    for how in (str(path), "-"):
        with path.open() as text:
            done = brim("top", "--json", "--nodes", how, stdin=text)
        told = json.loads(done.stdout)
        assert sorted(row["node"] for row in told["rows"]) == sorted(names)
    done = brim("top", "--patience=60s", "--nodes", "nodes", "--once", cwd=str(tmp_path))
    assert done.returncode == 0 and done.stdout.startswith("3 nodes: nothing is at its limit")
    done = brim("top", "--json=%s" % (tmp_path / "told.json"), "--nodes", str(path))
    assert done.returncode == 0 and done.stdout == ""
    assert json.loads((tmp_path / "told.json").read_text())["nodes"] == 3


@pytest.mark.parametrize(("args", "status", "sentence"), [
    (["--nodes", "n1;n2"], 2,
     "--nodes: 'n1;n2' is no name of a node: letters, digits and -_. only"),
    (["--nodes", "n[1-20000]"], 2, "--nodes: more than 10000 nodes: ask fewer at a time"),
    (["--nodes", ","], 2, "--nodes: a list of nodes has nothing before a comma"),
    (["--nodes", "#"], 2, "--nodes names no node"),
    (["--nodes", "./none"], 1, "./none: No such file or directory"),
    (["--nodes", "/dev/null"], 1, "/dev/null names no node"),
    (["--nodes", "n1", "--sort", "io"], 2,
     "--sort is for this machine: --nodes asks agents, which sample theirs"),
    (["--nodes", "n1", "--root", "/"], 2,
     "--root is for this machine: --nodes asks agents, which sample theirs"),
    (["--nodes", "n1", "--token-file", "/dev/null"], 1, "/dev/null has no token in it"),
    (["--nodes", "n1", "--patience", "99ms"], 2, "--patience"),
    (["--patience", "2s"], 2, "--patience is for --nodes"),
])
def test_wrong_usage(brim, args, status, sentence):
    one_line(brim("top", *args), status, sentence)


def test_a_broken_line_of_a_file(brim, tmp_path):
    path = tmp_path / "nodes"
    path.write_text("n1\nn[2-\n")
    one_line(brim("top", "--nodes", path), 1,
             "%s:2: 'n[2-' lacks the bracket that ends it" % path)


def test_names_that_are_looked_up(brim, start):
    """A real agent, by its name; where that is an address of IPv6 first, the next one is tried."""
    agent = start("--interval", "100ms")
    _, by_name = rows(brim, "--nodes", "localhost:%d" % agent.port)
    assert by_name["localhost:%d" % agent.port]["fault"] is None


def test_a_real_agent(brim, start):
    agent = start("--interval", "100ms", "--fake", "4xH100-SXM5-80GB")
    name = "127.0.0.1:%d" % agent.port
    told, by_name = rows(brim, "--nodes", name)
    assert by_name[name]["gpus"] + by_name[name]["gpus_lost"] == 4
    assert by_name[name]["version"] == brim.out("version").split()[1]
    assert told["gpus"] == 4


def test_hostile_words(brim, agents):
    name = agents.add(limited(sentence="\033[2Jaway\nand \u202emore", host="\a", action="\0"))
    page = brim.out("top", "--patience=60s", "--nodes", name)
    assert "\033" not in page and "\u202e" not in page
    assert len(page.splitlines()) == 4


def test_many_with_few_descriptors(brim, agents):
    """So many that not all can be asked at once."""
    for _ in range(40):
        agents.add(report())
    command = 'ulimit -n 70 && exec "$0" top --json --patience 60s --nodes "$1"'
    done = subprocess.run(["bash", "-c", command, brim.program, agents.list], timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["states"]["well"] == 40


def test_the_time_for_all(brim, agents):
    """One at a time, each takes its whole time: ten have theirs, the last ones are not asked."""
    for _ in range(12):
        agents.add("silent")
    command = 'ulimit -n 65 && exec "$0" top --json --patience 100ms --nodes "$1"'
    done = subprocess.run(["bash", "-c", command, brim.program, agents.list], timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 1, done.stderr
    faults = [row["fault"] for row in json.loads(done.stdout)["rows"]]
    assert set(faults) == {"silent", "not_asked"}
    assert "took all of the time" in done.stdout.decode()


class Nodes(Screen):
    """brim top --nodes on a pseudo terminal."""


@pytest.fixture
def screen(brim):
    made = []

    def start(*args, **how):
        made.append(Nodes(brim, *args, **how))
        return made[-1]

    yield start
    for one in made:
        one.close()


def test_on_a_terminal(agents, screen):
    for _ in range(30):
        agents.add(report())
    limits = agents.add(limited())
    top = screen("--nodes", agents.list, "--patience=60s", rows=12, columns=110)
    page = last_page(top.wait_for(r"(?s)(31 nodes: 1 is limited by.*){3}"))
    assert any(line.startswith(limits) and "limited" in line for line in page)
    assert any(" well " in line and " of 240 " in line for line in page), page
    top.type("f")
    top.wait_for(r"and \d+ more lines: n goes on, b goes back")
    top.type("n")
    top.wait_for(r"31 nodes")
    top.type("?")
    top.wait_for("what limits many nodes now")
    top.type("x")
    top.type("p")
    top.wait_for("PAUSED")
    top.type("q")
    assert top.end() == 0


def test_a_node_that_dies_is_seen(agents, screen):
    """The table is asked for again, and what was there before is not kept."""
    agents.add(report())
    name = agents.add("closed")
    top = screen("--nodes", agents.list, "--patience=60s")
    top.wait_for("2 nodes: 1 does not answer")
    asked = [one for one, _ in agents.asked].count(name)
    top.wait_for("2 nodes: 1 does not answer")
    top.wait_for("2 nodes: 1 does not answer")
    assert [one for one, _ in agents.asked].count(name) > asked
    top.type("q")
    assert top.end() == 0


def test_it_ends_while_it_asks(agents, screen):
    agents.add("silent")
    top = screen("--nodes", agents.list, "--patience=60s")
    top.wait_for("asking 1 node")
    top.type("q")
    assert top.end() == 0
    assert re.search("asking 1 node", top.seen)
