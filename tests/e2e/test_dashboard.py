"""The dashboard: what it shows, in both themes, on a narrow screen, by keyboard, over a restart."""

import os
import pathlib
import subprocess
import sys
import time

import pytest
from conftest import ROOT, Agent, until

sys.path.insert(0, str(ROOT / "tests" / "cli"))
from scripted_agents import Agents, limited, report  # noqa: E402

CONTRAST = (pathlib.Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
# Pixels of a chart's canvas that are as its first line is: the line, and not axes and grid.
DRAWN = """(() => {
  const canvas = document.querySelector("#charts canvas");
  const wanted = getComputedStyle(document.documentElement).getPropertyValue("%s").trim();
  const [r, g, b] = wanted.match(/[0-9a-f]{2}/g).map((two) => parseInt(two, 16));
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let n = 0;
  for (let i = 0; i < data.length; i += 4) {
    const off = Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b);
    n += data[i + 3] > 128 && off < 24 ? 1 : 0;
  }
  return n;
})()"""
CPU_LINE = DRAWN % "--c2"


def test_it_shows_this_machine_and_moves(start, browse):
    """Loads without a complaint of the browser, and has a new sample each second."""
    agent = start(interval="1s")
    page = browse(agent.url).live()
    assert page.status == 200
    assert page.texts("#stages .title") == ["Storage", "CPU", "PCIe", "GPU", "Network"]
    assert len(page.text("#sentence")) > 10
    page.wait("!document.querySelector('#processes-section').hidden")
    times, points = set(), set()

    def moved():
        times.add(page.text("#time"))
        points.add(page.text("#charts .u-legend .u-series .u-value"))
        return len(times) >= 3 and len(points) >= 3

    begin = time.monotonic()
    assert until(moved, 60), (times, points)
    assert time.monotonic() - begin > 1, "it has one a second, not more"
    assert until(lambda: page.get(CPU_LINE) > 0, 60)
    # That canvases are read often is our doing, where the line takes some time to come.
    assert [line for line in page("said") if "willReadFrequently" not in line] == []
    if agent.sample()["gpus"]:
        return
    assert page.get("document.querySelector('#gpus-section').hidden")
    legend = page.text("#charts .u-legend")
    assert "CPU" in legend and "PCIe" not in legend and "GPU" not in legend, legend
    for stage in ("pcie", "gpu"):
        card = "[data-stage=%s]" % stage
        assert "there is no accelerator" in page.text(card)
        assert page.text(card + " .word") == "none"


def test_history_is_drawn_after_a_reload(start, browse, tmp_path):
    agent = start(store=tmp_path / "store.db", interval="200ms")
    browse(agent.url).live()
    stored = "fetch('/api/v1/history?seconds=600&step=1').then((a) => a.json()).then((h) => " \
        "h.series.cpu.filter((v) => v !== null).length)"
    page = browse(agent.url, block=["**/api/v1/live"])
    assert until(lambda: page.get(stored) >= 6, 60), "the store has nothing"
    page("reload")
    page.wait("document.querySelector('#charts canvas')")
    assert until(lambda: page.get(CPU_LINE) > 0, 60), "nothing arrives: this is of the store"
    bare = browse(agent.url, block=["**/api/v1/live", "**/api/v1/history*"])
    bare.wait("document.querySelector('#charts canvas')")
    assert bare.get(CPU_LINE) == 0


def test_memory_is_drawn_where_nothing_is_stored(start, browse):
    agent = start(interval="200ms")
    page = browse(agent.url, block=["**/api/v1/live"])
    kept = "fetch('/api/v1/history?seconds=600&step=1').then((a) => a.json()).then((h) => " \
        "h.series.cpu.filter((v) => v !== null).length)"
    assert until(lambda: page.get(kept) >= 8, 60), "the memory has nothing"
    page("reload")
    page.wait("document.querySelector('#charts canvas')")
    drawn = "%s + %s" % (CPU_LINE, DRAWN % "--c1")
    assert until(lambda: page.get(drawn) > 0, 60), "nothing arrives: this is of the memory"


def test_accelerators(start, browse, gpus):
    agent = start("--fake", gpus)
    page = browse(agent.url).live()
    page.wait("document.querySelectorAll('.gpu').length === 8")
    page.wait("document.querySelector('.gpu .facts').innerText.includes('PCIe')")
    cards = page.texts(".gpu")
    for wanted in ("97 %", "71 %", "42 %", "64.4 of 85.9 GB", "650 of 700 W", "61 °C", "1.98 GHz"):
        assert wanted in cards[0], cards[0]
    assert "↓ 2 GB/s" in cards[0] or "↓ 2.00 GB/s" in cards[0]
    assert page.texts(".gpu:nth-child(3) .chip") == ["held down: power"]
    assert page.texts(".gpu:nth-child(4) .chip") == ["held down: thermal"]
    assert "40 %" in cards[3] and "92 °C" in cards[3]
    assert page.texts(".gpu:nth-child(6) .chip") == ["lost"]
    assert "97 %" not in cards[5]
    assert page.texts(".gpu:nth-child(1) .chip") == []
    assert "699 of 700 W" in cards[2]
    assert page.text("#gpus-count").startswith("8 ")
    bars = page.get(
        "[...document.querySelectorAll('.gpu:first-child .line:not([hidden]) .bar')].map((bar) => "
        "bar.firstChild.getBoundingClientRect().width / bar.clientWidth)"
    )
    assert bars == pytest.approx([0.97, 0.71, 0.42, 0.75, 650 / 700], abs=0.02)
    page.wait("document.querySelector('#stages .bottleneck .title').innerText === 'GPU'")
    assert "fake5 is lost" in page.text("#sentence")
    assert page.get("document.querySelector('#verdict').dataset.severity") == "critical"
    assert "Accelerators busy, mean" in page.texts("#charts figcaption")
    # a number stays beside its unit, and CPU comes before names that may be hashes
    assert "64.4\u00a0of" not in page.get("document.querySelector('.gpu').innerText")
    assert "85.9\u00a0GB" in page.get("document.querySelector('.gpu').innerText")
    keys = page.get("[...document.querySelectorAll('#processes th')].map((h) => h.dataset.key)")
    assert keys.index("cpu") < keys.index("job")
    assert page("said") == []


def test_alerts_say_what_to_do(start, browse, gpus):
    page = browse(start("--fake", gpus).url).live()
    page.wait("document.querySelector('#alerts').innerText.includes('memory errors')")
    alerts = [a for a in page.texts("#alerts li") if "fake6" in a]
    assert len(alerts) == 1
    assert "critical" in alerts[0] and "could not be corrected" in alerts[0]
    assert "nvidia-smi -q -d ECC; drain the node and reset the GPU" in alerts[0]
    page.wait("document.querySelector('#events').innerText.includes('fallen off the bus')")


def test_names_are_text(start, browse, gpus, tmp_path):
    """What a process, a GPU or the kernel's log says is never markup."""
    name = "<img src=x a=1>"
    code = "import ctypes, time; ctypes.CDLL(None).prctl(15, %r, 0, 0, 0)\n" % name.encode()
    code += "while True: sum(range(20000)); time.sleep(0.004)"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        page = browse(start("--fake", gpus).url).live()
        page.wait("document.querySelector('#events').innerText.includes('<img src=x onerror')")
        page.wait("[...document.querySelectorAll('#processes td')].some((cell) => "
                  "cell.textContent === %r)" % name)
        assert "<img src=x onerror=alert(1)>" in page.text(".gpu:nth-child(5)")
        assert page.get("document.querySelectorAll('img, main script').length") == 0
        assert page("said") == []
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_themes(start, browse, gpus, scheme):
    """As the system has it, then by the button; remembered; readable."""
    page = browse(start("--fake", gpus).url, colorScheme=scheme).live()
    page.wait("document.querySelectorAll('.gpu').length === 8 && "
              "document.querySelectorAll('#alerts li').length > 0")
    background = "getComputedStyle(document.body).backgroundColor"
    first = page.get(background)
    assert (sum(map(int, first[4:-1].split(","))) > 380) == (scheme == "light")
    assert page.get(CONTRAST) == []
    seen = {first}
    for name in ("light", "dark"):
        page("click", selector="#theme")
        assert page.text("#theme") == "theme: " + name
        seen.add(page.get(background))
        assert page.get(CONTRAST) == []
    assert len(seen) == 2
    page("reload")
    assert page.text("#theme") == "theme: dark"


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_is_wider_than_the_screen(start, browse, gpus, width):
    page = browse(start("--fake", gpus).url, viewport={"width": width, "height": 800}).live()
    page.wait("document.querySelectorAll('.gpu').length === 8 && "
              "document.querySelectorAll('#alerts li').length > 1 && "
              "document.querySelectorAll('#processes tbody tr').length > 0")
    assert page.get("document.documentElement.scrollWidth") == width
    time.sleep(0.5)  # with the second sample rates are known
    # other tests' runs come and go
    page.get("document.querySelector('#runs-section').style.display = 'none'")
    heights = set()

    def still():
        heights.add(page.get("document.querySelector('#charts').getBoundingClientRect().top + "
                             "scrollY - document.querySelector('#alerts').offsetHeight") // 1)
        return False

    until(still, 1.5)
    assert len(heights) == 1, "the page jumps: %s" % heights


def test_keys(start, browse, gpus):
    page = browse(start("--fake", gpus).url).live()
    page.wait("!document.querySelector('#action').hidden")
    reached = []
    for _ in range(40):
        page("press", key="Tab")
        reached.append(page.get("document.activeElement.id || document.activeElement.ariaLabel || "
                                "document.activeElement.innerText"))
    wanted = ["pause", "theme", "copy", "10 min", "1 h", "24 h", "processes"]
    order = [reached.index(name) for name in wanted]
    assert order == sorted(order), reached
    assert {"CPU", "waits for I/O"} <= {name.strip("↓↑\n ") for name in reached}, reached
    page("press", key="p")
    assert page.get("document.querySelector('#pause').getAttribute('aria-pressed')") == "true"
    held = page.get("document.querySelector('main').innerText")
    time.sleep(1.2)
    assert page.get("document.querySelector('main').innerText") == held
    page("press", key="p")
    page.wait("document.querySelector('#pause').getAttribute('aria-pressed') === 'false'")
    page("press", key="t")
    assert page.text("#theme") == "theme: light"
    for key in ("2", "3", "1"):
        page("press", key=key)
        pressed = "[...document.querySelectorAll('#ranges [aria-pressed=true]')].map((b) => " \
            "b.innerText)"
        assert page.get(pressed) == [{"1": "10 min", "2": "1 h", "3": "24 h"}[key]]
    page("press", key="c")
    page.wait("document.querySelector('#copy').innerText !== 'copy'")
    assert page.get("getSelection().toString()") == page.text("#action-text")


def test_tables_sort(start, browse):
    page = browse(start().url).live()
    page.wait("document.querySelectorAll('#processes tbody tr').length > 2")
    column = "[...document.querySelectorAll('#processes tbody tr')].map((row) => " \
        "Number(row.cells[0].textContent))"
    button = "#processes th[data-key=pid] button"
    page("press", key="p")
    page("click", selector=button)
    pids = page.get(column)
    assert pids == sorted(pids, reverse=True)
    page("click", selector=button)
    pids = page.get(column)
    assert pids == sorted(pids)
    assert page.get("document.querySelector('#processes th').ariaSort") == "ascending"
    page("click", selector=button)
    assert page.get("document.querySelector('#processes th').ariaSort") == "none"


def test_nothing_moves_for_who_wants_that(start, browse, gpus):
    page = browse(start("--fake", gpus).url, reducedMotion="reduce").live()
    page.wait("document.querySelectorAll('.gpu').length === 8")
    time.sleep(0.6)
    assert page.get("document.getAnimations().length") == 0
    moving = "[...document.querySelectorAll('*')].filter((node) => " \
        "parseFloat(getComputedStyle(node).transitionDuration) > 0).length"
    assert page.get(moving) == 0


def test_it_comes_back_when_the_agent_does(start, browse):
    agent = start()
    page = browse(agent.url).live()
    assert page("said") == []
    agent.stop()
    page.wait("document.querySelector('#connection').dataset.state === 'lost'")
    assert "does not answer" in page.text("#connection")
    again = Agent(port=agent.port)
    try:
        page.live()
        held = page.text("#time")
        assert until(lambda: page.text("#time") != held, 60)
        assert page.text("#connection") == "live"
    finally:
        again.stop()


STEPS = """
import ctypes, os, sys, time
step = ctypes.CDLL(os.path.join(os.environ["BRIM_LIB"].split(":")[0], "libbrim-step.so"))
step.brim_step_open.restype = ctypes.c_void_p
handle = ctypes.c_void_p(step.brim_step_open(b"test"))
while True:
    step.brim_step_begin(handle)
    step.brim_stage_begin(handle, 1)
    time.sleep(0.018)
    step.brim_stage_end(handle, 1)
    step.brim_stage_begin(handle, 3)
    time.sleep(0.002)
    step.brim_stage_end(handle, 3)
    step.brim_step_end(handle)
"""


@pytest.fixture
def observed(tmp_path):
    """observed(name): a job under 'brim run' that waits for data nine tenths of its time."""
    started = []
    library = pathlib.Path(os.environ.get("BRIM_LIB", "").split(":")[0]) / "libbrim-step.so"
    if not library.exists():
        pytest.skip("the library of marks is not built here")

    def one(name):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
        env.update(STATE_DIRECTORY=str(tmp_path), BRIM_CONF="/nonexistent/brim.conf")
        started.append(subprocess.Popen(
            [os.environ["BRIM"], "run", "--quiet", "--name", name, "--", sys.executable, "-c",
             STEPS],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        ))
        return started[-1]

    yield one
    for process in started:
        process.terminate()
        process.wait(timeout=60)


def test_runs(start, browse, observed):
    """A job that is observed while the page is open: its row, its sentence; then it ends."""
    name = "train <b>me</b>"
    page = browse(start().url).live()
    row = "[...document.querySelectorAll('#runs .run')].find((run) => " \
        "run.querySelector('.thing').textContent === %r)" % name
    process = observed(name)
    page.wait("%s?.querySelector('.sentence').textContent.includes('of the step')" % row)
    text = page.get(row + ".innerText")
    assert "steps/s" in text and "wait " in text and "since" in text, text
    assert page.get(row + ".dataset.severity") in ("warning", "critical")
    assert page.get(row + ".querySelector('.trying').hidden")
    wide = "[...%s.querySelectorAll('.split i')].map((part) => part.offsetWidth)" % row
    widths = page.get(wide)
    assert widths[0] > 4 * widths[2] > 0 and widths[1] == 0, widths
    for scheme in ("light", "dark"):
        page("click", selector="#theme")
        assert page.text("#theme") == "theme: " + scheme
        assert page.get(CONTRAST) == []
    process.terminate()
    page.wait("!%s" % row)
    assert page("said") == []


def test_processes_have_the_name_of_their_run(start, browse, observed):
    """Not that of a control group, which says nothing to who looks for a job."""
    agent = start()
    observed("named <i>so</i>")
    page = browse(agent.url).live()
    assert until(lambda: any(p["job"] == "named <i>so</i>" and p["comm"].startswith("python")
                             for p in agent.sample()["processes"]), 60)
    if not page.get("document.querySelector('#processes-all').hidden"):
        page("click", selector="#processes-all")
    page.wait("[...document.querySelectorAll('#processes td')].some((cell) => "
              "cell.textContent === 'named <i>so</i>')")
    assert page("said") == []


def there(page, code):
    """Whether that holds of the page; not while it goes from one address to the next."""
    try:
        return page.get(code)
    except AssertionError:
        return False


def ended(page, name):
    """The row of a finished run, as an expression."""
    return "[...document.querySelectorAll('#finished tbody tr')].find((row) => " \
        "row.querySelector('a').textContent === %r)" % name


def test_finished_runs(start, browse, observed, tmp_path):
    """Two that end while the page is open: in the list with their verdicts, side by side, a page of
    each."""
    (tmp_path / "runs").mkdir()
    agent = start("--runs", tmp_path / "runs")
    page = browse(agent.url).live()
    names = ["first", "<b>second</b>"]
    for name in names:
        process = observed(name)
        live = "[...document.querySelectorAll('#runs .thing')].some((b) => b.textContent === %r)"
        page.wait(live % name)
        page.wait("[...document.querySelectorAll('#runs .run')].find((run) => run.querySelector("
                  "'.thing').textContent === %r).querySelector('.sentence').textContent.includes("
                  "'of the step')" % name)
        assert not page.get(ended(page, name))
        process.terminate()
        page.wait(ended(page, name))
        cells = page.get(ended(page, name) + ".innerText")
        assert "signal 15" in cells or "status" in cells, cells
        assert "%" in cells and "s" in cells, cells
    assert page.get("document.querySelectorAll('main b b, #finished b').length") == 0
    assert page.get("document.querySelector('#finished-compare').disabled")
    for scheme in ("light", "dark"):
        page("click", selector="#theme")
        assert page.text("#theme") == "theme: " + scheme
        assert page.get(CONTRAST) == []
    report = browse(page.get(ended(page, names[1]) + ".querySelector('a').href"))
    assert report.status == 200 and "second" in report.text("header")
    assert report.get("document.querySelectorAll('svg').length") > 1
    assert report.get("getComputedStyle(document.querySelector('.line i')).width") != "0px"
    for name in names:
        page.get(ended(page, name) + ".querySelector('input').click()")
    page("click", selector="#finished-compare")
    assert until(lambda: there(page, "document.querySelectorAll('main.wide h1').length === 2"), 60)
    text = page.text("main")
    assert text.index("first") < text.index("second") < text.index("What differs")
    assert page("said") == [] and report("said") == []


def test_what_optimize_tries(start, browse, tmp_path):
    """On the page while it is on trial: what brim optimize says of it on standard error."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "SLURM_"))}
    env.update(STATE_DIRECTORY=str(tmp_path), BRIM_CONF="/nonexistent/brim.conf", TUNED="dud")
    page = browse(start().url).live()
    process = subprocess.Popen(
        [os.environ["BRIM"], "optimize", "--interval", "100ms", "--name", "tuned", "--try",
         "loader.workers=5", "--", os.environ["TUNED_JOB"], "100000", "90000", "10000"],
        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True)
    try:
        row = "[...document.querySelectorAll('#runs .run')].find((run) => " \
            "run.querySelector('.thing').textContent === 'tuned')"
        assert any("trying loader.workers=5" in line for line in process.stderr)
        page.wait("%s?.querySelector('.trying').textContent.startsWith("
                  "'brim optimize tries loader.workers=5')" % row)
        assert page.get("%s.querySelector('.trying').checkVisibility()" % row)
        assert page("said") == []
    finally:
        process.terminate()
        process.stderr.close()
        process.wait(timeout=60)
    page.wait("!%s" % row)


def test_finished_runs_fit_a_phone(start, browse, made_runs, tmp_path):
    page = browse(start("--runs", made_runs).url, viewport={"width": 390, "height": 800}).live()
    page.wait("document.querySelectorAll('#finished tbody tr').length === 20")
    page("click", selector="#finished-older")
    page.wait("document.querySelectorAll('#finished tbody tr').length === 40")
    assert page.get("document.documentElement.scrollWidth") == 390
    keys = page.get("[...document.querySelectorAll('#finished tbody tr')].map((row) => "
                    "row.dataset.key)")
    assert keys == sorted(keys, reverse=True) and len(set(keys)) == 40
    page("goto", url=page.get("location.origin") + "/beside?a=%s&b=%s" % (keys[1], keys[0]))
    assert page.get("document.documentElement.scrollWidth") == 390
    assert page("said") == []


def test_older_runs_stay(start, browse, made_runs, observed):
    """A job that ends has the newest runs asked for again: the older ones stay on the page."""
    page = browse(start("--runs", made_runs).url).live()
    page.wait("document.querySelectorAll('#finished tbody tr').length === 20")
    page("click", selector="#finished-older")
    page.wait("document.querySelectorAll('#finished tbody tr').length === 40")
    asked = "performance.getEntriesByType('resource').filter((one) => " \
        "one.name.endsWith('/api/v1/runs?')).length"
    row = "[...document.querySelectorAll('#runs .run .thing')].some((thing) => " \
        "thing.textContent === 'soon over')"
    before = page.get(asked)
    process = observed("soon over")
    page.wait(row)
    process.terminate()
    page.wait("!%s && %s > %d" % (row, asked, before))
    assert page.get("document.querySelectorAll('#finished tbody tr').length") == 40
    assert page("said") == []


# The page's next question for the newest runs waits until answerNewest() is called.
HOLD_NEWEST = """(() => {
  const ask = window.fetch;
  window.fetch = (url, ...how) => {
    if (!String(url).endsWith("/api/v1/runs?")) return ask(url, ...how);
    window.fetch = ask;
    return new Promise((answer) => {
      window.answerNewest = () => { answer(ask(url, ...how)); return true; };
    });
  };
  return true;
})()"""


def test_older_runs_are_shown_after_the_newest(start, browse, made_runs, observed):
    """A click while the newest runs are asked for is not lost."""
    page = browse(start("--runs", made_runs).url).live()
    page.wait("document.querySelectorAll('#finished tbody tr').length === 20")
    assert page.get(HOLD_NEWEST)
    process = observed("soon over")
    page.wait("[...document.querySelectorAll('#runs .run .thing')].some((thing) => "
              "thing.textContent === 'soon over')")
    process.terminate()
    page.wait("!!window.answerNewest")
    page("click", selector="#finished-older")
    assert page.get("document.querySelectorAll('#finished tbody tr').length") == 20
    assert page.get("window.answerNewest()")
    page.wait("document.querySelectorAll('#finished tbody tr').length >= 40")
    assert page("said") == []


def test_runs_fit_a_phone(start, browse, observed):
    page = browse(start().url, viewport={"width": 390, "height": 800}).live()
    observed("a-name-of-a-run-that-is-as-long-as-names-may-get-and-a-little-longer-than-that")
    page.wait("[...document.querySelectorAll('#runs .sentence')].some((p) => "
              "p.textContent.includes('of the step'))")
    assert page.get("document.documentElement.scrollWidth") == 390


@pytest.fixture
def nodes():
    """Agents of other nodes, which are not there: of the last one nothing is."""
    with Agents() as agents:
        agents.add(report())
        agents.add(limited(host="<b>n7</b>", action="iostat -x 1"))
        agents.add(report(alerts_warning=1, alert="/ has 3 % of its room left"))
        agents.add("refused")
        yield agents


def test_nodes(start, browse, nodes):
    """The worst first, each a link to its own page; a name of a node is text."""
    page = browse(start("--nodes", nodes.list).url + "nodes")
    page.wait("document.querySelectorAll('#nodes tbody tr').length === 4")
    assert page.text("#sentence").startswith("4 nodes: 1 does not answer, 1 has warnings, ")
    assert page.texts("#nodes .state") == ["no answer", "alert", "limited", "well"]
    well, limits, alert, dead = nodes.names
    assert page.texts("#nodes a") == [dead, alert, limits, well]
    hrefs = page.get("[...document.querySelectorAll('#nodes a')].map((a) => a.href)")
    assert hrefs == ["http://%s/" % name for name in (dead, alert, limits, well)]
    assert "disk vda is 98 % busy" in page.texts("#nodes .what")[2]
    assert page.get("document.querySelector('#verdict').dataset.severity") == "critical"
    page("press", key="p")
    assert page.text("#pause") == "go on"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nodes_on_a_phone(start, browse, nodes, scheme):
    page = browse(start("--nodes", nodes.list).url + "nodes", colorScheme=scheme,
                  viewport={"width": 390, "height": 800})
    page.wait("document.querySelectorAll('#nodes tbody tr').length === 4")
    assert page.get("document.documentElement.scrollWidth") == 390
    assert page.get("document.querySelector('#nodes').scrollWidth") <= 390
    assert page.get(CONTRAST) == []


def test_nodes_without_a_list(start, browse):
    page = browse(start().url + "nodes")
    page.wait("document.querySelector('#sentence').innerText.includes('--nodes LIST')")
