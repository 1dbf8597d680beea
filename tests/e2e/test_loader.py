"""The loader of a job is changed while it runs: nothing that comes out of the job changes, what
cannot be done so is refused in one sentence, and nothing is left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from test_shim import SHIM, Job, has_torch, held_port, ranks

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loader_cases.py")

pytestmark = pytest.mark.skipif(not has_torch(), reason="torch is not installed")

AT_RANDOM = "its samples are drawn at random, and workers draw others: --allow numeric"

DONE = """up_and_down to_and_fro own_workers own_workers_that_stay own_workers_that_draw
    batch_sampler no_batches
    subclass_and_collate generator_given next_of_a_variable stay_from_epoch_to_epoch
    a_validation_loader samples_fail the_job_forks sampler_of_an_unknown_length
    dataset_changes_between_epochs
    short_epochs_with_workers_that_stay
    a_lock no_worker_seeds is_traced the_script_sets_workers
    readahead readahead_tells
    stream_up_and_down stream_of_a_file stream_ends_soon stream_the_job_forks"""

AS_BEFORE = {
    "drawn_late": "its samples are drawn at random",
    "dataset_changes_in_an_epoch": "its dataset was changed while workers had copies of it",
    "dataset_changes_in_place": "its dataset was changed while workers had copies of it",
    "workers_die": "its workers died",
    "stream_worker_dies": "its worker died",
    "stream_is_changed": "its dataset was changed while a worker had a copy of it",
    "stream_fails": "a batch failed in its worker",
    "stream_draws_late": "its samples are drawn at random",
    "samples_are_views": "its dataset was changed while workers had copies of it",
    "each_worker_seeds": AT_RANDOM,
}

REFUSED = {
    "draws": [AT_RANDOM],
    "counts_its_calls": ["fetching a batch twice gives two results"],
    "streams": [
        "its dataset is a stream, which one worker can read ahead, not 2",
        "its dataset is a stream, and each worker would have one of its own",
        "its stream draws at random as it is read",
        "its dataset changes as it is read, which the job would not see of a worker's",
        "its stream holds what one process alone can read (queue.Queue)",
        "its stream holds what one process alone can read (a pipe)",
        "its batches are the same tensors again and again",
    ],
    "samplers": [
        "its sampler draws at random as it goes on: --allow numeric",
        "its sampler remembers its place, and would run ahead of the steps",
        "its sampler is its own iterator, and would run ahead of the steps",
    ],
    "in_another_process": [
        "in another process it fails (RuntimeError: not here)",
        "a process that was forked for a try did not bring a batch in 1 s, or died",
        "a batch is another one when a worker fetches it",
        "a process that was forked for a try did not bring a batch in 1 s, or died",
        "a batch holds an object of function, which cannot be compared",
        "its dataset holds a connection (socket.socket)",
    ],
    "held_by_others": [
        "a process that was forked for a try did not bring a batch in 1 s, or died",
        "a process that was forked for a try did not bring a batch in 1 s, or died",
        "its dataset holds a connection (sqlite3.Connection)",
    ],
    "a_loader_of_loaders": [
        "2 loaders feed the steps, which one is meant is open",
        "done",
        "2 loaders feed the steps, which one is meant is open",
    ],
    "start_methods": ["the job starts its processes by spawn, brim would by fork"],
    "requests": [
        "there are no workers that could load ahead",
        "done",
        "no CUDA device is in use, which pinned memory is for",
        "'-1' is not from 0 to 256 workers",
        "'1000' is not from 0 to 256 workers",
        "'x' is not from 0 to 256 workers",
    ],
    "two_training_loaders": [
        "done",
        "2 loaders feed the steps, which one is meant is open",
        "done",
    ],
    "short_epochs": ["its epochs are 1 steps long: workers would start anew in each"],
    "another_thread_reads": ["its batches are read in another thread than the one that steps"],
    "readahead_refused": [
        "its dataset has no list of files (samples, paths), one for each sample",
        "its dataset's list is not one of files that are there",
        "its sampler is not one of torch's, and would run ahead of the steps",
        "the files of 4 batches take 0 MiB of memory, and a quarter of what is free is 0 MiB",
        "'65' is not from 0 to 64 batches",
    ],
    "copies_have_no_room": [
        "3 more workers take 4004 MiB of memory, and half of what is free is 2048 MiB",
        "done",
    ],
    "no_room": [
        "7 more workers take 224 MiB of memory, and half of what is free is 0 MiB",
        "16 batches on their way take 0 MiB of /dev/shm, and half of what is free is 0 MiB",
        "they take 76 open files: ulimit -n is too low",
    ],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Of all cases, which one process runs."""
    status, out, err = Job(tmp_path_factory.mktemp("cases")).run("-W", "ignore", CASES, "--all")
    assert status == 0 and "brim:" not in err, err
    found = [json.loads(line) for line in out.splitlines()]
    return {each["case"]: each for each in found}


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path)


