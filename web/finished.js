// Finished runs that the agent serves: a list with their verdicts, the report of each, two of them
// beside each other. Asked for when the page opens, when a run has ended, and for older ones.
import { at, list, make, mark, say, show } from "./dom.js";
import { day, duration, NONE, number, share } from "./format.js";

const TITLES = ["", "run", "what limited it", "steps/s", "began", "took", "end", "user"];

let runs = [];
let next = null; // the key behind which older ones begin
let chosen = []; // keys, two at most
let asking = ""; // for the "newest", for "older" ones, or nothing
let olderWanted = false; // by a click while the newest were asked for
let served = false;

const link = (path, values) => `${path}?${new URLSearchParams(values)}`;

function end(run) {
  if (run.end === "exited") {
    return run.status === 0 ? "0" : `status ${run.status}`;
  }
  return run.end === "killed" ? `signal ${run.status}` : run.end;
}

function cause(run) {
  if (run.steps === null || run.steps === 0) {
    return run.sentence ?? NONE;
  }
  const cost = run.limited && run.share > 0 ? `, ${share(run.share)} of a step` : "";
  return `${run.limited ? run.cause : run.sentence}${cost}`;
}

// The third one that is chosen takes the place of the first.
function choose(key, on) {
  chosen = chosen.filter((one) => one !== key);
  if (on) {
    chosen = [...chosen.slice(-1), key];
  }
  draw();
}

function row() {
  const box = make("input", "");
  const name = make("a", "");
  const parts = { box, name, cells: [] };
  box.type = "checkbox";
  box.addEventListener("change", () => choose(node.dataset.key, box.checked));
  const node = make("tr", "", make("td", "", box), make("td", "text", name),
    ...TITLES.slice(2).map((title) => {
      const cell = make("td", ["took", "steps/s"].includes(title) ? "number" : "text");
      parts.cells.push(cell);
      return cell;
    }));
  node.parts = parts;
  return node;
}

function drawRun(node, run) {
  const { box, name, cells } = node.parts;
  const words = [cause(run), number(run.steps_per_s),
    run.begin_ms === null ? NONE : day(run.begin_ms), duration(run.duration_s), end(run), run.user];
  mark(node, "key", run.key);
  mark(node, "severity", run.limited ? run.severity : "note");
  box.checked = chosen.includes(run.key);
  box.setAttribute("aria-label", `compare ${run.name ?? run.id}`);
  say(name, run.name ?? run.id);
  name.href = link("/report", { run: run.key });
  name.title = run.id ?? "";
  words.forEach((text, i) => {
    say(cells[i], text);
  });
  cells[0].title = run.sentence ?? "";
}

function head(table) {
  const cells = TITLES.map((title) => {
    const cell = make("th", ["took", "steps/s"].includes(title) ? "number" : "text", title);
    cell.scope = "col";
    return cell;
  });
  cells[0].append(make("span", "unseen", "compare"));
  table.append(make("thead", "", make("tr", "", ...cells)), make("tbody", ""));
}

function draw() {
  const table = at("finished");
  if (!table.tHead) {
    head(table);
  }
  list(table.tBodies[0], runs, row, drawRun);
  show(at("finished-section"), runs.length > 0 || at("finished-unread").textContent !== "");
  say(at("finished-count"), next ? `the last ${runs.length}` : String(runs.length));
  show(at("finished-older"), next !== null);
  at("finished-compare").disabled = chosen.length !== 2;
}

function complain({ unreadable_runs: broken, unreadable_folders: folders }) {
  const words = [folders ? `${folders} of the folders cannot be read` : "",
    broken ? `${broken} broken or too large, left out` : ""].filter(Boolean).join("; ");
  say(at("finished-unread"), words);
  show(at("finished-unread"), words !== "");
}

// Older ones that were asked for stay when the newest are looked at again.
function behindLast(more) {
  const last = runs.findIndex((run) => run.key === more.at(-1)?.key);
  return last < 0 ? [] : runs.slice(last + 1);
}

async function ask(before) {
  if (asking) {
    olderWanted = olderWanted || (before !== null && asking === "newest");
    return;
  }
  asking = before ? "older" : "newest";
  try {
    const answer = await fetch(link("/api/v1/runs", before ? { before } : {}));
    if (answer.ok) {
      const { runs: more, next: behind, ...rest } = await answer.json();
      const older = before ? [] : behindLast(more);
      runs = before ? [...runs, ...more] : [...more, ...older];
      next = older.length > 0 ? next : behind;
      served = rest.served;
      chosen = chosen.filter((key) => runs.some((run) => run.key === key));
      complain(rest);
      draw();
    }
  } finally {
    asking = "";
  }
  if (olderWanted && next) {
    olderWanted = false;
    await ask(next);
  }
}

const again = () => ask(null).catch(() => null);

// What was live and is not any more has ended; its end may be stored a little later.
const TRIES = 5;
let live = new Set();
let awaited = new Map(); // id: how often it was asked for

export function lookForEnded(now) {
  const ids = new Set(now.map((run) => run.id));
  for (const id of live) {
    if (!ids.has(id)) {
      awaited.set(id, 0);
    }
  }
  live = ids;
  awaited = new Map([...awaited].filter(([id, tries]) =>
    tries < TRIES && !runs.some((run) => run.id === id)));
  if (served && awaited.size > 0 && !asking) {
    awaited.forEach((tries, id) => awaited.set(id, tries + 1));
    again();
  }
}

export function startFinished() {
  at("finished-older").addEventListener("click", () => ask(next).catch(() => null));
  // the older one at the left
  at("finished-compare").addEventListener("click", () => {
    const [a, b] = runs.map((run) => run.key).filter((key) => chosen.includes(key)).reverse();
    location.href = link("/beside", { a, b });
  });
  return again();
}
