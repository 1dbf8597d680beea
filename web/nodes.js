// The page of nodes: what their agents say, the worst first, asked for every few seconds.
import { at, list, make, mark, say, show } from "./dom.js";
import { clock, NONE, together } from "./format.js";
import { nextTheme, startTheme } from "./theme.js";

const AGAIN_MS = 5000;
const SEVERITIES = {
  "no answer": "critical", critical: "critical", alert: "warning", limited: "warning",
};

let paused = false;
let asking = false;
let timer = 0;

function row() {
  const name = make("a", "");
  const state = make("td", "text state");
  const idle = make("td", "number idle");
  const what = make("td", "text what");
  const node = make("tr", "", make("td", "text name", name), state, idle, what);
  node.parts = { name, state, idle, what };
  return node;
}

function idleOf({ gpus, gpus_lost: lost, gpus_idle: idle }) {
  const all = (gpus ?? 0) + (lost ?? 0);
  return all > 0 ? `${idle ?? 0} of ${all}` : NONE;
}

function drawRow(node, told) {
  const { name, state, idle, what } = node.parts;
  say(name, told.node);
  if (name.href !== told.url) {
    name.href = told.url;
  }
  name.title = told.host && told.host !== told.node ? told.host : "";
  mark(node, "severity", SEVERITIES[told.state] ?? "note");
  say(state, told.state);
  say(idle, idleOf(told));
  say(what, together(told.sentence));
  what.title = told.action ?? "";
}

function draw(told) {
  const { states } = told;
  const bad = states["no answer"] + states.critical;
  mark(at("verdict"), "severity",
    bad > 0 ? "critical" : states.alert + states.limited > 0 ? "warning" : "note");
  say(at("sentence"), together(told.sentence));
  say(at("time"), clock(told.time_ms));
  say(at("nodes-count"), `${told.nodes}, the worst first`);
  show(at("nodes-section"), true);
  list(at("nodes").tBodies[0], told.rows, row, drawRow);
}

function state(name, words) {
  mark(at("connection"), "state", name);
  say(at("connection"), words);
}

// What a refusal says is shown: that there is no list, for one.
async function take() {
  const answer = await fetch("/api/v1/nodes.json");
  if (answer.ok) {
    const told = await answer.json();
    if (!paused) {
      draw(told);
    }
    state("live", "live");
    return;
  }
  const words = (await answer.text()).trim();
  state("lost", answer.status === 404 ? "no list" : "no answer");
  if (answer.status === 404 || at("nodes-section").hidden) {
    say(at("sentence"), words);
  }
}

async function ask() {
  clearTimeout(timer);
  if (asking || paused || document.hidden) {
    return;
  }
  asking = true;
  await take().catch(() => state("lost", "the agent does not answer; trying again"));
  asking = false;
  timer = setTimeout(ask, AGAIN_MS);
}

function pause() {
  paused = !paused;
  at("pause").setAttribute("aria-pressed", String(paused));
  say(at("pause"), paused ? "go on" : "pause");
  ask();
}

const KEYS = { p: pause, t: () => nextTheme(at("theme")) };

startTheme(at("theme"));
at("pause").addEventListener("click", pause);
at("theme").addEventListener("click", KEYS.t);
document.addEventListener("keydown", (event) => {
  if (!event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat && KEYS[event.key]) {
    KEYS[event.key]();
  }
});
document.addEventListener("visibilitychange", ask);
ask();
