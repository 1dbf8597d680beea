"""The page of a cluster: a real Slurm, brim control and an agent, in a real browser. What users and
administrators wrote is text there; who acts needs the token of operators, and no other site has
it."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import cluster
import pytest

BRIM = os.environ.get("BRIM", "brim")
STEP_JOB = os.environ.get("STEP_JOB", "")
READ = "a-token-to-read-with"
OPERATE = "a-token-to-operate-with"
HOSTILE = "<img src=x onerror=document.title='hit'>"
REASON = "<b>fan</b> broken"
CONTRAST = (pathlib.Path(__file__).parents[1] / "contrast.js").read_text(encoding="utf-8")
POLICY = "[idle]\nwarn = 1s\nreclaim = 2s\naction = requeue\n"
# All nodes are this machine, so they have one agent: half of the GPUs of each are idle.
FAKE = "[fake]\ncount = 8\n[gpu *]\nbusy_ratio = 0.9\n" + "".join(
    "[gpu %d]\nbusy_ratio = 0\n" % i for i in range(4)
)


class Site:
    """Three nodes of eight GPUs: jobs on n0 and n1, n2 is drained, two jobs wait."""

    def __init__(self, slurm, folder):
        self.slurm, self.folder, self.running = slurm, folder, []
        for name, text in (("policy.ini", POLICY), ("read", READ), ("operate", OPERATE),
                           ("fake.ini", FAKE)):
            (folder / name).write_text(text)
        self.agent = self.start(
            "/metrics", "agent", "--listen", "127.0.0.1:0", "--store", "none", "--fake",
            str(folder / "fake.ini"),
        )
        slurm.run("scontrol", "update", "node=n2", "state=drain", "reason=" + REASON)
        self.idle, self.busy = (self.submit(4, "-w", "n0") for _ in range(2))
        self.watched = self.submit(8, "-w", "n1", "--job-name", HOSTILE, script=self.watch())
        self.waits = self.submit(4)
        self.held = self.submit(1, "--hold", "--job-name", "</td>" + HOSTILE)

    def watch(self):
        """A job that waits for data most of its time, under brim run."""
        if not STEP_JOB:
            return "sleep 3600\n"
        words = "export STATE_DIRECTORY=%s BRIM_CONF=/nonexistent\nexec %s run --quiet -- %s %s\n"
        return words % (self.folder / "state", BRIM, STEP_JOB, "1000000 18000 2000")

    def submit(self, gpus, *options, script="sleep 3600\n"):
        words = ("--gpus-per-node=%d" % gpus, "--requeue", *options)
        job = self.slurm.submit(script, *words)
        if "-w" in options:
            self.slurm.wait_job(job, "RUNNING")
        return job

    def start(self, ends, *words):
        """brim as a service; the address that it says it serves, which ends so."""
        log = self.folder / ("log-%d" % len(self.running))
        with open(log, "wb") as out:
            self.running.append(
                subprocess.Popen(
                    [BRIM, *words], env=dict(self.slurm.env, BRIM_CONF="/nonexistent/brim.conf"),
                    stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                )
            )
        there = lambda: re.search(r"http://127\.0\.0\.1:\d+" + ends, log.read_text())
        return cluster.wait_for(there, "an address in %s" % log).group(0)

    def control(self, mode, book, *words):
        port = re.search(r":(\d+)/", self.agent).group(1)
        return self.start(
            "/", "control", "run", "--every", "1s", "--mode", mode, "--port", port, "--policy",
            str(self.folder / "policy.ini"), "--directory", str(self.folder / book), "--listen",
            "127.0.0.1:0", *words,
        )

    def operators(self):
        return "--operators", str(self.folder / "operate")

    def end(self):
        """The control that was started last."""
        self.running[-1].terminate()
        assert self.running[-1].wait() == 0
        self.running.pop()

    def down(self):
        for p in self.running:
            p.kill()
            p.wait()


@pytest.fixture(scope="module")
def site(slurm, tmp_path_factory):
    one = Site(slurm(nodes=3, gpus=8), tmp_path_factory.mktemp("page"))
    yield one
    one.down()


def ask(url, method="GET", **headers):
    """The status and the text of an answer."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, method=method, headers=names)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read().decode()


