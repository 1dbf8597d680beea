"""Runs that go on, as the agent and brim top tell of them: while they do, and to whom."""

import contextlib
import json
import os
import signal
import subprocess

import pytest
from served import readable_copy, wait_until

BRIM = os.environ.get("BRIM", "")
JOB = os.environ.get("STEP_JOB", "")
LONG = 10000000  # steps: more than any test waits for


@contextlib.contextmanager
def observed(folder, name, *command, verb="run", program=BRIM, **how):
    """A job under observation, which ends with the block."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BRIM_", "SLURM_"))}
    env.update(STATE_DIRECTORY=str(folder), BRIM_CONF="/nonexistent/brim.conf")
    process = subprocess.Popen(
        [program, verb, "--quiet", "--name", name, "--", *[str(c) for c in command]],
        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        **how
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def live(agent):
    return json.loads(agent.get_sure("/api/v1/live.json"))


def runs_of(agent, name):
    return [run for run in live(agent)["runs"] if run["name"] == name]


def judged(agent, name):
    """The row of a run that something is known of."""
    return next((run for run in runs_of(agent, name) if run["sentence"] and run["steps_per_s"]),
                None)


def test_a_run_is_told_of_while_it_goes_on(start, tmp_path):
    """A job that waits for data nine tenths of its time: who, what, how fast, and why."""
    agent = start("--interval", "200ms")
    with observed(tmp_path, "waits", JOB, LONG, 18000, 2000) as process:
        run = wait_until(lambda: judged(agent, "waits"))
        me = subprocess.run(["id", "-un"], stdout=subprocess.PIPE, universal_newlines=True)
        assert run["user"] == me.stdout.strip()
        assert run["limited"] and run["severity"] in ("warning", "critical")
        assert "of the step" in run["sentence"]
        assert run["ranks"] == 1 and run["steps"] > 0 and run["samples_per_s"] > 0
        assert run["split"]["wait"] > run["split"]["forward"] > 0
        assert abs(sum(run["split"].values()) - 1) < 0.01
        assert live(agent)["time_ms"] - 600000 < run["since_ms"] <= live(agent)["time_ms"]
        assert run["trying"] is None
        first = run["steps"]
        # its file is old, and its row away, where brim gets no CPU for a while
        wait_until(lambda: (judged(agent, "waits") or run)["steps"] > first)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    wait_until(lambda: not runs_of(agent, "waits"))


def test_top_has_it_too(brim, start, tmp_path):
    agent = start("--interval", "200ms")
    with observed(tmp_path, "top-has-it", JOB, LONG, 9000, 1000):
        wait_until(lambda: judged(agent, "top-has-it"))
        page = json.loads(brim.out("top", "--json", "--interval", "200ms"))
        assert [run["name"] for run in page["runs"] if run["name"] == "top-has-it"]


def test_the_node_says_what_limits_its_run(start, tmp_path):
    """Where nothing of the node is at its limit: with other tests beside it, that may be never."""
    agent = start("--interval", "200ms")
    with observed(tmp_path, "limits", JOB, LONG, 18000, 2000):
        wait_until(lambda: judged(agent, "limits"))
        times = set()
        while len(times) < 5:
            now = live(agent)
            times.add(now["time_ms"])
            verdict = now["verdict"]
            assert (verdict["run"] is None) == (verdict["bottleneck"] is not None), verdict
            if verdict["run"]:
                assert verdict["state"] == "limit" and verdict["sentence"].startswith("run ")


def test_an_observer_that_was_killed_tells_nothing(start, tmp_path):
    """Its folder stays behind, its lock does not; the job goes on, unobserved."""
    agent = start("--interval", "200ms")
    with observed(tmp_path, "killed", JOB, 2000, 9000, 1000) as process:
        wait_until(lambda: judged(agent, "killed"))
        process.kill()
        process.wait(timeout=60)
        wait_until(lambda: not runs_of(agent, "killed"))
    # the next run removes what the killed one has left
    with observed(tmp_path, "next", "true") as process:
        process.wait(timeout=60)


def test_a_run_without_steps_is_told_of(start, tmp_path):
    agent = start("--interval", "200ms")
    with observed(tmp_path, "no-steps", "sleep", 10000):
        run = wait_until(lambda: next(iter(runs_of(agent, "no-steps")), None))
        assert run["steps"] is None and run["ranks"] is None
        assert run["steps_per_s"] is None and not run["limited"]


@pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to be another user")
def test_who_may_know(start, tmp_path):
    """Root's agent tells of a user's run, under the user's number; another user's tells of none."""
    with readable_copy(BRIM) as program, readable_copy(JOB) as job:
        home = tmp_path / "home"
        home.mkdir(mode=0o777)
        os.chmod(home, 0o777)
        mine = start("--interval", "200ms")

        def become():
            os.setgroups([])
            os.setgid(65533)
            os.setuid(65533)

        with observed(home, "of-a-user", job, LONG, 9000, 1000, program=program,
                      preexec_fn=become, cwd="/"):
            run = wait_until(lambda: judged(mine, "of-a-user"))
            assert run["user"] == "65533", "it has no name here"
            with observed(tmp_path, "of-root", JOB, LONG, 9000, 1000):
                wait_until(lambda: judged(mine, "of-root"))
                page = subprocess.run(
                    [program, "top", "--json", "--interval", "200ms"], preexec_fn=become, cwd="/",
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                )
                names = {r["name"] for r in json.loads(page.stdout)["runs"]}
                assert "of-a-user" in names and "of-root" not in names
