"""What brim sim shows to people: times with units in its tables, figures as they are in JSON."""

import json

import pytest

HEAD = "job_id,submit_s,gpus,duration_s\n"


# Around each length at which the unit changes.
@pytest.mark.parametrize("seconds, words", [
    (0.25, "250 ms"), (1, "1.0 s"), (119, "119 s"), (120, "2.00 min"), (599, "9.98 min"),
    (7199, "120 min"), (7200, "2.00 h"), (36000, "10.0 h"), (259199, "72.0 h"),
    (259200, "3.00 d"), (864000, "10.0 d"), (8640000, "100 d"),
])
def test_times_have_units(brim, tmp_path, seconds, words):
    path = tmp_path / "trace.csv"
    path.write_text(HEAD + f"a,0,1,{seconds}\n")
    text = brim.out("sim", path, "--nodes", "1x1")
    row = next(line for line in text.splitlines() if line.startswith("fifo  "))
    assert row.split()[1:4] == ["1", *words.split()]
    group = json.loads(brim.out("sim", path, "--nodes", "1x1", "--json"))["policies"][0]["all"]
    assert (group["completion_s"], group["wait_s"]) == (seconds, 0)


def test_every_time_of_the_tables_has_a_unit(brim, tmp_path):
    """Those by class, those of deadlines, and those with other nodes."""
    path = tmp_path / "trace.csv"
    path.write_text("job_id,submit_s,gpus,duration_s,class,deadline_s\n"
                    "a,0,8,7200,x,7200\nb,0,8,100,y,200\nc,10,8,3600,y,\n")
    text = brim.out("sim", path, "--nodes", "1x8", "--what-if", "nodes=+1")
    rows = [" ".join(line.split()) for line in text.splitlines()
            if line.startswith(("fifo  ", "x  ", "y  "))]
    assert [row for row in rows if "?" not in row] == [
        "fifo 3 2.35 h 3.01 h 80.5 min 2.00 h 2.02 h 2.02 h 2.02 h 100.0 0",
        "fifo 2 1 50.0 59.2 min 118 min",
        "x 1 2.00 h 2.00 h 0 s 0 s 0 s 0 s 0 s 1.00 16 1 100.0 0 s",
        "y 2 2.53 h 3.02 h 2.01 h 2.01 h 2.02 h 2.02 h 2.02 h 38.01 8 1 0.0 118 min",
        "fifo 3 61.1 min 119 min 30 s 0 s 72 s 88 s 90 s 100.0 0",
        "fifo 2 2 100.0 0 s 0 s",
    ]
