// Tables that keep their order: a click (or Enter) on a heading sorts by it, the third one puts back
// the order in which the agent sends them: processes by use, others by name.
import { at, list, make, say, show } from "./dom.js";
import { bytes, count, NONE, number, rate, seconds, share } from "./format.js";

const text = (value) => (value === null || value === undefined ? NONE : String(value));
// A container's name of 64 digits is told by its first twelve; the rest is shown to who points at it.
const group = (value) => text(value).replace(/([0-9a-f]{12})[0-9a-f]{12,}/g, "$1");
// The name of a run or of the queue's job; without one, the control group.
const named = (row) => ({ ...row, job: row.job ?? row.cgroup });
const link = (value) => (value ? rate(value) : NONE);

// [key, heading, how it is written]; columns of text are "text", others numbers.
const COLUMNS = {
  processes: [
    ["pid", "pid", text], ["comm", "process", text, "text"], ["cpu", "CPU", share],
    ["job", "job", group, "text"], ["run_wait", "waits for CPU", share], ["io_wait", "waits for I/O", share],
    ["read", "reads", rate], ["write", "writes", rate], ["resident", "memory", bytes],
    ["threads", "threads", count],
  ],
  disks: [
    ["device", "disk", text, "text"], ["busy", "busy", share], ["read", "reads", rate],
    ["write", "writes", rate], ["iops", "requests/s", count], ["await", "time each", seconds],
    ["queue", "queue", number],
  ],
  filesystems: [
    ["mount", "mount", text, "text"], ["used", "used", bytes], ["free", "free", bytes],
    ["size", "size", bytes],
  ],
  nfs: [
    ["mount", "mount", text, "text"], ["ops", "calls/s", count], ["read", "reads", rate],
    ["write", "writes", rate], ["queue", "in queue", seconds], ["rtt", "on the wire", seconds],
    ["execute", "in all", seconds],
  ],
  nets: [
    ["device", "interface", text, "text"], ["kind", "kind", text, "text"],
    ["rx", "receives", rate], ["tx", "sends", rate], ["speed", "can do", link],
    ["errors", "errors/s", number], ["drops", "drops/s", number],
  ],
};

const FEW = 25;
const sorting = {}; // id: [key, direction]
const latest = {}; // id: rows
let all = false;

function compare(key, direction) {
  return (a, b) => {
    const x = a[key];
    const y = b[key];
    if (x === null || y === null) {
      return (x === null) - (y === null);
    }
    return direction * (typeof x === "number" && typeof y === "number" ? x - y :
      String(x).localeCompare(String(y)));
  };
}

// Numbers downwards first, names upwards.
function nextOrder(id, key, first) {
  const [now, direction] = sorting[id] ?? [];
  if (now !== key) {
    return [key, first];
  }
  return direction === first ? [key, -first] : null;
}

function markOrder(table, id) {
  const [key, direction] = sorting[id] ?? [];
  for (const cell of table.tHead.rows[0].cells) {
    const mine = cell.dataset.key === key;
    cell.setAttribute("aria-sort", mine ? (direction < 0 ? "descending" : "ascending") : "none");
  }
}

function head(table, id) {
  const row = make("tr", "");
  for (const [key, title, , kind] of COLUMNS[id]) {
    const button = make("button", "", title);
    const cell = make("th", kind ?? "number", button);
    cell.scope = "col";
    cell.dataset.key = key;
    button.type = "button";
    button.addEventListener("click", () => {
      sorting[id] = nextOrder(id, key, kind ? 1 : -1);
      markOrder(table, id);
      showTable(id, latest[id]);
    });
    row.append(cell);
  }
  table.append(make("thead", "", row), make("tbody", ""));
  markOrder(table, id);
}

const newRow = (id) => () =>
  make("tr", "", ...COLUMNS[id].map(([, , , kind]) => make("td", kind ?? "number")));

function showTable(id, rows) {
  const table = at(id);
  const sorted = sorting[id] ? [...rows].sort(compare(...sorting[id])) : rows;
  if (!table.tHead) {
    head(table, id);
  }
  latest[id] = rows;
  list(table.tBodies[0], id === "processes" && !all ? sorted.slice(0, FEW) : sorted, newRow(id),
    (node, row) => COLUMNS[id].forEach(([key, , write, kind], i) => {
      const words = write(row[key]);
      say(node.cells[i], words);
      // what does not fit is shown to who points at it
      if (kind && node.cells[i].title !== text(row[key])) {
        node.cells[i].title = text(row[key]);
      }
    }));
}

function showMore() {
  const n = latest.processes.length;
  say(at("processes-count"), `${all ? n : Math.min(n, FEW)} of ${n} that do most`);
  show(at("processes-all"), n > FEW);
  say(at("processes-all"), all ? `show ${FEW}` : `show all ${n}`);
}

export function showTables(live) {
  for (const id of Object.keys(COLUMNS)) {
    showTable(id, id === "processes" ? live[id].map(named) : live[id]);
    show(at(`${id}-section`), live[id].length > 0);
  }
  showMore();
}

export function startTables() {
  at("processes-all").addEventListener("click", () => {
    all = !all;
    showTable("processes", latest.processes);
    showMore();
  });
}
