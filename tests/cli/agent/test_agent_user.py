"""An agent that root starts under another account: it samples the same, and is nobody special."""

import os
import pathlib
import pwd
import re
import tempfile

import pytest
from conftest import one_line
from served import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to become another user")
ACCOUNT = "nobody"
# net_admin, sys_ptrace, syslog, dac_read_search: include/uapi/linux/capability.h
KEPT = 1 << 12 | 1 << 19 | 1 << 34 | 1 << 2


def status(agent, name):
    text = (agent.folder / "status").read_text()
    return re.search(r"^%s:[ \t]*(.*?)[ \t]*$" % name, text, re.M).group(1)


def metrics(agent):
    """Names of its metrics; what comes and goes with load and processes is of no concern."""
    text = agent.get_sure("/metrics")
    return {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line[:1] != "#"}


@pytest.fixture
def open_folder():
    """One that other users may pass through, as pytest's own ones are not."""
    with tempfile.TemporaryDirectory(prefix="brim-user-") as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


def test_it_is_that_user_and_loses_no_sampler(start, open_folder):
    store = open_folder / "state" / "agent.db"
    root = start("--interval", "200ms")
    agent = start("--interval", "200ms", "--user", ACCOUNT, store=store)
    account = pwd.getpwnam(ACCOUNT)
    assert set(status(agent, "Uid").split()) == {str(account.pw_uid)}
    assert set(status(agent, "Gid").split()) == {str(account.pw_gid)}
    assert status(agent, "Groups") == ""
    assert status(agent, "NoNewPrivs") == "1"
    for name in ("CapPrm", "CapEff"):
        mine = int(status(agent, name), 16)
        assert mine & ~KEPT == 0 and mine == int(status(root, name), 16)
    assert int(status(agent, "CapInh"), 16) == int(status(agent, "CapAmb"), 16) == 0
    wait_until(lambda: agent.value("ticks_total") > 5 and root.value("ticks_total") > 5)
    wait_until(lambda: metrics(root) - metrics(agent) <= {"brim_agent_stored_ticks_total"})
    wait_until(lambda: agent.value("stored_ticks_total") > 2)
    assert store.stat().st_uid == store.parent.stat().st_uid == account.pw_uid
    assert agent.stop() == 0


def test_a_folder_that_is_there_is_not_given_away(start, tmp_path):
    (tmp_path / "mine").mkdir(mode=0o700)
    agent = start("--interval", "200ms", "--user", ACCOUNT, store=tmp_path / "mine" / "agent.db")
    wait_until(lambda: "agent.db" in agent.said())
    assert (tmp_path / "mine").stat().st_uid == 0
    assert agent.get("/healthz")[1] == "ok\n"


@pytest.mark.parametrize("how", [["--listen", "127.0.0.1:0", "--store", "none"], ["--once"]])
def test_an_account_that_is_not_there(brim, how):
    done = brim("agent", *how, "--user", "no-such-one")
    assert done.returncode == 1
    assert "there is no account 'no-such-one'" in done.stderr and "useradd" in done.stderr


def test_one_sample_of_that_user(brim, open_folder):
    """It may write where the account may."""
    path = open_folder / "sample.json"
    one_line(brim("agent", "--once", "--user", ACCOUNT, "--json=%s" % path), 1,
             "cannot write %s: Permission denied" % path)
    os.chmod(open_folder, 0o777)
    assert brim("agent", "--once", "--user", ACCOUNT, "--json=%s" % path).returncode == 0
    assert path.stat().st_uid == pwd.getpwnam(ACCOUNT).pw_uid
