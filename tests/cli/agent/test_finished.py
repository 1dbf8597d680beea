"""Finished runs that the agent serves: which ones, to whom, and what lies among them."""

import html
import json
import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.parse

import pytest
from conftest import one_line
from served import readable_copy, request, status_of, wait_until

TOKEN = "0123456789abcdefABCDEF"
LIST = "/api/v1/runs"


@pytest.fixture(scope="module")
def made(made_state):
    """The folder of made runs: nobody changes it."""
    return os.path.join(made_state["STATE_DIRECTORY"], "runs")


@pytest.fixture
def few(made, tmp_path):
    """A folder with three of them, the oldest first, and their ids."""
    folder = tmp_path / "runs"
    ids = sorted(os.listdir(made))[:3]
    for name in ids:
        shutil.copytree(os.path.join(made, name), folder / name)
    return folder, ids


def page(agent, **query):
    answer = json.loads(agent.get_sure(LIST + "?" + urllib.parse.urlencode(query)))
    assert answer["schema"] == "brim.finished.v1"
    return answer


def ids_of(answer):
    return [run["key"].partition(".")[2] for run in answer["runs"]]


def get(agent, path, **query):
    return agent.get(path + "?" + urllib.parse.urlencode(query))


def status(agent, path, *headers, **query):
    target = path + "?" + urllib.parse.urlencode(query)
    return status_of(agent.exchange(request(target, "Connection: close", *headers)))


def edit(folder, run, old, new):
    """Change what the .ini file of a run says."""
    (path,) = (folder / run).glob("*.ini")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_list_has_what_brim_runs_has(start, made, made_state, brim):
    agent = start("--runs", made)
    told = json.loads(brim.out("runs", "--json", env=made_state))["runs"]
    answer = page(agent, limit=100)
    assert answer["served"] and answer["next"] is None
    assert answer["unreadable_runs"] == answer["unreadable_folders"] == 0
    assert ids_of(answer) == [run["id"] for run in reversed(told)]
    for run, same in zip(answer["runs"], reversed(told)):
        assert run["id"] == same["id"] and run["name"] == same["name"]
        assert run["sentence"] and run["severity"] in ("note", "warning", "critical")
        assert run["end"] in ("exited", "killed") and run["begin_ms"] < run["end_ms"]
        assert (run["steps"] or 0) >= 0 and run["duration_s"] > 0
    me = subprocess.run(["id", "-un"], stdout=subprocess.PIPE, universal_newlines=True)
    assert {run["user"] for run in answer["runs"]} == {me.stdout.strip()}
    assert any(run["limited"] and run["share"] > 0.1 for run in answer["runs"])


def test_a_report_is_that_of_brim_report(start, made, made_state, brim):
    """Also beside the run before it of the same job."""
    agent = start("--runs", made)
    for run in page(agent, limit=3)["runs"]:
        headers, text = get(agent, "/report", run=run["key"])
        assert text == brim.out("report", run["id"], env=made_state)
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script" not in policy
        assert headers["X-Frame-Options"] == "DENY"


def test_two_beside_each_other(start, made):
    agent = start("--runs", made)
    b, a = page(agent, limit=2)["runs"]
    _, text = get(agent, "/beside", a=a["key"], b=b["key"])
    assert text.index(a["id"]) < text.index(b["id"]) < text.index("What differs")
    assert text.count("<h1>") == 2
    for run in (a, b):
        assert html.escape(run["sentence"]).replace("&#x27;", "&apos;") in text
    assert status(agent, "/beside", a=a["key"]) == 400
    assert status(agent, "/beside", a=a["key"], b="0.none") == 404


def test_pages_of_the_list(start, made):
    agent = start("--runs", made)
    whole, seen, before = ids_of(page(agent, limit=100)), [], {}
    while True:
        answer = page(agent, limit=7, **before)
        assert len(answer["runs"]) <= 7
        seen += ids_of(answer)
        if not answer["next"]:
            break
        before = {"before": answer["next"]}
    assert seen == whole and len(whole) > 14


def test_thousands_of_folders(start, few):
    """Of which nothing was stored: one question looks into some, and the next one goes on."""
    folder, ids = few
    for i in range(3000):
        (folder / ("20270101-000000-%04x" % i)).mkdir()
    agent = start("--runs", folder)
    seen, before, asked = [], {}, 0
    while not asked or before:
        answer = page(agent, limit=100, **before)
        seen += ids_of(answer)
        before = {"before": answer["next"]} if answer["next"] else {}
        asked += 1
    assert seen == ids[::-1] and asked == 4


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "before=" + "9" * 200])
def test_wrong_questions(start, made, query):
    answer = start("--runs", made).exchange(request(LIST + "?" + query, "Connection: close"))
    assert status_of(answer) == 400 and b"limit must be" in answer


