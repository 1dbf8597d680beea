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
    assert [row for row in rows if "?" not in row and "#" not in row] == [
        "fifo 3 2.35 h 3.01 h 80.5 min 2.00 h 2.02 h 2.02 h 2.02 h 100.0 0",
        "fifo 2 1 50.0 59.2 min 118 min",
        "x 1 2.00 h 2.00 h 0 s 0 s 0 s 0 s 0 s 1.00 16 1 100.0 0 s",
        "y 2 2.53 h 3.02 h 2.01 h 2.01 h 2.02 h 2.02 h 2.02 h 38.01 8 1 0.0 118 min",
        "fifo 3 61.1 min 119 min 30 s 0 s 72 s 88 s 90 s 100.0 0",
        "fifo 2 2 100.0 0 s 0 s",
    ]


TWO = HEAD + "a,0,8,7200\nb,0,8,3600\nc,3600,8,60\n"


def picture(text):
    """The lines of the picture: what stands between the sentences and the first table."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.split()[1:] == ["completion",
                                                                           "allocated"])
    return lines[begin + 1:lines.index("", begin)]


def test_all_policies_in_one_picture(brim, tmp_path):
    """Policies that are told true lengths have a star; the same with other nodes stands below."""
    path, page = tmp_path / "trace.csv", tmp_path / "page.html"
    path.write_text(TWO)
    args = ["sim", path, "--nodes", "1x8", "--policy", "fifo", "--compare", "sjf"]
    assert [line.split() for line in picture(brim.out(*args))] == [
        ["fifo", "2.34", "h", "#" * 20, "100.0", "%", "#" * 20],
        ["sjf", "*", "80.7", "min", "#" * 11, "100.0", "%", "#" * 20],
        "* is told true lengths, which nobody has".split()]
    said = picture(brim.out(*args, "--what-if", "nodes=+1", "--html", page))
    assert [line.split()[0] for line in said] == ["fifo", "nodes=+1", "sjf", "nodes=+1", "*"]
    text = page.read_text()
    bars = text[text.index('<figure class="bars">'):text.index("</figure>")]
    assert bars.count("<tr class=") == 4 and bars.count('<tr class="oracle now">') == 1
    assert bars.count('<tr class="oracle then">') == 1 and bars.count('<tr class="then">') == 1
    assert '<th scope="row">with nodes=+1</th>' in bars and "width:43.0%" in bars


def test_one_policy_has_no_picture(brim, tmp_path):
    path, page = tmp_path / "trace.csv", tmp_path / "page.html"
    path.write_text(TWO)
    text = brim.out("sim", path, "--nodes", "1x8", "--html", page)
    assert "#" not in text and "<figure class=\"bars\">" not in page.read_text()
    with_more = brim.out("sim", path, "--nodes", "1x8", "--what-if", "nodes=+1", "--html", page)
    assert "nodes=+1" in picture(with_more)[1] and '<figure class="bars">' in page.read_text()


def test_shares_that_nobody_knows_have_no_bars(brim, tmp_path):
    """All jobs came at once: no time passed up to the last submission."""
    path, page = tmp_path / "trace.csv", tmp_path / "page.html"
    path.write_text(HEAD + "a,0,1,5\n")
    said = picture(brim.out("sim", path, "--nodes", "1x8", "--compare", "easy", "--html", page))
    assert said[0].split() == ["fifo", "5.0", "s", "#" * 20, "?"] and said[0][-1] == "?"
    assert "not known" in page.read_text() and "nan" not in page.read_text()


def test_nodes_that_nobody_named_are_said_to_be_assumed(brim, tmp_path):
    """Where --nodes is not given the first line says so, and where it is, not."""
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,submit_s,gpus,duration_s\na,0,1,10\n")
    assumed = brim("sim", path).stdout.splitlines()[0]
    assert assumed.endswith("on 64 nodes with 512 devices (assumed: --nodes says what there is)")
    assert brim("sim", path, "--nodes", "64x8").stdout.splitlines()[0].endswith("512 devices")
