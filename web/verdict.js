// The sentence, and the pipeline as an assembly line with the limit lit.
import { at, bar, list, make, mark, say, setBar, show } from "./dom.js";
import { bytes, NONE, number, ofBytes, share, together } from "./format.js";
import { spark, sparkPast, sparkPoint } from "./spark.js";

const WORDS = { idle: "idle", ok: "has room", busy: "busy", limit: "at its limit", unknown: "not known" };

export function showVerdict(verdict) {
  const box = at("verdict");
  mark(box, "severity", verdict.severity);
  mark(box, "state", verdict.state);
  say(at("sentence"), together(verdict.sentence));
  say(at("waste"), verdict.waste ?? "");
  show(at("waste"), Boolean(verdict.waste));
  say(at("action-text"), verdict.action ?? "");
  show(at("action"), Boolean(verdict.action));
  announce(verdict);
}

// For screen readers: not each new figure, but each new state.
let announced = "";

function announce(verdict) {
  const state = `${verdict.state} ${verdict.severity} ${verdict.bottleneck}`;
  if (state !== announced) {
    announced = state;
    say(at("announcement"), verdict.sentence);
  }
}

function stageCard() {
  const title = make("span", "title");
  const word = make("span", "word");
  const load = bar();
  const percent = make("span", "percent");
  const value = make("span", "value");
  const line = spark();
  const detail = make("p", "detail");
  const card = make("li", "stage", make("h3", "", title, word),
    make("div", "load", load, percent), make("div", "flow", value, line), detail);
  card.parts = { title, word, load, percent, value, line, detail };
  return card;
}

function wordOf(stage, none, isLimit) {
  if (none) {
    return "none";
  }
  return isLimit ? "the limit" : WORDS[stage.state];
}

// Without accelerators their stages are quiet: nothing is wrong with them.
export function showStages(live) {
  list(at("stages"), live.stages, stageCard, (card, stage) => {
    const isLimit = stage.id === live.verdict.bottleneck;
    const none = live.gpus.length === 0 && (stage.id === "gpu" || stage.id === "pcie");
    const p = card.parts;
    mark(card, "state", none ? "none" : stage.state);
    mark(card, "stage", stage.id);
    card.classList.toggle("bottleneck", isLimit);
    say(p.title, stage.title);
    say(p.word, wordOf(stage, none, isLimit));
    setBar(p.load, stage.load, `${stage.title}: ${share(stage.load)} of its limit`);
    say(p.percent, share(stage.load));
    say(p.value, together(stage.value ?? NONE));
    say(p.detail, together(stage.detail ?? ""));
    card.title = stage.detail ?? "";
  });
}

// The last loads of each stage; past, once, is what the history has of them: { stage: values }.
export function addSparks(live, past) {
  live.stages.forEach((stage, i) => {
    const { line } = at("stages").children[i].parts;
    if (past) {
      sparkPast(line, past[stage.id]);
    }
    sparkPoint(line, stage.load);
  });
}

function fact(name, text) {
  return text === NONE ? null : [name, text];
}

// What the stages do not say of the machine, in one line.
export function showHost({ cpu, memory }) {
  const used = memory.total === null ? null : memory.total - memory.available;
  const facts = [
    fact("CPUs busy", share(cpu.busy_mean)), fact("fullest CPU", share(cpu.busiest)),
    fact("idle for I/O", share(cpu.iowait)), fact("hypervisor takes", share(cpu.steal)),
    fact("load", number(cpu.load1)), fact("memory", ofBytes(used, memory.total)),
    memory.swap_used ? fact("swap", bytes(memory.swap_used)) : null,
    memory.pressure > 0.005 ? fact("waits for memory", share(memory.pressure)) : null,
  ].filter(Boolean);
  list(at("facts"), facts, () => make("li", "", make("span", ""), make("b", "")),
    (node, [name, text]) => {
      say(node.firstChild, name);
      say(node.lastChild, text);
    });
}
