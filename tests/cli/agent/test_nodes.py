"""What an agent tells those who ask many."""

import json


def test_what_an_agent_tells_of_its_node(start):
    agent = start("--interval", "100ms", "--fake", "2xH100-SXM5-80GB")
    told = json.loads(agent.get_sure("/api/v1/node.json"))
    live = json.loads(agent.get_sure("/api/v1/live.json"))
    assert told["schema"] == "brim.node.v1"
    assert told["host"] == live["host"]
    assert told["gpus"] + told["gpus_lost"] == len(live["gpus"]) == 2
    assert len(json.dumps(told)) < 4096