@pytest.mark.parametrize("name", DONE.split())
def test_what_is_done_changes_nothing(results, name):
    said = results[name]
    assert "error" not in said, said
    assert said["same"] and said["told"] == [], said
    assert said["said"] and set(said["said"]) == {"done"}, said


@pytest.mark.parametrize("name", AS_BEFORE)
def test_what_shows_later_is_taken_back(results, name):
    said = results[name]
    assert said["same"] and said["said"][0] == "done", said
    assert len(said["told"]) == 1 and said["told"][0].endswith(": " + AS_BEFORE[name]), said


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_changes_nothing(results, name):
    assert "error" not in results[name], results[name]
    assert results[name]["same"] and results[name]["said"] == REFUSED[name], results[name]


def test_details(results):
    assert results["stay_from_epoch_to_epoch"]["stay"]
    assert results["known_from_the_start"]["same"] and results["known_from_the_start"]["in_force"]
    assert results["taken_back"]["same"] and results["taken_back"]["extra"] == "False"
    assert "workers" not in results["a_validation_loader"]["extra"]
    assert results["two_epochs_at_once"]["same"]
    caught = results["catches_everything"]
    assert caught["same"] and caught["extra"].count("ValueError('sample ") > 10, caught
    told = results["readahead_tells"]
    assert told["once"] and told["ahead"] == 0 and 64 <= told["count"] <= 80, told
    back = results["stream_taken_back"]
    assert back["same"] and back["extra"] == "False" and set(back["said"]) == {"done", "undone"}
    random = results["draws_allowed"]
    assert set(random["said"]) == {"done"} and not random["same"] and not random["told"]
    assert results["next_of_a_variable"]["extra"] == "('_SingleProcessDataLoaderIter', 0, False)"


def test_memory_that_runs_low(results):
    went = results["memory_runs_low"]
    assert went["same"] and went["there"] == [4, 2, 1], went
    low = "memory ran low with %d workers: so it was said"
    assert went["said"][-2:] == [low % 2, "done"], went
    assert [note.partition(": ")[2] for note in went["low"]] == [
        "workers %d, prefetch 2 in force, for %s" % (left, low % n) for left, n in ((2, 4), (1, 2))
    ], went
    stream = results["stream_memory_runs_low"]
    assert stream["same"] and "its worker: so it was said" in stream["told"][0], stream


def test_workers_go_first_where_memory_runs_out(results):
    said = results["first_to_go"]
    assert said["same"] and said["workers"] == [1000] * 4, said
    assert said["job"] == said["job_after"] and said["job"] < 1000, said


def test_each_switch_is_made(results):
    assert len(results["to_and_fro"]["ms"]) == 27


@pytest.mark.timed
def test_later_switches_take_no_time(job):
    _, out, _ = job.run("-W", "ignore", CASES, "to_and_fro")
    first, *later = json.loads(out)["ms"]
    assert len(later) == 26 and sorted(later)[13] < 5 and first < 3000