@pytest.mark.parametrize(
    "key",
    ["", ".", "..", "0", "0.", "0..", "0.../x", "0./etc", "0.../../etc/passwd", "1.x", "-1.x",
     "99.x", "000.x", "x.y", "0.%2e%2e", "0.a/b", "0.\u2025", "0.<img>", "0." + "a" * 70, "0.none"],
)
def test_keys_that_lead_nowhere(start, made, key):
    agent = start("--runs", made)
    for path in ("/report", "/beside"):
        query = {"run": key} if path == "/report" else {"a": key, "b": key}
        answer = agent.exchange(
            request(path + "?" + urllib.parse.urlencode(query), "Connection: close"))
        assert status_of(answer) == (404 if len(key) < 80 else 400), answer
        head, _, body = answer.partition(b"\r\n\r\n")
        assert b"Content-Type: text/plain" in head and body.count(b"\n") == 1
    assert agent.exchange(request("/report", "Connection: close")).startswith(b"HTTP/1.1 400 ")


def test_no_key_leads_out_of_its_folder(start, few):
    """To a run that could be read there."""
    folder, ids = few
    for place in (folder.parent / "elsewhere", folder / ".hidden"):
        shutil.copytree(folder / ids[0], place / ids[0])
    agent = start("--runs", folder)
    assert status(agent, "/report", run="0." + ids[0]) == 200
    for key in ("../elsewhere/", ".hidden/", "../runs/", ids[1] + "/../", "./"):
        assert status(agent, "/report", run="0.%s%s" % (key, ids[0])) == 404, key
    os.rename(folder / ids[0], folder / ("." + ids[0]))
    assert status(agent, "/report", run="0.." + ids[0]) == 404


def test_nothing_is_served_without_a_word(start, made_state, brim):
    """Whoever can reach the page could read what its owner alone may."""
    agent = start()
    assert page(agent) == {"schema": "brim.finished.v1", "served": False, "runs": [], "next": None,
                           "unreadable_runs": 0, "unreadable_folders": 0}
    assert status(agent, "/report", run="0.x") == 404


def test_own_runs(brim, tmp_path, few):
    """Of who starts it; before there is one, too."""
    from served import Agent

    os.environ["STATE_DIRECTORY"] = str(tmp_path)
    try:
        one = Agent(brim.program, tmp_path, "--runs", "own")
        os.environ["STATE_DIRECTORY"] = str(tmp_path / "new")
        (tmp_path / "log").mkdir()
        two = Agent(brim.program, tmp_path / "log", "--runs", "own")
    finally:
        del os.environ["STATE_DIRECTORY"]
    try:
        assert ids_of(page(one)) == few[1][::-1]
        assert page(two)["served"] and page(two)["runs"] == []
    finally:
        one.end()
        two.end()


def test_a_folder_that_cannot_be_served(brim, tmp_path):
    one_line(brim("agent", "--runs", tmp_path / "none"), 1, "--runs", "none", "no such folder")
    (tmp_path / "file").write_text("")
    line = ("agent", "--store", "none", "--listen", "127.0.0.1:0")
    one_line(brim(*line, "--runs", tmp_path / "file"), 1, "--runs", "Not a directory")


def test_several_folders(start, few, made, tmp_path):
    """Their runs are one list by age; one that is gone later is no others' trouble."""
    folder, ids = few
    other = tmp_path / "other"
    last = sorted(os.listdir(made))[-1]
    shutil.copytree(os.path.join(made, last), other / last)
    shutil.copytree(folder / ids[0], other / ids[0])
    agent = start("--runs", folder, "--runs", other)
    keys = [run["key"] for run in page(agent)["runs"]]
    assert keys == ["1." + last, "0." + ids[2], "0." + ids[1], "0." + ids[0], "1." + ids[0]]
    assert all(get(agent, "/report", run=key) for key in keys)
    shutil.rmtree(other)
    assert ids_of(page(agent)) == ids[::-1]
    assert status(agent, "/report", run="1." + last) == 404


def test_what_lies_among_them(start, few, tmp_path):
    """Links, pipes, files, halves: left out, not waited for, and no way to what lies elsewhere."""
    folder, ids = few
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder / ids[0], elsewhere / "20280101-000000-0001")
    (folder / "20280101-000000-0001").symlink_to(elsewhere / "20280101-000000-0001")
    part = folder / "20280102-000000-0001"
    part.mkdir()
    for file in (elsewhere / "20280101-000000-0001").iterdir():
        (part / file.name).symlink_to(file)
    pipe = folder / "20280103-000000-0001"
    pipe.mkdir()
    os.mkfifo(pipe / "part-x-1.ini")
    (folder / "20280104-000000-0001").mkdir()
    half = folder / "20280105-000000-0001"
    half.mkdir()
    (half / "part-x-1.ini").write_text("[run]\nversion = 1\nid = 2028")
    (folder / "20280106-000000-0001").write_text("a file")
    agent = start("--runs", folder)
    answer = page(agent)
    assert ids_of(answer) == ids[::-1] and answer["unreadable_runs"] == 5
    for name in os.listdir(folder):
        assert status(agent, "/report", run="0." + name) == (200 if name in ids else 404), name


