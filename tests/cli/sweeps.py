"""Commands by the hundred on input that a seed makes: what each says is a line of a file in
tests/fixtures/golden/sweeps, as a sum and some of its figures; script/regenerate writes them. Such
a line tells that something changed, and which case shows it: this test prints its files.
"""

import hashlib
import os
import shlex

from conftest import GOLDEN


class Dice:
    """Numbers that repeat, whatever Python."""

    def __init__(self, seed):
        self.state = seed * 2654435761 + 1

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % n

    def pick(self, items):
        return items[self.below(len(items))]

    def one_in(self, n):
        return self.below(n) == 0


def sum_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Sweep:
    """The cases of one test: say() runs a command on files, end() compares."""

    def __init__(self, brim, folder, name):
        self.brim, self.folder = brim, folder
        self.path = GOLDEN / "sweeps" / (name + ".txt")
        self.lines, self.how = [], []

    def say(self, case, words, files, figures=None):
        """files: {name: text}, that words name; figures(stdout): some of what is said, in words."""
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        done = self.brim(*words, cwd=str(self.folder))
        said = done.stdout + "".join("! %s\n" % line for line in done.stderr.splitlines())
        told = done.stderr.splitlines()[0] if done.stderr else ""
        if done.returncode == 0 and figures:
            told = " ".join([figures(done.stdout), told]).strip()
        self.lines.append("%s: %d %s %s" % (case, done.returncode, sum_of(said), told[:120]))
        self.how.append((words, files, said))

    def end(self):
        if os.environ.get("BRIM_REGENERATE"):
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text("".join(x.rstrip() + "\n" for x in self.lines), encoding="utf-8")
        want = self.path.read_text(encoding="utf-8").splitlines()
        for line, (words, files, said), was in zip(self.lines, self.how, want):
            if line.rstrip() != was:
                for name, text in files.items():
                    print("---- %s\n%s" % (name, text))
                print("$ brim %s\n%s" % (shlex.join(map(str, words)), said[:4000]))
                raise AssertionError("it says '%s', and said '%s'" % (line, was))
        assert len(self.lines) == len(want)