def test_the_numbers_are_those_of_the_untouched_job(job):
    without = job.run(CASES, "--hash", shim=False)
    for sink in ("extension", "python"):
        assert job.run(CASES, "--hash", BRIM_SINK=sink) == without, sink
    assert without[0] == 0 and without[1].endswith(" 0 False\n")


def test_a_shared_file(job):
    """Four workers seek and read in one open file, 100,000 times."""
    status, out, err = job.run(CASES, "--shared", os.path.join(job.folder, "samples"))
    assert status == 0, err
    assert json.loads(out) == {"wrong": 0, "said": ["done"]}


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def shared_memory(pids):
    """Files of torch that these made: torch_PID_... Other tests run meanwhile."""
    names = [name.split("_") for name in os.listdir("/dev/shm")]
    return [n for n in names if n[0] == "torch" and n[1] in map(str, pids)]


@pytest.mark.parametrize("how", ["raise", "return", "kill", "interrupt", "terminate"])
def test_nothing_is_left_behind(job, tmp_path, how):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    last_step = how if how in ("raise", "return") else "wait"
    process = job.start(CASES, "--end", last_step, TMPDIR=str(temporary))
    pids = [int(pid) for pid in process.first_line().split()]
    if how == "kill":
        process.kill()
    elif how == "terminate":
        process.send_signal(signal.SIGTERM)
    elif how == "interrupt":
        os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=900)
    assert len(pids) == 4
    # Nothing of a worker's end: a line of the job's own traceback may well have the word.
    assert "DataLoader worker" not in err and not re.search(r"(?m)^Process \S+-\d", err), err
    last = {"raise": "ValueError: of the job", "interrupt": "KeyboardInterrupt"}.get(how)
    assert (err.splitlines() or [None])[-1] == last, err
    end = time.monotonic() + 60
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(alive, pids))
    assert shared_memory([process.pid] + pids) == []
    left = os.listdir(str(temporary))
    assert [n for n in left if not n.startswith("torchinductor_")] == []  # torch 2's own


@pytest.mark.parametrize("how", ["unlinking", "shrinking"])
def test_an_end_in_the_middle_leaves_no_memory(job, how):
    """A worker is about to take its memory's name away when the job returns, or gives it up."""
    slow = os.environ["SLOW_UNLINK_LIB"]
    process = job.start(CASES, "--end", how, cold=True, LD_PRELOAD=slow)
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0 and err == "", err
    assert len(out.split()) == 4 and shared_memory(out.split()) == []


def test_a_worker_that_hangs_does_not_keep_the_job(job, tmp_path):
    status, out, err = job.run(CASES, "--hang", str(tmp_path / "began"), cold=True)
    assert status == 0 and err == "", err
    pids = list(map(int, out.split()))
    assert pids and not any(map(alive, pids))


ROOM = """
import sys
sys.path.insert(0, %r)
from brim_torch.loader import resource_limits
print(resource_limits.free_memory(sys.argv[1]))
"""

V2 = {
    "proc/meminfo": "MemTotal: 100 kB\nMemAvailable:    4096 kB\n",
    "proc/self/cgroup": "0::/a/b\n",
    "sys/fs/cgroup/a/b/memory.max": "max\n",
    "sys/fs/cgroup/a/b/memory.current": "5000\n",
    "sys/fs/cgroup/a/memory.max": "2000000\n",
    "sys/fs/cgroup/a/memory.current": "1500000\n",
    "sys/fs/cgroup/a/memory.stat": "file 9\ninactive_file 1000\n",
}
V1 = {
    "proc/meminfo": "MemAvailable:    4096 kB\n",
    "proc/self/cgroup": "4:memory:/job\n1:cpu:/\n",
    "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "3000000\n",
    "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1000000\n",
}