def test_what_is_too_large_is_told(start, few):
    """An agent has little memory, and how much a run takes is its owner's choice."""
    folder, ids = few
    (path,) = (folder / ids[1]).glob("*.moments")
    with path.open("r+b") as f:
        f.truncate(33 << 20)
    agent = start("--runs", folder)
    assert ids_of(page(agent)) == [ids[2], ids[0]] and page(agent)["unreadable_runs"] == 1
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(agent, "/report", run="0." + ids[1])
    assert refused.value.code == 503 and b"32 MiB" in refused.value.read()


def test_names_are_text(start, few):
    folder, ids = few
    name = "<img src=x onerror=alert(1)>" + "n" * 1000
    edit(folder, ids[2], "name = ", "name = %s\nname = " % name)
    agent = start("--runs", folder)
    told = page(agent)["runs"][0]["name"]
    assert told.startswith("<img") and len(told) < 400
    text = get(agent, "/report", run="0." + ids[2])[1]
    assert "<img" not in text and "&lt;img" in text


def test_one_that_goes_on_is_not_finished(start, brim, few, tmp_path):
    """Of which an observer that was killed left nothing but its last moments is."""
    folder, ids = few
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "SLURM_"))}
    env.update(STATE_DIRECTORY=str(tmp_path), BRIM_CONF="/nonexistent/brim.conf")
    agent = start("--runs", folder)
    job = tmp_path / "job"
    process = subprocess.Popen(
        [brim.program, "run", "--quiet", "--name", "goes-on", "--", "sh", "-c",
         'echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 1000', job], env=env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )
    wait_until(job.exists)
    try:
        wait_until(lambda: [one for one in os.listdir(folder) if one not in ids and
                            list((folder / one).glob("*.moments"))])
        assert ids_of(page(agent)) == ids[::-1]
    finally:
        process.kill()
        process.wait(timeout=60)
        os.kill(int(job.read_text()), signal.SIGKILL)
    run = wait_until(lambda: [run for run in page(agent)["runs"] if run["name"] == "goes-on"])[0]
    assert run["end"] == "lost" and run["status"] is None


def test_own_runs_before_there_are_any(start, made, tmp_path, monkeypatch):
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    agent = start("--runs", "own")
    assert page(agent)["runs"] == []
    (name,) = sorted(os.listdir(made))[:1]
    shutil.copytree(os.path.join(made, name), tmp_path / "runs" / name)
    assert ids_of(page(agent)) == [name]
    assert agent.stop() == 0 and "No such" not in agent.said()


def test_a_token_is_asked_for(start, made, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN)
    agent = start("--runs", made, "--token-file", token)
    for path in (LIST, "/report", "/beside"):
        assert status(agent, path, run="0.x") == 401
    assert status(agent, LIST, "Authorization: Bearer " + TOKEN) == 200
    for header in ("Origin: http://evil.example", "Sec-Fetch-Site: cross-site"):
        assert status(agent, LIST, header, "Authorization: Bearer " + TOKEN) == 403


@pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to be another user")
def test_rights_of_the_agent_lead_nowhere(brim, few, tmp_path):
    """Its account is not the owner, its capability reads them; a link of a user leads nowhere."""
    from served import Agent

    folder, ids = few
    os.chmod(folder, 0o700)
    evil = tmp_path / "evil"
    evil.symlink_to(folder)
    os.chown(evil, 65534, 65534, follow_symlinks=False)
    with readable_copy(brim.program) as program:
        agent = Agent(program, tmp_path, "--runs", str(folder), "--user", "nobody")
        try:
            assert ids_of(page(agent)) == ids[::-1]
            assert get(agent, "/report", run="0." + ids[0])
        finally:
            agent.end()
        line = ("agent", "--store", "none", "--listen", "127.0.0.1:0", "--runs")
        one_line(brim(*line, evil), 1, "link of another user")


def test_many_ask_at_once_and_no_sample_is_missed(start, made):
    """Questions wait for each other, ticks for none of them."""
    agent = start("--runs", made, "--interval", "200ms")
    sockets = [agent.connect() for _ in range(12)]
    for one in sockets:
        one.sendall(request(LIST + "?limit=100", "Connection: close"))
    for one in sockets:
        text = b""
        while True:
            more = one.recv(65536)
            if not more:
                break
            text += more
        assert text.startswith(b"HTTP/1.1 200 ") and text.count(b'"key":') > 14
        one.close()
    ticks = agent.value("ticks_total")
    wait_until(lambda: agent.value("ticks_total") > ticks)


def test_it_ends_while_it_is_asked(start, made):
    agent = start("--runs", made)
    sockets = [agent.connect() for _ in range(8)]
    for one in sockets:
        one.sendall(request(LIST + "?limit=100"))
    assert agent.stop() == 0
    for one in sockets:
        one.close()
