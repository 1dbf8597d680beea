// The jobs that brim watches here now: whose, how fast, where a step's time goes, what limits it.
import { at, list, make, mark, say, show } from "./dom.js";
import { ago, clock, count, number, share, together } from "./format.js";

// In the order of a step.
const STAGES = ["wait", "copy", "forward", "backward", "communication", "optimizer", "checkpoint",
  "other"];

function card() {
  const parts = {
    name: make("b", "thing"), user: make("span", "user"), rate: make("span", "text"),
    since: make("span", "when"), split: make("span", "split"), legend: make("span", "legend"),
    sentence: make("p", "sentence"), todo: make("p", "do"), trying: make("p", "trying"),
  };
  parts.split.append(...STAGES.map((stage) => {
    const part = make("i", "");
    part.dataset.stage = stage;
    return part;
  }));
  parts.split.setAttribute("role", "img");
  parts.todo.append(make("span", "", "do: "), make("code", ""));
  const node = make("li", "run", make("div", "head", parts.name, parts.user, parts.rate, parts.since),
    make("div", "steps", parts.split, parts.legend), parts.sentence, parts.todo, parts.trying);
  node.parts = parts;
  return node;
}

function speed(run) {
  if (run.steps_per_s === null) {
    return run.steps === null ? "marks no steps" : `${count(run.steps)} steps`;
  }
  const samples = run.samples_per_s === null ? "" : `, ${count(run.samples_per_s)} samples/s`;
  return `${number(run.steps_per_s, "steps/s")}${samples}`;
}

function showSplit(parts, split) {
  const shown = STAGES.filter((stage) => split[stage] >= 0.005);
  const words = shown.map((stage) => `${stage} ${share(split[stage])}`).join(", ");
  show(parts.split.parentElement, shown.length > 0);
  [...parts.split.children].forEach((part) => {
    const width = `${(100 * (split[part.dataset.stage] ?? 0)).toFixed(1)}%`;
    if (part.style.width !== width) {
      part.style.width = width;
    }
  });
  if (parts.legend.textContent !== words) {
    say(parts.legend, words);
    parts.split.setAttribute("aria-label", `a step's time: ${words}`);
  }
}

export function showRuns(live) {
  show(at("runs-section"), live.runs.length > 0);
  say(at("runs-count"), String(live.runs.length));
  list(at("runs"), live.runs, card, (node, run) => {
    const p = node.parts;
    mark(node, "severity", run.limited ? run.severity : "note");
    mark(node, "run", run.id);
    say(p.name, run.name);
    say(p.user, run.user ?? "");
    say(p.rate, speed(run));
    say(p.since, run.since_ms === null ? "" :
      `since ${clock(run.since_ms, false)}, ${ago(live.time_ms, run.since_ms)}`);
    showSplit(p, run.split);
    say(p.sentence, together(run.sentence ?? "nothing is known yet"));
    say(p.todo.lastChild, run.action ?? "");
    show(p.todo, Boolean(run.action));
    say(p.trying, run.trying ? `brim optimize tries ${run.trying}` : "");
    show(p.trying, Boolean(run.trying));
  });
}