@pytest.mark.parametrize(
    "files, free",
    [(V2, 501000), (V1, 2000000), ({"proc/meminfo": "MemAvailable: 4 kB\n"}, 4096), ({}, None)],
)
def test_memory_that_is_free(tmp_path, files, free):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    said = subprocess.run(
        [sys.executable, "-c", ROOM % SHIM, str(tmp_path)], capture_output=True, encoding="utf-8"
    )
    assert said.stdout.strip() == str(free), said.stderr


WATCH = """
import sys
sys.path.insert(0, %r)
from brim_torch.loader import memory_watch
watch, now = memory_watch.Watch(sys.argv[1]), 100.0
for change in sys.stdin:
    path, _, text = change.rstrip("\\n").partition("=")
    if path:
        with open(sys.argv[1] + "/" + path, "w") as f:
            f.write(text.replace(";", "\\n"))
    now += 11
    print(watch.low(now))
print(watch.low(now + 0.01))
"""

GIB = 1 << 30
GROUPS = {
    "v2": {
        "folder": "sys/fs/cgroup/a/",
        "limit": "memory.max",
        "use": "memory.current",
        "kills": "memory.events=low 0;high 3;max 9;oom 4;oom_kill 1;oom_group_kill 0",
        "proc/self/cgroup": "0::/a\n",
    },
    "v1": {
        "folder": "sys/fs/cgroup/memory/a/",
        "limit": "memory.limit_in_bytes",
        "use": "memory.usage_in_bytes",
        "kills": "memory.oom_control=oom_kill_disable 0;under_oom 0;oom_kill 1",
        "proc/self/cgroup": "4:memory:/a\n1:cpu:/\n",
    },
}


@pytest.mark.parametrize("version", GROUPS)
def test_memory_low_is_told_once_with_the_reason(tmp_path, version):
    """The same changes of files under either version of control groups."""
    group = GROUPS[version]
    folder = tmp_path / group["folder"]
    folder.mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/pressure").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 67108864 kB\nMemAvailable: 33554432 kB\n")
    (tmp_path / "proc/self/cgroup").write_text(group["proc/self/cgroup"])
    (folder / group["limit"]).write_text("%d\n" % (4 * GIB))
    (folder / group["use"]).write_text("%d\n" % GIB)
    name, _, kills = group["kills"].partition("=")
    (folder / name).write_text(kills.replace("oom_kill 1", "oom_kill 0"))
    use = group["folder"] + group["use"] + "=%d"
    pressure = "proc/pressure/memory=some avg10=%d.50 avg60=0.00 total=9;full avg10=0.00 total=0"
    changes = [
        (use % (GIB + 1), ""),
        (use % (4 * GIB - (257 << 20)), "257 MiB of memory are free"),  # five times that was taken
        ("", ""),  # more than a sixteenth is free, and it does not get less
        (use % (4 * GIB - (255 << 20)), "255 MiB of memory are free"),
        (use % GIB, ""),
        (group["folder"] + group["kills"], "a process was killed for want of memory"),
        (pressure % 19, ""),
        (pressure % 20, "processes wait for memory in 20 % of the time"),
        (pressure % 0, ""),
    ]
    said = subprocess.run(
        [sys.executable, "-c", WATCH % SHIM, str(tmp_path)],
        input="".join(change + "\n" for change, _ in changes),
        capture_output=True,
        encoding="utf-8",
    )
    assert said.stdout.split("\n")[:-2] == [want for _, want in changes], said.stderr


REOPEN = """
import os, sys, tempfile
sys.path.insert(0, %r)
from brim_torch.loader import reopen
read = open(__file__ if len(sys.argv) < 2 else sys.argv[1], "rb")
read.seek(7)
log = open(sys.argv[1] + ".log", "a")
deleted = tempfile.TemporaryFile()
deleted.write(b"0123456789")
deleted.flush()
deleted.seek(4)
pid = os.fork()
if not pid:
    assert reopen.files() == []
    read.seek(0), deleted.seek(0)
    assert read.read(3) == b"abc" and deleted.read(2) == b"01"
    log.write("child")
    log.flush()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
assert os.lseek(deleted.fileno(), 0, os.SEEK_CUR) == 4 and deleted.read(1) == b"4"
print(read.read(2), os.path.getsize(sys.argv[1] + ".log"))
"""


