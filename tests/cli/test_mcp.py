"""brim mcp: tools of an assistant, over pipes. Each message and answer of the protocol is in
tests/unit/cmd/mcp_session.c; here is the program, with the commands that carry calls out."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess

import pytest
from conftest import DAYS, ROOT
from mcp_client import MODERN, Client, text_of
from served import wait_until

ACTS = ["submit", "cancel", "hold", "release", "priority"]
READS = ["why", "top", "machine", "runs_list", "runs_diff", "report", "profile_list",
         "profile_show", "alerts", "xid", "jobs", "cost", "sim", "plan_train", "plan_memory",
         "plan_checkpoint", "plan_emit", "plan_eval", "plan_models", "plan_gpus"]
TRACE = "job_id,submit_s,gpus,duration_s\na,0,8,3600\nb,60,4,60\n"
# What a tool does not offer of its command: what writes a file, and what makes no sense there.
HIDDEN = {"help", "json", "svg", "html", "output", "error", "record", "fail-on", "once", "wait"}
# What it asks other machines with.
ASKS = {"top": {"nodes", "token-file", "patience"}}
LIMIT = 1 << 20


@pytest.fixture
def start(brim, tmp_path):
    """start(*args): clients after their handshake, which end with the test."""
    started = []

    def one(*args, hello=True, **how):
        started.append(Client(brim, tmp_path, *args, **how))
        if hello:
            started[-1].hello()
        return started[-1]

    yield one
    for each in started:
        each.end()


@pytest.fixture
def client(start):
    return start()


def tools_of(client):
    return {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}


def is_gone(pid):
    return not os.path.exists(f"/proc/{pid}/exe")


def status_of(pid, key):
    return re.search(rf"^{key}:\s+(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]


# ---- what is offered ----


def test_the_list_has_what_reads(client):
    tools = tools_of(client)
    assert list(tools) == READS
    assert all(tool["annotations"]["readOnlyHint"] is True for tool in tools.values())


def test_the_list_has_what_acts_where_that_is_asked_for(start):
    tools = tools_of(start("--act"))
    assert list(tools) == READS + ACTS
    destroys = {name: tools[name]["annotations"]["destructiveHint"] for name in ACTS}
    assert destroys == {"submit": True, "cancel": True, "hold": False, "release": False,
                        "priority": False}
    assert not any(tools[name]["annotations"]["readOnlyHint"] for name in ACTS)


def check_property(name, schema):
    """Whether it is a schema as clients take it."""
    assert set(schema) <= {"type", "description", "items", "minItems", "maxItems", "minimum",
                           "maximum", "enum"}, (name, schema)
    assert schema["type"] in ("string", "integer", "boolean", "array"), (name, schema)
    assert ("items" in schema) == (schema["type"] == "array") and schema["description"]
    assert schema.get("minimum", 0) <= schema.get("maximum", 1 << 53)


def test_each_tool_is_what_its_command_is(start, brim):
    """Its arguments are the options of the help, with their words; each option is offered or is one
    of those that are not."""
    for name, tool in tools_of(start("--act")).items():
        words = re.search(r"^usage: brim ([\w ]+?) \[OPTIONS\] ?(.*)$", tool["description"], re.M)
        said = brim.out("help", *words[1].split())
        assert said.startswith(f"usage: brim {words[1]} [OPTIONS]"), name
        assert words[2] == said.splitlines()[0].partition(" [OPTIONS]")[2].strip()
        schema = tool["inputSchema"]
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        options = dict(re.findall(r"^  +(?:-\w, )?--([\w-]+)\S* +(.*)$", said, re.M))
        operands = set(re.findall(r"[A-Z]+", re.sub(r"--\S+", "", words[2]).replace("|-", "")))
        for key, value in schema["properties"].items():
            check_property((name, key), value)
            if key in options:
                assert value["description"].endswith(options[key]), (name, key)
            elif key != "plain":
                assert key.upper() in operands, (name, key)
        hidden = HIDDEN | ASKS.get(name, set())
        assert set(options) - set(schema["properties"]) <= hidden, name
        assert not hidden & set(schema["properties"]), name


# ---- calls ----


def test_calls_answer_what_commands_print(client, brim, tmp_path, trace):
    """The JSON of the command, in both forms; and its text where that is asked for."""
    for tool, arguments, words in [
        ("xid", {"code": 79}, ["xid", "79"]),
        ("xid", {"code": "145", "word": "0x4"}, ["xid", "145", "0x4"]),
        ("plan_memory", {"model": ["Llama-3.1-8B"], "cluster": "8xH100-SXM"},
         ["plan", "memory", "Llama-3.1-8B", "--cluster=8xH100-SXM"]),
        ("plan_train", {"model": "Llama-3.1-8B", "cluster": "8xH100-SXM", "batch": 128,
                        "pin": ["dp=8"]},
         ["plan", "train", "Llama-3.1-8B", "--cluster=8xH100-SXM", "--batch=128", "--pin=dp=8"]),
        ("sim", {"trace": str(trace), "nodes": "1x8", "policy": "easy"},
         ["sim", trace, "--nodes=1x8", "--policy=easy"]),
        ("cost", {"file": [str(trace)], "by": "user"}, ["cost", trace, "--by=user"]),
        ("alerts", {}, ["alerts"]),
        ("runs_list", {}, ["runs", "list"]),
        ("jobs", {}, ["jobs"]),
    ]:
        env = {"STATE_DIRECTORY": str(tmp_path)}
        result = client.call(tool, **arguments)
        assert result["isError"] is False, result
        assert result["structuredContent"] == json.loads(brim.out(*words, "--json", env=env))
        assert json.loads(text_of(result)) == result["structuredContent"]
        result = client.call(tool, plain=True, **arguments)
        assert "structuredContent" not in result and result["isError"] is False
        assert text_of(result).rstrip("\n") == brim.out(*words, env=env).rstrip("\n")


def test_calls_about_a_machine(client):
    result = client.call("machine", fake="2xH100-SXM5-80GB")
    assert result["structuredContent"]["schema"] == "brim.machine.v1"
    assert "H100-SXM5-80GB" in text_of(result)
    audit = client.call("machine", audit=True, fake="2xH100-SXM5-80GB")
    assert audit["structuredContent"]["schema"] == "brim.audit.v1"
    top = client.call("top", interval="200ms")
    assert top["structuredContent"]["schema"] == "brim.live.v1"


def test_calls_about_runs(start, made_state):
    client = start(env=made_state)
    runs = client.call("runs_list")["structuredContent"]["runs"]
    why = client.call("why", run=runs[-1]["id"])
    assert why["structuredContent"]["schema"] == "brim.verdict.v1"
    report = client.call("report", run=runs[-1]["id"])
    (page,) = report["content"]
    assert page["type"] == "resource" and page["resource"]["mimeType"] == "text/html"
    assert page["resource"]["text"].lower().startswith("<!doctype html")


def test_what_goes_wrong_is_told_to_the_model(client, brim, tmp_path):
    for tool, arguments, words in [
        ("why", {}, ["why"]),
        ("report", {"run": "none"}, ["report", "none"]),
        ("plan_train", {"model": "Llama-3.1-8C", "cluster": "8xH100-SXM", "batch": 128},
         ["plan", "train", "Llama-3.1-8C", "--cluster=8xH100-SXM", "--batch=128"]),
        ("plan_train", {"model": "Llama-3.1-8B", "cluster": "8xH100-SXM", "batch": 0},
         ["plan", "train", "Llama-3.1-8B", "--cluster=8xH100-SXM", "--batch=0"]),
        ("xid", {"code": "x"}, ["xid", "x"]),
        ("machine", {"matrix": True, "audit": True}, ["machine", "--matrix", "--audit"]),
    ]:
        result = client.call(tool, **arguments)
        said = brim(*words, env={"STATE_DIRECTORY": str(tmp_path)})
        assert said.returncode in (1, 2) and result["isError"] is True
        assert text_of(result) == said.stderr.strip()


def test_an_answer_with_a_status_is_no_error(client):
    """What does not fit is an answer of brim plan memory, with status 1."""
    result = client.call("plan_memory", model=["Llama-3.1-405B"], cluster="1xH100-SXM")
    assert result["isError"] is False
    assert result["structuredContent"]["schema"] == "brim.plan.memory.v1"


def test_no_argument_is_taken_for_an_option(client, tmp_path):
    made = tmp_path / "made"
    for tool, arguments in [
        ("plan_models", {"model": [f"--json={made}"]}),
        ("plan_models", {"model": ["Llama-3.1-8B", "-j"]}),
        ("why", {"run": f"--json={made}"}),
        ("sim", {"trace": "-"}),
        ("cost", {"file": ["-"]}),
        ("machine", {"svg": str(made)}),
        ("machine", {"record": str(made)}),
        ("machine", {"json": str(made)}),
        ("sim", {"trace": str(DAYS), "html": str(made)}),
        ("report", {"output": str(made)}),
    ]:
        result = client.call(tool, **arguments)
        assert result["isError"] is True, (tool, arguments)
    result = client.call("machine", **{"from": f"--svg={made}"})
    assert result["isError"] is True and "No such file" in text_of(result)
    assert not made.exists()


def test_a_client_of_the_next_revision_needs_no_handshake(start):
    client = start(hello=False)
    found = client.ask("server/discover", {"_meta": MODERN})["result"]
    assert "2026-07-28" in found["supportedVersions"] and found["resultType"] == "complete"
    answer = client.ask("tools/call", {"name": "xid", "arguments": {"code": 79}, "_meta": MODERN})
    assert answer["result"]["structuredContent"]["schema"] == "brim.faults.v1"
    assert answer["result"]["resultType"] == "complete"
    assert client.ask("tools/list")["error"]["code"] == -32600


def test_the_page_shows_what_is_answered(start):
    client = start(hello=False)
    lines = re.findall(r"^\{\"jsonrpc.*$", (ROOT / "docs" / "mcp.md").read_text("utf-8"), re.M)
    asked = [line for line in lines if '"method"' in line]
    shown = [json.loads(line) for line in lines if '"result"' in line]
    client.write("\n".join(asked) + "\n")
    answers = {answer["id"]: answer for answer in (client.receive() for _ in asked)}
    assert len(shown) == 2 and all(answers[answer["id"]] == answer for answer in shown)


# ---- what acts ----


def test_nothing_acts_unless_that_is_asked_for(client, tmp_path):
    for tool in ACTS:
        error = client.ask("tools/call", {"name": tool, "arguments": {}})["error"]
        assert error == {"code": -32602,
                         "message": f"tool '{tool}' changes something: brim mcp --act offers it"}
    assert not (tmp_path / "queue").exists()


def test_a_job_is_submitted_held_and_cancelled(start, queue):
    client = start("--act", env=queue.env)
    job = client.call("submit", command="sh", argument=["-c", "echo $1", "sh", "--json"],
                      chdir=str(queue.work))["structuredContent"]["id"]
    queue.until(job, "done")
    assert queue.output(job) == "--json\n"
    held = client.call("submit", command="true", hold=True)["structuredContent"]["id"]
    assert client.call("priority", n=-5, job=[held])["isError"] is False
    assert queue.job(held)["priority"] == -5
    assert client.call("release", job=held)["isError"] is False
    queue.until(held, "done")
    refused = client.call("hold", job=[held])
    assert refused["isError"] is True and str(held) in text_of(refused)
    refused = client.call("cancel", job=["none"])
    assert refused["isError"] is True and "none" in text_of(refused)


# ---- several at once ----


def watch(client, id):
    """A call that takes an hour."""
    client.begin("why", id, live=os.getpid(), **{"for": "1h"})


def test_answers_come_as_they_are_there(client):
    watch(client, "long")
    client.begin("xid", "short", code=79)
    assert client.receive()["id"] == "short"
    watch(client, "long")
    error = client.receive()
    assert error["id"] == "long" and error["error"]["code"] == -32600
    client.send("notifications/cancelled", {"requestId": "long", "reason": "enough"})
    wait_until(lambda: not client.children())
    assert client.call("xid", code=13)["isError"] is False
    watch(client, "long")  # the id is free
    (child,) = wait_until(client.children)
    wait_until(lambda: status_of(child, "SigBlk") == status_of("self", "SigBlk"))
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(60) == 0 and is_gone(child)
    assert client.errors() == ""


def test_calls_wait_for_others_up_to_a_number(client):
    for i in range(64):
        watch(client, f"long{i}")
    assert len(wait_until(client.children)) <= 4
    refused = client.call("xid", code=79)
    assert refused["isError"] is True and "too many calls" in text_of(refused)
    for i in reversed(range(64)):  # those that wait go first
        client.send("notifications/cancelled", {"requestId": f"long{i}"})
    wait_until(lambda: not client.children())
    assert client.call("xid", code=79)["isError"] is False


def test_a_call_has_a_limit_of_time(start):
    client = start("--timeout=1s")
    result = client.call("why", live=os.getpid(), **{"for": "1h"})
    assert result["isError"] is True
    assert text_of(result) == ("brim why took longer than 1 s and was ended: ask for less, or "
                               "start the server with a longer --timeout")
    assert not client.children()


def test_a_call_has_a_limit_of_output(client, tmp_path):
    jobs = tmp_path / "jobs.csv"
    with jobs.open("w") as f:
        f.write("job_id,submit_s,gpus,duration_s,user\n")
        f.writelines(f"{i},{i},1,60,user{i:0100}\n" for i in range(30000))
    result = client.call("cost", file=[str(jobs)], by="user")
    assert result["isError"] is True and "printed more than 4 MiB" in text_of(result)
    wait_until(lambda: not client.children())
    assert client.call("xid", code=79)["isError"] is False


# ---- streams ----


def test_broken_messages_have_answers(client):
    for line, code in [("{broken\n", -32700), (b"\xff\n", -32700), ("[" * 100 + "\n", -32700),
                       ("[]\n", -32600), ("x" * (LIMIT + 1) + "\n", -32600),
                       ('"' + "x" * 3 * LIMIT + '"\n', -32600)]:
        client.write(line)
        answer = client.receive()
        assert answer["error"]["code"] == code and answer["id"] is None, line[:20]
        assert client.ask("ping")["result"] == {}
    client.write("\n\r\n  \n")
    client.write('{"jsonrpc":"2.0","id":"half",')
    client.write('"method":"ping"}\n')
    assert client.receive()["id"] == "half"
    blanks = " " * (LIMIT - 40)
    client.write('{"jsonrpc":"2.0",%s"id":1,"method":"ping"}\n' % blanks)
    assert client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_what_was_asked_before_the_end_is_answered(client):
    client.begin("plan_models", "a")
    client.begin("xid", "b", code=79)
    client.write('{"jsonrpc":"2.0","id":"c","method":"ping"}')  # without a newline
    client.process.stdin.close()
    answers = iter(client.receive, None)
    assert sorted(answer["id"] for answer in answers) == ["a", "b", "c"]
    assert client.process.wait(60) == 0 and client.errors() == ""


def test_an_end_at_once(start):
    client = start(hello=False)
    assert client.close() == 0 and client.errors() == ""


def test_a_terminal_is_told_what_is_waited_for(brim):
    ours, theirs = pty.openpty()
    with subprocess.Popen([brim.program, "mcp"], stdin=theirs, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as server:
        assert b"waits for an assistant's messages" in server.stderr.readline()
        os.write(ours, b"\x04")
        assert server.wait(60) == 0 and server.stdout.read() == b""
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it(client, number):
    client.ask("ping")
    client.process.send_signal(number)
    assert client.process.wait(60) == 0 and client.errors() == ""


def test_a_client_that_goes_ends_the_calls(client):
    watch(client, 1)
    (child,) = wait_until(client.children)
    client.process.stdout.close()
    assert client.process.wait(60) == 0
    assert is_gone(child) and client.errors() == ""


def test_a_client_that_goes_leaves_answers_unread(client):
    for i in range(10):
        client.send("tools/list", id=i)
    assert client.receive()["id"] == 0  # the others do not fit into the pipe
    client.process.stdout.close()
    assert client.process.wait(60) == 0 and client.errors() == ""


def test_calls_do_not_outlive_a_killed_server(client):
    watch(client, 1)
    (child,) = wait_until(client.children)
    client.process.kill()
    wait_until(lambda: is_gone(child))


def test_a_client_that_does_not_read_is_waited_for(client):
    """Its messages are not taken then: the pipe is full, and the server sleeps."""
    pid, stdin, asked, state = client.process.pid, client.process.stdin, 0, ""
    line = json.dumps({"jsonrpc": "2.0", "method": "tools/list", "id": "x" * 250}).encode() + b"\n"
    os.set_blocking(stdin.fileno(), False)
    while state != "S":
        while stdin.write(line) == len(line):
            asked += 1
        state = status_of(pid, "State")
        assert os.environ.get("SANITIZED") or int(status_of(pid, "VmRSS")) < 64 << 10
    os.set_blocking(stdin.fileno(), True)
    stdin.close()
    for _ in range(asked):
        assert client.receive()["id"] == "x" * 250
    assert client.receive() is None and client.process.wait(60) == 0


def test_outputs_that_fail(brim):
    hello = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    with open("/dev/full", "w") as full:
        done = subprocess.run([brim.program, "mcp"], input=hello.encode(), stdout=full,
                              stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1 and b"standard output: No space left" in done.stderr
    done = subprocess.run(["sh", "-c", '"$0" mcp <&-', brim.program], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1 and b"standard input: Bad file descriptor" in done.stderr
