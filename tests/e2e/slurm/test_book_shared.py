"""Two brim controls beside a real Slurm, whose book is in a real PostgreSQL: one leads; when it is
killed the other one goes on where it was, and nothing is done twice."""

import glob
import os
import pathlib
import pwd
import signal
import subprocess
import tempfile

import cluster
import keeper
import pytest
import control_site


def program(name):
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/" + name))
    return found[-1] if found else None


def end_with_the_test():
    """At SIGQUIT it removes what it has in /dev/shm."""
    keeper.LIBC.prctl(keeper.PR_SET_PDEATHSIG, signal.SIGQUIT)


class Postgres:
    """On a socket in a folder of its own, as a user who is not root."""

    def __init__(self, folder):
        self.folder, self.data = folder, str(folder / "data")
        user = pwd.getpwnam("nobody")
        self.user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        os.chown(folder, user.pw_uid, user.pw_gid)
        words = [program("initdb"), "-D", self.data, "-A", "trust", "-U", "brim", "--no-sync",
                 "--no-locale"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=folder, **self.user)
        words = [program("postgres"), "-D", self.data, "-k", str(folder), "-c", "fsync=off",
                 "-c", "listen_addresses="]
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=folder, preexec_fn=end_with_the_test, **self.user)
        pid = pathlib.Path(self.data, "postmaster.pid")
        cluster.wait_for(lambda: pid.exists() and "ready" in pid.read_text(), "PostgreSQL")
        self.address = "postgres://brim@/postgres?host=%s" % folder

    def ask(self, statement):
        words = ["psql", "-X", "-q", "-A", "-t", self.address, "-c", statement]
        done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, timeout=60)
        return done.stdout.strip()

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()


@pytest.fixture(scope="module")
def book():
    if not program("initdb"):
        pytest.skip("no initdb (Debian: postgresql)")
    if os.getuid() != 0:
        pytest.skip("only root can be another user")
    # pytest's folders are for its user alone
    with tempfile.TemporaryDirectory(prefix="brim-postgres-") as folder:
        one = Postgres(pathlib.Path(folder))
        yield one
        one.stop()


class Site(control_site.Site):
    """Its books are in PostgreSQL."""

    def __init__(self, slurm, folder, address):
        super().__init__(slurm, folder)
        self.address = address

    def words(self, mode, _):
        words = ["--mode", mode, "--book", self.address, "--most", "100"]
        words += ["--policy", str(self.folder / "policy.ini")]
        return words + ["--token", str(self.folder / "token")]

    def list(self):
        return self.slurm.run(control_site.BRIM, "control", "list", "--book", self.address)[1]


@pytest.fixture(scope="module")
def site(slurm, book, tmp_path_factory):
    folder = tmp_path_factory.mktemp("control")
    cluster_of_two = slurm(nodes=2, gpus=control_site.GPUS, namespaces=True)
    one = Site(cluster_of_two, folder, book.address)
    yield one
    one.down()


def leader(book):
    """The process that has the lease, by its name there; 0: none."""
    if not book.ask("SELECT to_regclass('lease')"):
        return 0
    text = book.ask("SELECT holder FROM lease WHERE until_ms > 0")
    return int(text.split(":")[1]) if text else 0


def is_process(control, pid):
    """nsenter has become brim: the number is the same."""
    return control.pid == pid


def test_the_next_one_goes_on_where_a_killed_one_was(site, book):
    idle, busy, waits = site.jobs()
    first = site.control("act", "")
    cluster.wait_for(lambda: is_process(first, leader(book)), "the first control's lease")
    second = site.control("act", "")
    log = site.folder / ("log-%d" % (len(site.running) - 1))
    cluster.wait_for(lambda: "leads: waits" in log.read_text(), "the second one's word")
    status, _, said = site.slurm.run(
        control_site.BRIM, "control", "once", *site.words("act", ""), check=False
    )
    assert status == 1 and "another brim control leads" in said
    cluster.wait_for(lambda: "warn" in site.list(), "the first one's decision")
    first.send_signal(signal.SIGKILL)
    first.wait()
    book.ask("UPDATE lease SET until_ms = 1")  # its minute is over
    assert site.slurm.wait_job(waits, "RUNNING")["NodeList"] == "n0"
    cluster.wait_for(lambda: is_process(second, leader(book)), "the second control's lease")
    cluster.wait_for(lambda: "requeue  done" in site.list(), "what was done")
    assert site.slurm.job(idle)["Restarts"] == "1"
    assert site.slurm.job(busy)["JobState"] == "RUNNING"
    assert book.ask("SELECT count(*) FROM action WHERE kind = 0 AND job = %d" % idle) == "1"
    site.stop(second)
    assert second.returncode == 0
    assert leader(book) == 0, "a control that ends gives the lease back"
    site.end_jobs()


def test_without_its_database_a_control_does_nothing(site, book):
    words = site.words("act", "")
    words[words.index("--book") + 1] = book.address + "/none"
    status, _, said = site.slurm.run(control_site.BRIM, "control", "once", *words, check=False)
    assert status == 1 and said.startswith("brim control: PostgreSQL: ") and said.count("\n") == 1


def test_refuses_what_is_no_address(site):
    words = ("control", "list", "--book", "mysql://x")
    status, _, text = site.slurm.run(control_site.BRIM, *words, check=False)
    assert status == 2 and "this is no address: postgres://HOST/NAME" in text