def board(url):
    status, text = ask(url + "api/v1/cluster.json")
    return json.loads(text) if status == 200 else None


def looked(told):
    """The same, once Slurm has said why each job waits."""
    return told if all(j["why"] for j in told["queue"]) else None


def actions(url):
    return json.loads(ask(url + "api/v1/actions.json")[1])


def test_says_what_gpus_do_and_why_jobs_wait(site):
    url = site.control("observe", "o")
    known = lambda: (board(url) or {"running": []})["running"][:1]
    idle = cluster.wait_for(lambda: [j for j in known() if j["idle_s"] > 0], "an idle job")[0]
    told = cluster.wait_for(lambda: looked(board(url)), "a reason for each job that waits")
    assert idle["id"] == site.idle and idle["busy"] == 0
    assert told["gpus"] == 24 and told["running_total"] == 3
    assert {u["use"]: u["gpus"] for u in told["uses"] if u["gpus"]} == {
        "works": 12, "idle": 4, "drained": 8
    }
    assert [n["cells"] for n in told["nodes"]] == ["00009999", "00009999", "xxxxxxxx"]
    assert told["nodes"][0]["jobs"] == [site.idle, 0x0F, site.busy, 0xF0]
    assert told["nodes"][2]["state"] == "drained" and told["nodes"][2]["reason"] == REASON
    waits = {j["id"]: j for j in told["queue"]}
    assert waits[site.waits]["why"] in ("Resources", "Priority")
    assert waits[site.held]["reason"] == "its owner holds it"
    assert told["users"][0]["name"] == "root" and told["users"][0]["held"] == 16
    assert told["users"][0]["waited"] == 5
    said = "12 of 24 GPUs do nothing that pays: 8 are on drained nodes, 4 are held by jobs that " \
        "keep them idle; 2 jobs wait for 5 GPUs"
    assert told["sentence"] == said
    site.end()


@pytest.mark.skipif(not STEP_JOB, reason="the job that marks steps is not built here")
def test_tells_what_limits_a_job_that_is_watched(site, browse):
    url = site.control("observe", "v")
    row = lambda: {j["id"]: j for j in (board(url) or {"running": []})["running"]}

    def verdict():
        told = row().get(site.watched, {})
        return told if told.get("limited") else None

    told = cluster.wait_for(verdict, "a verdict")
    assert told["nodes_watched"] == 1 and told["worst_node"] == "n1"
    assert told["steps_per_s"] > 0 and told["severity"] in ("warning", "critical")
    assert "of the step" in told["sentence"] or "of its time" in told["sentence"], told
    assert row()[site.busy]["nodes_watched"] == 0 and "sentence" not in row()[site.busy]
    page = browse(url)
    page.wait("[...document.querySelectorAll('#running td.why')].some((cell) => cell.textContent "
              "=== 'not watched: srun --brim')")
    assert [w for w in page.texts("#running td.why") if w[:20] == told["sentence"][:20]]
    site.end()


def wasted(url):
    told = board(url)
    return {u["use"]: u for u in told["waste"]["uses"]} if told else {}


def test_counts_hours_and_money_over_a_restart(site):
    begun = site.control("observe", "w", "--price", "h100=3600")
    first = cluster.wait_for(lambda: wasted(begun).get("drained"), "hours of drained GPUs")
    assert first["usd"] == pytest.approx(3600 * first["gpu_hours"], abs=2)
    site.end()
    again = site.control("observe", "w", "--price", "h100=3600")
    more = lambda: wasted(again).get("drained", first)["gpu_hours"] > first["gpu_hours"]
    cluster.wait_for(more, "more hours than before")
    told = wasted(again)
    assert told["drained"]["gpu_hours_day"] == told["drained"]["gpu_hours"]
    assert told["works"]["gpu_hours"] > 0
    site.end()


