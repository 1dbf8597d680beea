"""What the commands of the queue ask its engine, and what they make of its answers, byte for byte.

tests/fixtures/golden/queue/*.txt are transcripts as those of test_golden.py; the engine is one of
the test's own, without jobs or a clock. "% NAME" says which one answers from there on (Answers),
and "? " begins a request: its fields, but for those that tell of this machine. To add a case, add
its line, and have script/regenerate write the rest.
"""

import json
import os
import pathlib
import shlex
import socket
import threading
import time

import pytest
from conftest import GOLDEN

FILES = sorted((GOLDEN / "queue").glob("*.txt"))
JOB = {
    "job": "1", "id": 1, "name": "train", "user": "ana", "state": "waiting", "priority": 0,
    "devices": 1, "cpus": 4, "requeue": False, "attempts": 0, "submitted": 1793491200.5,
    "started": None, "ended": None, "ran_s": 0, "limit_s": None, "deadline": None, "place": None,
    "exit": None, "reason": "",
}
RAN = {"attempts": 1, "started": 1793491210, "ended": 1793494810.25, "ran_s": 3600.25}
JOBS = [
    {"state": "done", "exit": 0, "reason": "exit status 0", "place": "GPU0", **RAN},
    {"state": "failed", "exit": 2, "reason": "exit status 2", "devices": 0, "cpus": 1, **RAN},
    {"state": "running", "place": "GPU0,GPU1", "devices": 2, "attempts": 3, "requeue": True,
     "started": 1793491210, "ran_s": 59, "limit_s": 7200, "use": 0.875, "idle_s": None,
     "told": None, "stopped": "stopped for job 9", "after": "afterok:1", "reason": "it may start",
     "team": "nlp", "class": "train", "min_devices": 1, "has": 2},
    {"state": "running", "place": "GPU2", "attempts": 1, "started": 1793491210, "ran_s": 86400,
     "use": 0.004, "idle_s": 2100.5, "told": 1793493000, "priority": -5},
    {"state": "held", "priority": 100, "reason": "held: brim release 5 lets it go on"},
    {"job": "6_3", "array": 6, "task": 3, "name": "twenty-one-letters-ab", "user": "x" * 20,
     "state": "stopping", "reason": "is being cancelled", **RAN},
    {"name": "\u00fc" * 20, "user": "a-user-of-a-long-name", "devices": 64, "priority": -100,
     "reason": "waits for 64 devices: 2 of 4 are free", "deadline": 1793499999},
    {"state": "timeout", "exit": 143, "deadline": 1793494810, "reason": "it reached its limit",
     "limit_s": 3600, **RAN},
    {"name": "a\x1b[2Jb", "state": "done", "exit": 0, "deadline": 1793494811, "cpus": 0, **RAN},
    {"name": "\u00fc" * 21, "state": "lost", "reason": "nobody saw how it ended", "attempts": 2},
]
for number, job in enumerate(JOBS, 1):
    job.setdefault("id", number)
    job.setdefault("job", str(number))
QUIET = ("token", "env", "rlimit", "umask")  # of this machine, or of this moment


def listing(request, gives="devices", **more):
    """The text of an answer with those that were asked for."""
    label, least = request.get("job"), int(request.get("from", 0))
    jobs = [dict(JOB, **job) for job in JOBS]
    if label:
        jobs = [job for job in jobs if label in (job["job"], str(job.get("array")))]
    jobs = [job for job in jobs if job["id"] >= least]
    page = jobs[:4] if "from" in request else jobs
    page = page[: int(request.get("most", 99))]
    rest = jobs[len(page):]
    text = json.dumps({"schema": "brim.jobs.v1", "version": 1, "policy": "fifo", "gives": gives,
                       "slots": 4, "jobs": page}, indent=2, ensure_ascii=False)
    text = text.replace('"jobs": []', '"jobs": [\n  ]') + "\n"
    return {"text": text, "next": rest[0]["id"] if rest else 0, "n": len(page), "status": 0, **more}


