// Charts of the last minutes or hours. They are drawn when they have a new point and are in view.
import { at, make } from "./dom.js";
import { clock, NONE, rate, share } from "./format.js";
import { Points } from "./points.js";

const RANGES = [["10 min", 600], ["1 h", 3600], ["24 h", 86400]];

// Each chart: heading, how its axis is written, its top (null: as high as its lines, at least
// 1 MB/s), and its lines: [name in the history, label, colour, dashes].
const CHARTS = [
  ["How near each stage is to its limit", share, 1, [
    ["storage", "storage", "--c1"], ["cpu", "CPU", "--c2", [6, 3]], ["pcie", "PCIe", "--c3", [2, 2]],
    ["gpu", "GPU", "--c4"], ["network", "network", "--c5", [8, 3, 2, 3]]]],
  ["Accelerators busy, mean", share, 1, [["gpu_busy", "busy", "--c4"]]],
  ["Disks", rate, null, [["disk_read", "read", "--c1"], ["disk_write", "written", "--c2", [6, 3]]]],
  ["Network", rate, null, [["net_rx", "received", "--c3"], ["net_tx", "sent", "--c5", [6, 3]]]],
];
const LEAST_TOP = 1e6;
const HEIGHT = 150;

let points = new Points(RANGES[0][1]);
let plots = []; // { chart, lines, figure, seen, stale }
let titles = "";
let held = false;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const data = (lines) => [points.time, ...lines.map(([name]) => points.lines[name])];

function times(u, ticks, i, space, apart) {
  return ticks.map((tick) => clock(tick * 1000, apart < 60));
}

function options(width, [, write, top, lines]) {
  const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 }, font: "12px system-ui" };
  return {
    width, height: HEIGHT, cursor: { y: false, sync: { key: "time" } },
    scales: {
      x: { range: (u, min, max) => [max - points.seconds, max] },
      y: { range: top ? [0, top] : (u, min, max) => [0, Math.max(LEAST_TOP, (max ?? 0) * 1.05)] },
    },
    axes: [{ ...axis, values: times, space: 70, size: 30 },
      { ...axis, size: 74, values: (u, ticks) => ticks.map(write) }],
    series: [{ label: "at", value: (u, t) => (t === null ? NONE : clock(t * 1000)) },
      ...lines.map(([, label, name, dash]) => ({
        label, stroke: colour(name), width: 1.5, dash, points: { show: false },
        value: (u, value) => write(value) }))],
  };
}

function draw(plot) {
  const { chart, lines } = plot;
  plot.stale = false;
  chart.setData(data(lines));
  if (chart.cursor.left === undefined || chart.cursor.left < 0) { // nobody points at it: the last
    chart.setLegend({ idx: points.time.length - 1 }, false);
  }
}

function update() {
  plots.filter((plot) => plot.stale && plot.seen && !held && !document.hidden).forEach(draw);
}

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const plot = plots.find(({ figure }) => figure === entry.target);
    if (plot) {
      plot.seen = entry.isIntersecting;
    }
  }
  update();
});

// A machine without accelerators has no lines of them, and no chart.
const OPTIONAL = ["gpu_busy", "pcie", "gpu"];
const wanted = () => CHARTS.map(([title, write, top, lines]) => [title, write, top,
  lines.filter(([name]) => !OPTIONAL.includes(name) || points.has(name))])
  .filter(([, , , lines]) => lines.length > 0);
const titlesOf = (charts) =>
  charts.map(([title, , , lines]) => `${title} ${lines.map(([name]) => name)}`).join();

// Draw anew, after a change of theme or width.
export function redraw() {
  const charts = wanted();
  const figures = charts.map(([title]) => make("figure", "chart", make("figcaption", "", title)));
  plots.forEach(({ chart, figure }) => {
    watcher.unobserve(figure);
    chart.destroy();
  });
  at("charts").replaceChildren(...figures); // all first: only then each has its width
  titles = titlesOf(charts);
  plots = charts.map((chart, i) => ({
    chart: new uPlot(options(figures[i].clientWidth, chart), data(chart[3]), figures[i]),
    lines: chart[3], figure: figures[i], seen: true, stale: true,
  }));
  plots.forEach(draw);
  figures.forEach((figure) => watcher.observe(figure));
}

export function addPoint(live) {
  if (!points.add(live)) {
    return;
  }
  plots.forEach((plot) => {
    plot.stale = true;
  });
  if (titlesOf(wanted()) !== titles) { // the first accelerator
    redraw();
  }
  update();
}

export function hold(on) {
  held = on;
  update();
}

// What the store has of this range. Without an answer the charts begin with what arrives.
export async function loadHistory() {
  const to = points;
  try {
    const answer = await fetch(`/api/v1/history?seconds=${to.seconds}&step=${to.step}`);
    if (answer.ok) {
      to.takeHistory(await answer.json());
    }
  } finally {
    if (to === points) {
      redraw();
    }
  }
}

export function setRange(i) {
  points = new Points(RANGES[i][1]);
  [...at("ranges").children].forEach((button, k) =>
    button.setAttribute("aria-pressed", String(k === i)));
  return loadHistory().catch(() => null);
}

// Values of each line, a second apart as far as that is what the charts show.
export const pastSeconds = () => (points.step === 1 ? points.lines : null);

export function startCharts() {
  let width = window.innerWidth;
  RANGES.forEach(([label], i) => {
    const button = make("button", "", label);
    button.type = "button";
    button.addEventListener("click", () => setRange(i));
    at("ranges").append(button);
  });
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) {
      width = window.innerWidth;
      redraw();
    }
  });
  document.addEventListener("visibilitychange", update);
  return setRange(0);
}
