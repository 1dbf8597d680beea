"""Settings for the job's start: BRIM_KNOBS='target=value;target=value'. One that is wrong makes all
of them void. What is in force is told as knob.TARGET=VALUE, what is not as
knob.TARGET.refused=reason."""

import os
from typing import Any, Dict

from brim_torch.marks.forward import LEARN_STEPS
from brim_torch.marks.loop import Loop, say
from brim_torch.refused import Refused
from brim_torch.settings import knobs, threads
from brim_torch.settings.model import CHANNELS, COMPILE, Model


def read(text: str) -> Dict[str, str]:
    found: Dict[str, str] = {}
    for part in text.split(";"):
        if not part.strip():
            continue
        target, _, value = knobs.parse(part)
        if target in found:
            raise Refused("%s is set twice" % (target,))
        found[target] = value
    return found


class Start:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        try:
            self.settings = read(os.environ.get("BRIM_KNOBS", ""))
        except Refused as e:
            say("BRIM_KNOBS sets nothing (%s)" % (e,))
            self.settings = {}
        self.before_ddp: Any = None

    def install(self, torch: Any) -> None:
        settings = self.settings
        if "threads.inter" in settings:
            threads.inter(self.loop, torch, settings["threads.inter"])
        if {COMPILE, CHANNELS} & set(settings):
            model = Model(self.loop, settings)
            model.install()
            self.before_ddp = model.before_ddp
        if any(target.startswith("loader.") for target in settings):
            from brim_torch.loader import workers

            workers.initial(self.loop, settings)
        if settings:
            self.loop.after_step.append(self.apply)

    def apply(self) -> None:
        """The others, as if they were asked for, when the job has set what it sets and its forward
        passes are known."""
        if self.loop.steps < LEARN_STEPS:
            self.loop.after_step.append(self.apply)
            return
        self.loop.starting = True
        for target, value in self.settings.items():
            knob = knobs.find(target)
            if knob.set is not None and not target.startswith("loader."):
                self.set(target, knob, value)
        self.loop.starting = False
        if not self.loop.ddps and any(target.startswith("ddp.") for target in self.settings):
            self.loop.tell("knob.ddp.refused=the job has made no DistributedDataParallel")

    def set(self, target: str, knob: knobs.Knob, value: str) -> None:
        try:
            knobs.change(self.loop, target, knob, value)
        except Exception as e:
            why = str(e) if isinstance(e, Refused) else repr(e)
            self.loop.tell("knob.%s.refused=%s" % (target, " ".join(why.split())[:150]))
        else:
            self.loop.tell("knob.%s=%s" % (target, value))
