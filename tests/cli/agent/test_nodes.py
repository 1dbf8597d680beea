"""brim agent --nodes: the page of nodes, and what an agent tells those who ask many."""

import json
import urllib.error

import pytest
from conftest import one_line
from scripted_agents import TOKEN, Agents, limited, report
from served import request, wait_until


@pytest.fixture
def agents():
    with Agents() as made:
        yield made


def nodes(agent):
    told = json.loads(agent.get_sure("/api/v1/nodes.json"))
    assert told["schema"] == "brim.nodes.v1"
    return told


def test_what_an_agent_tells_of_its_node(start):
    agent = start("--interval", "100ms", "--fake", "2xH100-SXM5-80GB")
    told = json.loads(agent.get_sure("/api/v1/node.json"))
    live = json.loads(agent.get_sure("/api/v1/live.json"))
    assert told["schema"] == "brim.node.v1"
    assert told["host"] == live["host"]
    assert told["gpus"] + told["gpus_lost"] == len(live["gpus"]) == 2
    assert len(json.dumps(told)) < 4096


def test_the_nodes_of_an_agent(start, agents):
    well, dead = agents.add(report()), agents.add("refused")
    limits = agents.add(limited())
    agent = start("--interval", "100ms", "--nodes", agents.list)
    # a node has 1.5 s, which is little where this machine has other things to do
    told = wait_until(lambda: next((told for told in [nodes(agent)]
                                    if told["states"]["no answer"] == 1), None))
    assert [row["node"] for row in told["rows"]] == [dead, limits, well]
    assert "/nodes.js" in agent.get("/nodes")[1]
    assert agent.value("ticks_total") > 0


def test_who_asks_at_once_gets_one_answer(start, agents):
    """The second one asks within seconds: the nodes are not asked again."""
    agents.add(report())
    agent = start("--nodes", agents.list)
    first = nodes(agent)
    if nodes(agent)["time_ms"] == first["time_ms"]:
        assert len(agents.asked) == 1


def test_nobody_is_asked_while_nobody_looks(start, agents):
    agents.add(report())
    agent = start("--interval", "100ms", "--nodes", agents.list)
    before = agent.value("ticks_total")
    wait_until(lambda: agent.value("ticks_total") >= before + 3)
    assert agents.asked == []


def test_its_token_stays_with_it(start, agents, tmp_path):
    locked = agents.add("locked")
    path = tmp_path / "token"
    path.write_text(TOKEN)
    agent = start("--nodes", locked, "--nodes-token-file", path)
    wait_until(lambda: nodes(agent)["rows"][0]["state"] == "well")
    headers, text = agent.get("/api/v1/nodes.json")
    assert TOKEN not in text and TOKEN not in str(headers)
    assert TOKEN not in agent.said()


def test_without_a_list(agent):
    with pytest.raises(urllib.error.HTTPError) as refused:
        agent.get("/api/v1/nodes.json")
    assert refused.value.code == 404
    assert refused.value.read() == b"this agent has no list of nodes: start it with --nodes LIST\n"


def test_it_ends_while_nodes_are_asked(start, agents):
    """Who waits for the answer does not keep it."""
    agents.add("silent")
    agent = start("--nodes", agents.list)
    with agent.connect() as client:
        client.sendall(request("/api/v1/nodes.json"))
        wait_until(lambda: agents.asked)
        assert agent.stop() == 0


def test_wrong_usage(brim, tmp_path):
    one_line(brim("agent", "--nodes", "n[1-"), 2, "--nodes: 'n[1-' lacks the bracket that ends it")
    one_line(brim("up", "--nodes-token-file", tmp_path), 2, "--nodes-token-file is for --nodes")
    one_line(brim("agent", "--listen", "127.0.0.1:0", "--nodes", "./none"), 1, "./none")