def test_files_get_offsets_of_their_own(tmp_path):
    path = tmp_path / "samples"
    path.write_bytes(b"abcdefghijkl")
    said = subprocess.run(
        [sys.executable, "-c", REOPEN % SHIM, str(path)], capture_output=True, encoding="utf-8"
    )
    assert said.stdout == "b'hi' 5\n", said.stderr


HAND = """
import multiprocessing, os, sys, threading
import torch
sys.path.insert(0, %r)
from brim_torch.loader import worker_pipe

def count():
    return len(os.listdir("/proc/self/fd"))

mine, its = multiprocessing.Pipe()
tensors = [torch.full((3,), float(i)) for i in range(300)]
before = count()
message, fds = worker_pipe.dump({"x": tensors, "again": tensors[0], "text": "y"})
thread = threading.Thread(target=worker_pipe.send, args=(its, message, fds))
thread.start()
came = worker_pipe.receive(mine)
thread.join()
worker_pipe.close(fds)
assert came["text"] == "y" and len(fds) == 300
assert all(torch.equal(a, b) for a, b in zip(tensors, came["x"]))
assert came["again"].data_ptr() == came["x"][0].data_ptr()
print(count() - before)  # those of the shared memory, which its tensors keep

class Bad:
    def __reduce__(self):
        return (int, ("no number",))

before = count()
message, fds = worker_pipe.dump([torch.ones(3), Bad()])
worker_pipe.send(its, message, fds)
worker_pipe.close(fds)
try:
    worker_pipe.receive(mine)
except ValueError:
    print("refused")
"""


def test_tensors_through_a_pipe(job):
    """More of them than the kernel takes in one message; and what cannot be made here."""
    status, out, err = job.script(HAND % SHIM, shim=False)
    assert (status, out.splitlines()) == (0, ["300", "refused"]), out + err


SPAWNS = """
import os
import torch
import torch.multiprocessing
from torch.utils.data import DataLoader, TensorDataset

def train(rank):
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(rank)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = TensorDataset(torch.randn(64, 8))
    for epoch in range(3):
        for (x,) in DataLoader(data, batch_size=8, shuffle=True):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
    torch.distributed.barrier()
    if rank == 0:
        print(model.module.weight.detach().numpy().tobytes().hex())

if __name__ == "__main__":
    if "RANK" in os.environ:
        train(int(os.environ["RANK"]))
    else:
        torch.multiprocessing.spawn(train, nprocs=2)
"""


def test_ranks_that_the_script_spawns(job):
    """Two processes by torch.multiprocessing.spawn: all that they start, they start so."""
    path = os.path.join(job.folder, "job.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(SPAWNS)
    untouched = ranks(job, 2, path, shim=False)
    with held_port() as port:
        where = dict(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        status, out, err = job.run(path, BRIM_KNOBS="loader.workers=2", **where)
    assert (status, out) == (0, "".join(untouched)) and "brim:" not in err, err
    rings = job.rings()
    assert sorted((r.head["rank"], r.head["world"]) for r in rings) == [(0, 2), (1, 2)]
    spawn = "the job starts its processes by spawn, brim would by fork"
    assert all(spawn in str(r.notes) for r in rings), [r.notes for r in rings]


def test_a_shim_that_stops_takes_it_back(job):
    text = """
import sys
sys.path.insert(0, %r)
import json
import loader_job as cases
def stop(loop):
    loop.give_up("a test")
    return "stopped"
print(json.dumps(cases.simple({3: "4", 8: stop}, epochs=2)))
"""
    status, out, err = job.script(text % os.path.dirname(CASES))
    assert status == 0, err
    said = json.loads(out)
    assert said["same"] and said["said"] == ["done", "stopped"], said
    assert len(re.findall(r"^brim: the shim stops", err, re.M)) == 1, err
