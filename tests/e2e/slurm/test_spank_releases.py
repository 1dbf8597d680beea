"""The plugin's files for all releases of Slurm, called as slurmstepd does: what is offered from
23.11 on, and what they do when nothing works. No Slurm is needed."""

import os
import pathlib
import subprocess

import pytest

BRIM = os.environ.get("BRIM", "")
HOST = os.environ.get("SPANK_HOST", "")
RELEASES = {"22_05": "22.5", "24_11": "24.11", "26_05": "26.5"}


@pytest.fixture(params=RELEASES)
def call(request):
    """call(words): what the plugin of a release did, behind the lines that are always the same."""
    plugin = os.environ.get("BRIM_SPANK_" + request.param, "")

    def made(*words, program=BRIM):
        words = ["program=" + program, *words]
        said = subprocess.run([HOST, plugin, *words], check=True, stdout=subprocess.PIPE, text=True,
                              timeout=60).stdout.splitlines()
        assert said[:2] == ["release " + RELEASES[request.param], "init 0"]
        assert said[-1] == "task 0"
        return said[2:-1]

    made.task = "before " + str(pathlib.Path(plugin).with_name("brim-task"))
    return made


def test_a_word_goes_before_the_command(call):
    for none in ("", "(null)"):
        assert call("brim=" + none) == ["set BRIM_TASK_BRIM=" + BRIM, call.task]
    set_profile = "set BRIM_TASK_PROFILE=resnet"
    assert call("brim=resnet") == ["set BRIM_TASK_BRIM=" + BRIM, set_profile, call.task]


def test_nothing_is_done_unasked(call):
    assert call() == []


def test_odd_values_are_left_out_on_a_node(call):
    assert call("brim-elastic=4-2", "brim-checkpoint-signal=KILL@x", "brim=-x") == []
    assert call("brim-elastic=2-4") == ["set BRIM_ELASTIC=2-4"]
    assert call("brim-checkpoint-signal=USR1") == ["set BRIM_CHECKPOINT_SIGNAL=USR1"]


def test_the_first_task_says_what_is_missing(call):
    assert call("brim=", "rank=1", program="/nonexistent/brim") == []
    said = call("brim=", program="/nonexistent/brim")
    assert len(said) == 1 and said[0].startswith("brim: /nonexistent/brim: it is not there")


def test_it_does_nothing_where_slurm_does_nothing(call):
    assert call("brim=resnet", "brim-elastic=2-4", "brim-bind=", "none=") == []


def test_a_task_that_cannot_be_bound_is_let_alone(call):
    """Once, in words."""
    words = "brim: --brim-bind: %s; the tasks run where Slurm has put them"
    assert call("brim-bind=") == [words % "it has no GPUs"]
    strange = ("brim-bind=", "CUDA_VISIBLE_DEVICES=GPU-1", "SLURM_STEP_GPUS=0")
    assert call(*strange) == [words % "Slurm does not tell the numbers of its GPUs"]
    assert call(*strange, "rank=1") == []
