// One card per accelerator. Its rows are those that any of them has, so that all look alike.
import { at, bar, list, make, mark, say, setBar, show } from "./dom.js";
import { bytes, hertz, NONE, ofBytes, rate, share, whole } from "./format.js";

const ratio = (part, all) => (part === null || !all ? null : part / all);

// [name, share from 0 to 1, text]
const LINES = [
  ["busy", (g) => g.busy, (g) => share(g.busy)],
  ["SMs", (g) => g.sm_active, (g) => share(g.sm_active)],
  ["tensor", (g) => g.tensor_active, (g) => share(g.tensor_active)],
  ["bandwidth", (g) => g.dram_active, (g) => share(g.dram_active)],
  ["memory", (g) => ratio(g.memory_used, g.memory_total),
    (g) => ofBytes(g.memory_used, g.memory_total)],
  ["power", (g) => ratio(g.power, g.power_limit), (g) =>
    (g.power_limit === null ? whole(g.power, "W") :
      `${Math.round(g.power)} of ${whole(g.power_limit, "W")}`)],
];

function line([name]) {
  const node = make("div", "line", make("span", "name", name), bar(), make("span", "text"));
  node.parts = [...node.children];
  return node;
}

function card() {
  const title = make("b", "");
  const model = make("small", "");
  const chips = make("span", "chips");
  const lines = LINES.map(line);
  const facts = make("p", "facts");
  const node = make("article", "gpu", make("h3", "", title, model, chips), ...lines, facts);
  node.parts = { title, model, chips, lines, facts };
  return node;
}

function flows(name, down, up) {
  return down === null && up === null ? null : `${name} ↓ ${rate(down)} ↑ ${rate(up)}`;
}

function facts(g) {
  return [whole(g.temperature, "°C"), hertz(g.sm_clock), flows("PCIe", g.pcie_rx, g.pcie_tx),
    flows("links", g.link_rx, g.link_tx),
    g.processes === null ? null : `${g.processes} process${g.processes === 1 ? "" : "es"}`]
    .filter((text) => text && text !== NONE).join(" · ");
}

function fill(node, g, has) {
  const p = node.parts;
  const chips = g.lost ? ["lost"] : g.throttle.map((reason) => `held down: ${reason}`);
  mark(node, "lost", g.lost);
  say(p.title, g.gpu);
  say(p.model, g.model ?? "");
  p.model.title = g.model ?? "";
  list(p.chips, chips, () => make("span", "chip"), say);
  LINES.forEach(([name, value, text], i) => {
    const [, box, words] = p.lines[i].parts;
    show(p.lines[i], has[i]);
    // what a lost one said last is not what it does now
    setBar(box, g.lost ? null : value(g), `${name} ${g.lost ? "not known" : text(g)}`);
    say(words, g.lost ? NONE : text(g));
  });
  say(p.facts, g.lost ? "its driver does not reach it any more" : facts(g));
}

const mean = (values) => {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
};
const sum = (values) => {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((a, b) => a + b, 0) : null;
};

function summary(gpus) {
  const used = gpus.filter((g) => !g.lost);
  const power = sum(used.map((g) => g.power));
  return [String(gpus.length), `${share(mean(used.map((g) => g.busy)))} busy`,
    power === null ? null : whole(power, "W"),
    `${bytes(sum(used.map((g) => g.memory_used)))} of memory in use`]
    .filter((text) => text && !text.startsWith(NONE)).join(" · ");
}

export function showGpus(gpus) {
  const has = LINES.map(([, value]) => gpus.some((g) => value(g) !== null));
  show(at("gpus-section"), gpus.length > 0);
  say(at("gpus-count"), summary(gpus));
  list(at("gpus"), gpus, card, (node, g) => fill(node, g, has));
}