def test_shows_it_in_a_browser(site, browse):
    url = site.control("observe", "b")
    page = browse(url)
    page.wait("document.querySelectorAll('#queue tbody tr').length === 2")
    page.wait("document.querySelectorAll('#running tr[data-idle=true]').length === 1")
    assert "held by jobs that keep them idle" in page.text("#sentence")
    assert page.get("document.querySelector('#verdict').dataset.severity") == "warning"
    assert page.texts("#uses tbody tr td:first-child")[:2] == [
        "at work", "held by jobs that keep them idle"
    ]
    page.get("document.querySelector('#map').focus()")
    for _ in range(4):
        page("press", key="ArrowRight")
    assert page.text("#cell").startswith("n0, GPU 3: busy 0 % of the time")
    assert "job %d " % site.idle in page.text("#cell") and "of root" in page.text("#cell")
    page("press", key="ArrowDown")
    page("press", key="ArrowRight")
    assert page.get("document.querySelector('#map').width") > 300
    # what others wrote is text
    assert HOSTILE in page.texts("#running tbody tr td:nth-child(2)")
    assert "</td>" + HOSTILE in page.texts("#queue tbody tr td:nth-child(2)")
    page.get("document.querySelector('#map').focus()")
    for _ in range(24):
        page("press", key="ArrowRight")
    assert page.text("#cell").endswith("the node is drained: " + REASON)
    assert page.get("document.querySelectorAll('main img, main b').length") == 0
    assert page.get("document.title") == "brim cluster"
    page.wait("document.querySelector('#uses-count').innerText.includes('GPU-hours wasted')")
    assert page.texts("#prices li") == ["H100-SXM5-80GB: $3.99 an hour (lambda, 2026-09-20)"]
    # nobody may act here
    page.wait("document.querySelector('#actions-count').innerText.includes('only shows')")
    assert page.get("document.querySelector('#stop').hidden")
    for scheme in ("light", "dark"):
        page("click", selector="#theme")
        assert page.text("#theme") == "theme: " + scheme
        assert page.get(CONTRAST) == []
    assert page("said") == []
    site.end()


def test_fits_a_phone(site, browse):
    page = browse(site.control("observe", "f"), viewport={"width": 390, "height": 800})
    page.wait("document.querySelectorAll('#queue tbody tr').length === 2")
    assert page.get("document.documentElement.scrollWidth") == 390
    site.end()


def test_says_when_control_has_gone(site, browse):
    url = site.control("observe", "g")
    page = browse(url)
    page.wait("document.querySelectorAll('#queue tbody tr').length === 2")
    assert ask(url + "healthz") == (200, "ok\n")
    site.end()
    page.wait("document.querySelector('#connection').dataset.state === 'lost'")
    assert "does not answer" in page.text("#connection")


