// The map of a cluster: a square for each GPU, nodes side by side. On a canvas: there may be 100,000.
import { at, list, make, mark, say, show } from "./dom.js";
import { share } from "./format.js";

// Up to so many nodes: how large a square is, and whether names fit.
const SIZES = [[32, 20, true], [256, 13, true], [2048, 8, false], [Infinity, 5, false]];
const NAME = 90;
const GAP = 2;
const PADDING = 6;

const WORDS = {
  ".": "free", "?": "nobody tells how busy it is", s: "its job starts", e: "its job ends",
  z: "its job is suspended", x: "no job can have it",
};
const LEGEND = [["9", "busy"], ["5", "half busy"], ["0", "idle"], [".", "free"], ["?", "not told"],
  ["s", "starts, ends, is suspended"], ["x", "drained, down, off, reserved"]];

let board = null;
let byId = new Map();
let layout = null;
let chosen = null; // [node, device]

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function palette() {
  const [good, warn, bad, dim, line, other] =
    ["--good", "--warn", "--bad", "--dim", "--line", "--c3"].map(colour);
  const of = { ".": [line, 1], "?": [dim, 0.55], s: [other, 0.8], e: [other, 0.8], z: [other, 0.8],
    x: [bad, 0.55], 0: [warn, 1] };
  for (let tenth = 1; tenth <= 9; tenth += 1) {
    of[tenth] = [good, 0.25 + tenth / 12];
  }
  return of;
}

function arrange() {
  const n = board.nodes.length;
  const [, size, named] = SIZES.find(([most]) => n <= most);
  const most = board.nodes.reduce((longest, { cells }) => Math.max(longest, cells.length), 1);
  const name = named ? NAME : 0;
  const width = name + most * (size + GAP) + 2 * PADDING;
  const room = Math.max(at("map-box").clientWidth, width);
  const across = Math.max(1, Math.floor(room / width));
  const height = size + GAP + (named ? 4 : 2);
  return { size, name, width, across, height, down: Math.ceil(n / across) };
}

function place(i) {
  const { across, width, height } = layout;
  return [(i % across) * width + PADDING, Math.floor(i / across) * height + PADDING];
}

function square(context, paint, x, y, cell) {
  const [fill, alpha] = paint[cell] ?? paint["?"];
  context.globalAlpha = alpha;
  context.fillStyle = fill;
  context.fillRect(x, y, layout.size, layout.size);
}

function drawName(context, text, x, y) {
  const fits = text.length > 12 ? `${text.slice(0, 11)}…` : text;
  context.globalAlpha = 1;
  context.fillStyle = colour("--text");
  context.fillText(fits, x, y + layout.size / 2, layout.name - PADDING);
}

// A frame around the chosen one: the canvas is not drawn again for it.
function frameChosen() {
  const frame = at("chosen");
  show(frame, chosen !== null);
  if (chosen) {
    const [x, y] = place(chosen[0]);
    const { size, name } = layout;
    frame.style.transform = `translate(${x + name + chosen[1] * (size + GAP)}px, ${y}px)`;
    frame.style.width = frame.style.height = `${size}px`;
  }
}

function draw() {
  const canvas = at("map");
  const scale = window.devicePixelRatio || 1;
  layout = arrange();
  const width = layout.across * layout.width;
  const height = layout.down * layout.height + 2 * PADDING;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  const paint = palette();
  context.scale(scale, scale);
  context.font = `${Math.min(12, layout.size)}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  board.nodes.forEach(({ node, cells }, i) => {
    const [x, y] = place(i);
    if (layout.name) {
      drawName(context, node, x, y);
    }
    [...cells].forEach((cell, k) =>
      square(context, paint, x + layout.name + k * (layout.size + GAP), y, cell));
  });
  frameChosen();
}

// Whose a device is: pairs of a job and bits.
function holder({ jobs = [] }, device) {
  for (let i = 0; i < jobs.length; i += 2) {
    if ((jobs[i + 1] >> device) & 1) {
      return jobs[i];
    }
  }
  return null;
}

function describe(at0, device) {
  const node = board.nodes[at0];
  const cell = node.cells[device];
  const id = holder(node, device);
  const job = byId.get(id);
  const busy = cell >= "0" && cell <= "9" ? `busy ${share(cell / 10)} of the time, or a little more` :
    WORDS[cell];
  return [`${node.node}, GPU ${device}: ${busy}`,
    id === null ? "" : `job ${job?.name === undefined ? id : `${job.job} ${job.name} of ${job.user}`}`,
    node.state ? `the node is ${node.state}${node.reason ? `: ${node.reason}` : ""}` : ""]
    .filter(Boolean).join(" · ");
}

function choose(i, device) {
  const cells = board?.nodes[i]?.cells;
  if (!cells || device < 0 || device >= cells.length) {
    return;
  }
  if (chosen?.[0] !== i || chosen?.[1] !== device) {
    chosen = [i, device];
    say(at("cell"), describe(i, device));
    frameChosen();
  }
}

function onPoint(event) {
  if (!layout) {
    return;
  }
  const { width, height, across, name, size } = layout;
  const column = Math.floor(event.offsetX / width);
  const row = Math.floor((event.offsetY - PADDING) / height);
  const device = Math.floor((event.offsetX - column * width - PADDING - name) / (size + GAP));
  choose(row * across + column, device);
}

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function onKey(event) {
  const step = STEPS[event.key];
  if (!step || !board || board.nodes.length === 0) {
    return;
  }
  event.preventDefault();
  let [i, device] = chosen ?? [0, -1];
  device += chosen ? step[1] : 1;
  if (device < 0) {
    i -= 1;
    device = (board.nodes[i]?.cells.length ?? 0) - 1;
  } else if (device >= board.nodes[i].cells.length) {
    i += 1;
    device = 0;
  }
  choose(i + (chosen ? step[0] * layout.across : 0), device);
  at("chosen").scrollIntoView({ block: "nearest", inline: "nearest" });
}

// One bar of all GPUs, by what they do.
function drawShares() {
  const uses = board.uses.filter(({ gpus }) => gpus > 0);
  list(at("shares"), uses, () => make("i", ""), (part, { use, text, gpus }) => {
    mark(part, "use", use);
    part.style.flexGrow = gpus;
    part.title = `${gpus} ${text}`;
  });
  at("shares").setAttribute("aria-label", uses.map(({ gpus, text }) => `${gpus} ${text}`).join(", "));
}

function drawLegend() {
  const paint = palette();
  list(at("legend"), LEGEND, () => make("span", "key", make("i", ""), make("span", "")),
    (node, [cell, words]) => {
      const [fill, alpha] = paint[cell];
      node.firstChild.style.background = fill;
      node.firstChild.style.opacity = alpha;
      say(node.lastChild, words);
    });
}

// Without a board: the same one anew, in other colours.
export function showMap(next = board) {
  if (!next) {
    return;
  }
  board = next;
  byId = new Map([...board.running].map((job) => [job.id, job]));
  say(at("map-count"), `${board.gpus} on ${board.nodes.length} ` +
    `node${board.nodes.length === 1 ? "" : "s"}`);
  if (chosen && !(board.nodes[chosen[0]]?.cells.length > chosen[1])) {
    chosen = null;
  }
  if (chosen) {
    say(at("cell"), describe(...chosen));
  }
  drawShares();
  drawLegend();
  draw();
}

export function startMap() {
  at("map").addEventListener("pointermove", onPoint);
  at("map").addEventListener("click", onPoint);
  at("map").addEventListener("keydown", onKey);
  window.addEventListener("resize", () => board && draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => showMap());
}
