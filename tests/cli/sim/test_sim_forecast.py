"""brim sim: what jobs take, told from those of the same user that ended before."""

import pytest
from conftest import actions, one_line

TRACE = "job_id,submit_s,gpus,duration_s,user\n" + "".join(
    f"{user}{i},{i},1,{seconds},{user}\n"
    for i in range(3)
    for user, seconds in (("quick", 10), ("slow", 1000))
) + """hold,2000,8,100,other
slow-new,2010,8,1000,slow
quick-new,2020,8,10,quick
quick-long,3500,8,5000,quick
slow-next,3700,8,1000,slow
tick,4600,8,10,quick
"""
POLICY = "[policy]\norder = srtf\npreempt = victims\nlength = history\nrestart = 0s\n"


def test_who_goes_first(brim, trace, policy):
    said = actions(brim, trace, policy(POLICY))
    words = [line.split() for line in said if " starts " in line]
    starts = [w[2] for w in words if float(w[0]) >= 2000]
    # those of quick took 10 s: its new one goes before that of slow, which came before
    assert starts[:4] == ["hold", "quick-new", "hold", "slow-new"]
    # its long one is thought to end soon, until it has run for longer than those of slow take
    assert starts[4:] == ["quick-long", "tick", "slow-next", "quick-long"]


def test_what_is_refused(brim, trace, policy):
    path = policy(POLICY.replace("victims", "rebuild"))
    done = brim("sim", trace, "--nodes", "1x8", "--policy", path)
    one_line(done, 1, "length = history is for policies that let jobs run on")


@pytest.mark.parametrize("name", ["srtf-history"])
def test_named(brim, trace, name):
    assert name in brim.out("sim", "--policies")
    assert name in brim.out("sim", trace, "--nodes", "1x8", "--policy", name)