# As an ssh that forwards a port does: connections of one user to another port of this machine.
FORWARD = """
import asyncio, sys
async def pump(r, w):
    while data := await r.read(65536):
        w.write(data)
        await w.drain()
    w.close()
async def one(r, w):
    to_r, to_w = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
    await asyncio.gather(pump(r, to_w), pump(to_r, w), return_exceptions=True)
async def main():
    server = await asyncio.start_server(one, "127.0.0.1", 0)
    print("http://127.0.0.1:%d/" % server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@pytest.fixture
def forward():
    """forward(url, user): the address at which a process of that user forwards to it."""
    running = []

    def start(url, user):
        words = ("setpriv", "--reuid", user, "--clear-groups", sys.executable, "-c", FORWARD)
        running.append(
            subprocess.Popen([*words, re.search(r":(\d+)/", url).group(1)], cwd="/",
                             stdout=subprocess.PIPE, text=True)
        )
        return running[-1].stdout.readline().strip()

    yield start
    for p in running:
        p.kill()
        p.wait()
        p.stdout.close()


def test_who_looks_is_told_names_of_its_own_jobs(site, browse, forward):
    job = site.submit(1, "--hold", "--uid", "nobody", "--job-name", "of-nobody")
    url = site.control("observe", "x", "--own", *site.operators())
    told = cluster.wait_for(lambda: board(url), "a board")
    assert all("name" in j for j in told["queue"] + told["running"] + told["users"])  # root is told
    nobody, other = forward(url, "nobody"), forward(url, "daemon")
    names = {j["id"]: j.get("name") for j in board(nobody)["queue"]}
    assert names[job] == "of-nobody" and set(names.values()) == {"of-nobody", None}
    assert not [j for j in board(nobody)["running"] if "name" in j or "sentence" in j]
    assert [u["name"] for u in board(nobody)["users"] if "name" in u] == ["nobody"]
    assert HOSTILE not in json.dumps(board(other)) and "of-nobody" not in json.dumps(board(other))
    assert board(other)["sentence"] == board(nobody)["sentence"]
    text = ask(other + "api/v1/cluster.json", Authorization="Bearer " + OPERATE)[1]
    assert "of-nobody" in text  # operators are told
    page = browse(nobody)
    page.wait("[...document.querySelectorAll('#queue tbody td:nth-child(2)')].some((cell) => "
              "cell.textContent === 'of-nobody')")
    assert "not told" in page.texts("#running tbody tr td:nth-child(2)")
    assert page("said") == []
    site.end()
    site.slurm.run("scancel", str(job))


def test_actions_tell_names_of_own_jobs(site, forward):
    url = site.control("observe", "y", "--own", *site.operators())
    cluster.wait_for(lambda: actions(url)["actions"], "an action")
    assert {a["user"] for a in actions(url)["actions"]} == {"root"}
    assert {a["user"] for a in actions(forward(url, "nobody"))["actions"]} == {""}
    site.end()


def refused(url, path, **headers):
    return ask(url + path, "POST", **headers)[0]


def test_who_acts_needs_the_token_of_operators(site):
    url = site.control("observe", "t", "--token-file", str(site.folder / "read"),
                       *site.operators())
    read, operate = "Bearer " + READ, "Bearer " + OPERATE
    host = url.split("/")[2]
    assert ask(url)[0] == ask(url + "api/v1/cluster.json")[0] == 401
    assert ask(url + "api/v1/actions.json", Authorization=read)[0] == 200
    assert ask(url + "healthz")[0] == 200
    for path in ("api/v1/stop", "api/v1/go", "api/v1/approve?id=1"):
        assert refused(url, path) == 401
        assert refused(url, path, Authorization=read) == 401
        assert refused(url, path, Authorization=operate[:-1]) == 401
        assert refused(url, path, Cookie="brim_token=" + OPERATE) == 401
        assert refused(url, path, Authorization=operate, Origin="http://evil.example") == 403
        for how in ("cross-site", "same-site"):
            assert refused(url, path, Authorization=operate, Sec_Fetch_Site=how) == 403
            assert refused(url, path, Authorization=operate, Sec_Fetch_Site=how,
                           Sec_Fetch_Mode="navigate") == 403
        assert ask(url + path, Authorization=operate)[0] == 405
    told = json.loads(ask(url + "api/v1/actions.json", Authorization=read)[1])
    assert told["stopped"] is False and told["may_act"] is True
    good = {"Authorization": operate, "Origin": "http://" + host, "Sec_Fetch_Site": "same-origin"}
    assert ask(url + "api/v1/stop", "POST", **good)[0] == 200
    assert json.loads(ask(url + "api/v1/actions.json", Authorization=read)[1])["stopped"] is True
    assert ask(url + "api/v1/go", "POST", **good)[0] == 200
    assert json.loads(ask(url + "api/v1/actions.json", Authorization=read)[1])["stopped"] is False
    assert ask(url + "api/v1/approve?id=99", "POST", **good)[0] == 404
    for wrong in ("", "?id=", "?id=x", "?id=1%27--"):
        assert ask(url + "api/v1/approve" + wrong, "POST", **good)[0] == 400
    log = (site.folder / ("log-%d" % (len(site.running) - 1))).read_text()
    assert "stopped all actions on the page, by uid 0\n" in log
    site.end()


def test_without_a_token_of_operators_nobody_acts(site):
    url = site.control("observe", "n")
    for path in ("api/v1/stop", "api/v1/go", "api/v1/approve?id=1"):
        assert refused(url, path, Authorization="Bearer ") == 403
    assert actions(url)["stopped"] is False and actions(url)["may_act"] is False
    site.end()


def test_what_cannot_be_served_is_said(site):
    def said(*words):
        command = (BRIM, "control", "run", "--directory", str(site.folder / "w"), *words)
        status, _, text = site.slurm.run(*command, check=False)
        assert text.startswith("brim control: ") and text.count("\n") == 1
        return status, text

    same = ("--token-file", str(site.folder / "read"), "--operators", str(site.folder / "read"))
    assert "same token" in said("--listen", "127.0.0.1:0", *same)[1]
    assert said("--operators", str(site.folder / "read"))[0] == 2
    status, text = said("--listen", "0.0.0.0:0")
    assert status == 2 and "not a loopback address" in text


def test_other_sites_cannot_act(site, browse):
    url = site.control("observe", "c", *site.operators())
    page = browse(url.replace("127.0.0.1", "localhost"))  # another origin, for a browser
    code = """Promise.all(["no-cors", "cors"].map((mode) => fetch("%sapi/v1/stop", { method: "POST",
        mode, headers: mode === "cors" ? { Authorization: "Bearer %s" } : {} })
        .then((answer) => answer.ok, () => false)))""" % (url, OPERATE)
    assert page.get(code) == [False, False]
    assert actions(url)["stopped"] is False
    site.end()


def test_says_when_slurm_is_away(site, browse):
    url = site.control("observe", "u", "--patience", "1s")
    page = browse(url)
    page.wait("document.querySelectorAll('#queue tbody tr').length > 0")
    os.kill(site.slurm.pids()["slurmctld"], signal.SIGKILL)
    page.wait("!document.querySelector('#notice').hidden")
    assert page.text("#notice").startswith("there is no news: ")
    assert ask(url + "healthz")[0] == 503
    assert page.texts("#queue tbody tr")  # what was known stays
    site.slurm.tell("start", "slurmctld")
    page.wait("document.querySelector('#notice').hidden")
    assert ask(url + "healthz")[0] == 200
    site.end()


def test_an_operator_approves_and_stops_on_the_page(site, browse):
    url = site.control("propose", "p", *site.operators())
    page = browse(url)
    proposed = "[...document.querySelectorAll('#actions li')].find((row) => " \
        "row.innerText.includes('requeue') && row.querySelector('.severity').textContent === '%s')"
    page.wait(proposed % "proposed")
    assert "job %d gives up 4 devices" % site.idle in page.get(proposed % "proposed" + ".innerText")
    button = proposed % "proposed" + ".querySelector('button')"
    page.get(button + ".click()")
    page.wait("document.querySelector('#said').innerText.includes('token is needed')")
    page.get("document.querySelector('#token').value = 'a-token-that-is-none'")
    page.get(button + ".click()")
    page.wait("document.querySelector('#said').innerText.includes('token of operators is needed')")
    page.get("document.querySelector('#token').value = %r" % OPERATE)
    page("click", selector="#stop")
    page.wait("document.querySelector('#notice').innerText.includes('has stopped all actions')")
    page("click", selector="#stop")
    page.wait("document.querySelector('#notice').hidden")
    assert page.get(CONTRAST) == []
    page.get(button + ".click()")
    site.slurm.wait_job(site.waits, "RUNNING")
    page.wait(proposed % "done")
    assert page.get("document.cookie + localStorage.length + sessionStorage.length") == "00"
    site.end()
