"""brim control with a real Prometheus that asks the agents: it sees what control sees by asking
them itself, on a real Slurm; and what is said when Prometheus cannot tell."""

import json
import shutil
import subprocess

import cluster
import pytest
import slurm_config
import control_site

PORT = 9090  # in a namespace of its own
CONFIG = """global: {scrape_interval: 1s}
scrape_configs:
- job_name: brim
  authorization: {credentials_file: %s}
  static_configs: [{targets: [%s]}]
"""


class Prometheus:
    """Beside slurmctld."""

    def __init__(self, site):
        self.site, self.config = site, site.folder / "prometheus.yml"
        targets = ", ".join("'%s:9410'" % slurm_config.address(node) for node in range(2))
        self.config.write_text(CONFIG % (site.folder / "token", targets))
        self.process = None

    def start(self):
        pid = str(self.site.slurm.pids()["slurmctld"])
        words = ["--config.file=%s" % self.config, "--log.level=error",
                 "--storage.tsdb.path=%s" % (self.site.folder / "tsdb"),
                 "--web.listen-address=127.0.0.1:%d" % PORT]
        self.process = subprocess.Popen(
            ["nsenter", "-t", pid, "--net", "--uts", "prometheus", *words],
            stdin=subprocess.DEVNULL,
        )

    def stop(self):
        if self.process:
            self.site.stop(self.process)
        self.process = None


@pytest.fixture(scope="module")
def site(slurm, tmp_path_factory):
    if not shutil.which("prometheus"):
        pytest.skip("no prometheus (Debian: prometheus)")
    folder = tmp_path_factory.mktemp("prometheus")
    one = control_site.Site(slurm(nodes=2, gpus=control_site.GPUS, namespaces=True), folder)
    yield one
    one.down()


@pytest.fixture
def prometheus(site):
    one = Prometheus(site)
    one.start()
    yield one
    one.stop()


def words(site, book, *more):
    where = "http://127.0.0.1:%d" % PORT
    policy = str(site.folder / "policy.ini")
    return ["control", "once", "--policy", policy, "--directory", str(site.folder / book),
            "--prometheus", where, *more]


def look(site, book, *more):
    """What it prints."""
    return site.slurm.run(control_site.BRIM, *words(site, book, *more))[1]


def told(site, book, ready, what):
    """What it prints as soon as that is so."""
    def there():
        text = look(site, book)
        return text if ready(text) else None

    return cluster.wait_for(there, what)


def first_line(text):
    return text.splitlines()[0]


def test_sees_the_idle_job_that_agents_tell_of(site, prometheus):
    idle, busy, _ = site.jobs()
    by_agents = cluster.wait_for(
        lambda: [j for j in site.once("observe", "a")["jobs"] if j["idle_s"] > 0], "an idle job"
    )
    assert [j["id"] for j in by_agents] == [idle]
    same = lambda t: "keeps 8 of 16 GPUs idle" in t and "nobody tells" not in t
    told(site, "p", same, "the same by Prometheus")
    jobs = json.loads(look(site, "p", "--json"))["jobs"]
    assert {j["id"]: j["idle_s"] > 0 for j in jobs} == {idle: True, busy: False}
    prometheus.stop()
    text = first_line(look(site, "q"))
    assert text.endswith("how busy 2 are, nobody tells: Prometheus (http://127.0.0.1:%d) is not "
                         "there: nothing listens on port %d" % (PORT, PORT))
    site.end_jobs()


def test_says_what_is_wrong_with_the_question(site, prometheus):
    site.jobs()
    told(site, "r", lambda t: "nobody tells" not in t, "what Prometheus tells")
    wrong = {
        "sum(": "refuses the query: invalid parameter \"query\": 1:5: parse error",
        "1": "answers with a scalar: the query must give a series for each GPU",
        "nothing": "Prometheus has no series of the last minute for the query",
        "up": "node n0: its series have no label gpu with a number",
        "brim_gpu_busy_ratio offset 1h": "Prometheus has no series of the last minute",
        "max by (gpu) (brim_gpu_busy_ratio)":
            "none of the 8 series of Prometheus is of a node that Slurm knows: the first one has",
        "brim_gpu_busy_ratio * 100":
            "nothing is known of GPU 0 of node n1: Prometheus says 90, which is no share",
    }
    for query, words in wrong.items():
        text = first_line(look(site, "r", "--prometheus-query", query))
        assert words in text, query
        assert "nobody tells" in text, query
    site.end_jobs()


@pytest.mark.parametrize("more, said", [
    (("--prometheus", "https://x"), "brim speaks http alone"),
    (("--prometheus", "http://"), "this is no address"),
    (("--token", "token"), "--token is for agents"),
    (("--prometheus-query", "x" * 5000), "longer than 4096 bytes"),
])
def test_refuses_what_cannot_be_meant(site, more, said):
    status, _, text = site.slurm.run(control_site.BRIM, *words(site, "w", *more), check=False)
    assert status == 2 and said in text
    status, _, text = site.slurm.run(control_site.BRIM, "control", "once", "--prometheus-query",
                                     "up", "--directory", str(site.folder / "w"), check=False)
    assert status == 2 and "--prometheus-query up needs --prometheus URL" in text
