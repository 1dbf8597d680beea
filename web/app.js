// The dashboard: a stream of live samples, once a second, drawn as they come.
import { showAlerts } from "./alerts.js";
import { addPoint, hold, loadHistory, pastSeconds, redraw, setRange, startCharts } from "./charts.js";
import { at, mark, say } from "./dom.js";
import { lookForEnded, startFinished } from "./finished.js";
import { clock } from "./format.js";
import { showGpus } from "./gpus.js";
import { showRuns } from "./runs.js";
import { listen } from "./stream.js";
import { showTables, startTables } from "./tables.js";
import { nextTheme, startTheme } from "./theme.js";
import { addSparks, showHost, showStages, showVerdict } from "./verdict.js";

let paused = false;
let latest = null;
let past = null; // of the stages, until the first sample after it is there

function showAll() {
  if (!latest || document.hidden) {
    return;
  }
  const { verdict, host } = latest;
  document.title = `${verdict.bottleneck ? `${verdict.bottleneck} · ` : ""}brim ${host ?? ""}`;
  say(at("host"), host ?? "");
  say(at("time"), clock(latest.time_ms));
  showVerdict(verdict);
  showStages(latest);
  showHost(latest);
  showRuns(latest);
  lookForEnded(latest.runs);
  showGpus(latest.gpus);
  showTables(latest);
  showAlerts(latest);
}

function take(live) {
  latest = live;
  addPoint(live);
  if (!paused && !document.hidden) {
    showAll();
    addSparks(live, past);
    past = null;
  }
}

function pause() {
  paused = !paused;
  at("pause").setAttribute("aria-pressed", String(paused));
  say(at("pause"), paused ? "go on" : "pause");
  hold(paused);
  if (!paused) {
    showAll();
  }
}

function theme() {
  nextTheme(at("theme"));
  redraw();
}

// The clipboard is for secure origins and loopback; elsewhere the old way, of what is selected.
async function copy() {
  const text = at("action-text");
  if (at("action").hidden) {
    return;
  }
  getSelection().selectAllChildren(text);
  const done = navigator.clipboard ?
    await navigator.clipboard.writeText(text.textContent).then(() => true, () => false) :
    document.execCommand("copy");
  say(at("copy"), done ? "copied" : "press Ctrl-C");
  setTimeout(() => say(at("copy"), "copy"), 1500);
}

const KEYS = {
  p: pause, t: theme, c: copy, 1: () => setRange(0), 2: () => setRange(1), 3: () => setRange(2),
};

startTheme(at("theme"));
at("pause").addEventListener("click", pause);
at("theme").addEventListener("click", theme);
at("copy").addEventListener("click", copy);
document.addEventListener("keydown", (event) => {
  if (!event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat && KEYS[event.key]) {
    KEYS[event.key]();
  }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
document.addEventListener("visibilitychange", () => (paused ? null : showAll()));
startTables();
startFinished();
startCharts().then(() => {
  past = pastSeconds();
});
listen({
  onSample: take,
  onState: (state, words) => {
    mark(at("connection"), "state", state);
    say(at("connection"), words);
  },
  onBack: () => loadHistory().catch(() => null),
});
