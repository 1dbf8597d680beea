// The points of the charts: what the store has, then what arrives. Each line has one value per time;
// points stand a step apart, and a new one is the mean of the samples since the last.

export const LINES = ["storage", "cpu", "pcie", "gpu", "network", "gpu_busy", "disk_read",
  "disk_write", "net_rx", "net_tx"];

const known = (rows, key) => rows.map((row) => row[key]).filter((value) => value !== null);
const sum = (values) => (values.length ? values.reduce((a, b) => a + b, 0) : null);
const mean = (values) => (values.length ? sum(values) / values.length : null);

// The same quantities that the history has, of one live sample.
function measure(live) {
  return {
    ...Object.fromEntries(live.stages.map((stage) => [stage.id, stage.load])),
    gpu_busy: mean(known(live.gpus, "busy")),
    disk_read: sum(known(live.disks, "read")),
    disk_write: sum(known(live.disks, "write")),
    net_rx: sum(known(live.nets, "rx")),
    net_tx: sum(known(live.nets, "tx")),
  };
}

export class Points {
  constructor(seconds) {
    this.seconds = seconds;
    this.step = Math.max(1, Math.round(seconds / 900)); // there are no more pixels
    this.time = [];
    this.lines = Object.fromEntries(LINES.map((name) => [name, []]));
    this.waiting = []; // samples since the last point
  }

  // What the store has; what has arrived meanwhile stays.
  takeHistory(history) {
    const end = history.time.length ? history.time.at(-1) / 1000 : 0;
    const since = this.time.findIndex((time) => time > end);
    const keep = since < 0 ? this.time.length : since;
    this.time = [...history.time.map((ms) => ms / 1000), ...this.time.slice(keep)];
    for (const name of LINES) {
      const old = history.series[name] ?? history.time.map(() => null);
      this.lines[name] = [...old, ...this.lines[name].slice(keep)];
    }
  }

  // Whether there is a new point.
  add(live) {
    const time = live.time_ms / 1000;
    const last = this.time.at(-1) ?? 0;
    const apart = Math.max(this.step, live.interval_s ?? 1);
    this.waiting.push(measure(live));
    if (time - last < this.step * 0.9) {
      return false;
    }
    if (last && time - last > 4 * apart) { // nothing was measured in between
      this.push(last + apart, {});
    }
    this.push(time, Object.fromEntries(LINES.map((name) => [name,
      mean(known(this.waiting, name).filter((value) => value !== undefined))])));
    this.waiting = [];
    const drop = this.time.findIndex((t) => t >= time - this.seconds - this.step);
    this.time.splice(0, drop);
    LINES.forEach((name) => this.lines[name].splice(0, drop));
    return true;
  }

  push(time, values) {
    this.time.push(time);
    LINES.forEach((name) => this.lines[name].push(values[name] ?? null));
  }

  has(name) {
    return this.lines[name].some((value) => value !== null);
  }
}
