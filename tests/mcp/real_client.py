"""What a client library that others wrote sees of brim mcp: PyPI's package mcp, of the line with a
handshake (1.x) or of the one without (2.x), in whose virtual environment this runs.

    real_client.py BRIM

Prints what it saw, a line each; ends with 1 where that is not what it should be."""

import asyncio
import importlib.metadata
import json
import os
import sys
import tempfile

import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

VERSION = importlib.metadata.version("mcp")
READS = {"why", "top", "machine", "runs_list", "report", "sim", "xid", "plan_train", "plan_memory"}
ACTS = {"submit", "cancel", "hold", "release", "priority"}
TRACE = "job_id,submit_s,gpus,duration_s\na,0,8,3600\nb,60,4,60\n"


def part(of, *names):
    """A field, which the two lines spell differently."""
    return next(getattr(of, name) for name in names if hasattr(of, name))


def told(result):
    return part(result, "structuredContent", "structured_content")


def failed(result):
    return bool(part(result, "isError", "is_error"))


def check(what, good):
    print(("ok      " if good else "WRONG   ") + what)
    return bool(good)


async def look(call, tools, trace):
    """All that is looked at, of a client that has begun."""
    names = {tool.name for tool in tools}
    yield check(f"{len(names)} tools, none that acts", READS <= names and not ACTS & names)
    for tool in tools:
        schema = part(tool, "inputSchema", "input_schema")
        jsonschema.Draft202012Validator.check_schema(schema)
    yield check("their schemas are schemas", True)
    xid = await call("xid", {"code": "79"})
    yield check("xid 79", told(xid)["xids"][0]["name"] == "GPU_HAS_FALLEN_OFF_THE_BUS")
    text = json.loads(xid.content[0].text)
    yield check("the text of an answer is its JSON", text == told(xid))
    plan = await call("plan_memory", {"model": ["Llama-3.1-8B"], "cluster": "8xH100-SXM"})
    yield check("plan memory", told(plan)["schema"] == "brim.plan.memory.v1")
    machine = await call("machine", {"fake": "2xH100-SXM5-80GB"})
    yield check("machine", told(machine)["schema"] == "brim.machine.v1")
    top = await call("top", {"interval": "200ms", "plain": True})
    yield check("top as text: " + top.content[0].text.splitlines()[0], not failed(top))
    sim = await call("sim", {"trace": trace, "nodes": "1x8", "policy": "easy"})
    yield check("sim", told(sim)["schema"] == "brim.sim.v1")
    why = await call("why", {})
    yield check("why, without runs: " + why.content[0].text, failed(why))
    wrong = await call("xid", {"kode": "79"})
    yield check("a wrong argument: " + wrong.content[0].text, failed(wrong))
    both = await asyncio.gather(*[call("xid", {"code": str(code)}) for code in range(1, 9)])
    codes = [told(answer)["xids"][0]["code"] for answer in both]
    yield check("8 calls at once", codes == list(range(1, 9)))
    try:
        refused = failed(await call("submit", {"command": "true"}))
    except Exception as e:  # the two lines have errors of different names
        refused = "brim mcp --act" in str(e)
        print("        submit is refused: " + str(e))
    yield check("submit is refused", refused)


async def run(client, version, tools, trace):
    print(f"mcp {VERSION}, protocol {version}")
    return all([good async for good in look(client.call_tool, tools, trace)])


async def with_handshake(server, trace):
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        return await run(session, part(hello, "protocolVersion", "protocol_version"), tools, trace)


async def without(server, trace):
    from mcp import Client

    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
        return await run(client, client.protocol_version, tools, trace)


def main(brim):
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.csv")
        with open(trace, "w", encoding="utf-8") as f:
            f.write(TRACE)
        env = {"STATE_DIRECTORY": folder, "BRIM_CONF": "/nonexistent"}
        server = StdioServerParameters(command=brim, args=["mcp"], env=env)
        good = asyncio.run(with_handshake(server, trace))
        if int(VERSION.split(".")[0]) >= 2:
            good = asyncio.run(without(server, trace)) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