class Answers:
    """Engines: each takes a request and returns the fields of its answer."""

    left = 0

    def usual(self, request):
        verb = request["verb"]
        if verb in ("jobs", "wait"):
            return listing(request)
        if verb == "submit":
            forecast = {"text": "would start now, on GPU0"}
            return {"status": 0, **(forecast if request["dry"] == "1" else {"id": 3 if
                    request["name"] == "fails" else 1 if request["name"] == "works" else 8})}
        if verb == "cancel" and "user" in request:
            self.left = (self.left or 3) - 1
            return {"n": self.left, "status": 0}
        return {"status": 0}

    def cpus(self, request):
        return listing(request, gives="CPUs")

    def empty(self, request):
        return listing({**request, "from": "99"})

    def refusing(self, request):
        return {"error": "job %s: no" % request.get("job", "?"), "status": 13}

    def silent(self, request):
        return {"status": 5}

    def odd(self, request):
        return {"n": 1}

    def nothing(self, request):
        return {}

    def no_text(self, request):
        return {"n": 0, "status": 0}

    def no_json(self, request):
        return {"text": '{\n  "jobs": [\n  oops ]', "n": 0, "status": 0}

    def no_list(self, request):
        return {"text": '{\n  "jobs": [\n  ], "jobs": 3 ]', "n": 0, "status": 0}


class Engine:
    """One that listens in a folder and keeps what it is asked."""

    def __init__(self, folder):
        self.answers, self.name, self.asked = Answers(), "usual", []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(folder / "socket"))
        self.socket.listen(8)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            with client:
                self.answer(client)

    def answer(self, client):
        stream = client.makefile("rwb")
        length = int.from_bytes(stream.read(4), "little")
        fields = [f.partition(b"=") for f in stream.read(length).split(b"\0")[:-1]]
        words = [(k.decode(), v.decode("utf-8", "backslashreplace")) for k, _, v in fields]
        self.asked.append(words)
        told = getattr(self.answers, self.name)(dict(words))
        text = b"".join(b"%s=%s\0" % (k.encode(), str(v).encode()) for k, v in told.items())
        stream.write(len(text).to_bytes(4, "little") + text)
        stream.flush()

    def requests(self):
        """What it was asked since the last call, a line each."""
        asked, self.asked = self.asked, []
        return ["? " + " ".join(told(words)) for words in asked]

    def end(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()


def told(words):
    """The fields of a request; a time of this moment as how long ago it is."""
    for key, value in words:
        if key == "since" and value != "0":
            value = "%d minutes ago" % round((time.time() - int(value) / 1e3) / 60)
        if key not in QUIET:
            yield "%s=%s" % (key, value)
    of = {key: [v for k, v in words if k == key] for key in QUIET}
    if of["rlimit"]:
        limits = [v.split()[0] for v in of["rlimit"]]
        yield "limits=%s-%s" % (limits[0], limits[-1])
        yield "umask=%s" % of["umask"][0]
        yield "seen=%s" % [v for v in of["env"] if v.startswith("SEEN=")]


@pytest.fixture
def engine(tmp_path):
    folder = tmp_path / "state" / "queue"
    folder.mkdir(parents=True)
    made = Engine(folder)
    yield made
    made.end()


def commands(text):
    return [line for line in text.splitlines() if line.startswith(("$ brim ", "% "))]


def said(brim, line, engine, folder):
    """The lines of one command."""
    work = folder / "work"
    env = {"STATE_DIRECTORY": str(folder / "state"), "SEEN": "h\u00e9"}
    words = shlex.split(line[len("$ brim "):])
    done = brim(*words, env=env, cwd=str(work), preexec_fn=lambda: os.umask(0o27))
    out = [line] + engine.requests() + done.stdout.splitlines()
    out += ["! " + each for each in done.stderr.splitlines()]
    out += ["[%d]" % done.returncode] if done.returncode else []
    return "".join(each + "\n" for each in out).replace(str(folder), "$HERE")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_transcript(brim, tmp_path, engine, file):
    work = tmp_path / "work"
    work.mkdir()
    (work / "folder").mkdir()
    for name in ("plain", "script"):
        (work / name).write_text("#!/bin/sh\n")
    (work / "script").chmod(0o755)
    want = file.read_text(encoding="utf-8")
    parts = []
    for line in commands(want):
        if line.startswith("% "):
            engine.name = line[2:]
            parts.append(line + "\n")
        else:
            parts.append(said(brim, line, engine, tmp_path))
    if os.environ.get("BRIM_REGENERATE"):
        file.write_text("".join(parts), encoding="utf-8")
        want = file.read_text(encoding="utf-8")
    assert "".join(parts).splitlines() == want.splitlines()


def test_there_are_transcripts():
    assert FILES and all(commands(pathlib.Path(f).read_text(encoding="utf-8")) for f in FILES)
