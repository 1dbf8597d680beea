// The tables of a cluster, in the order in which they are told.
import { at, list, make, mark, say } from "./dom.js";
import { day, duration, NONE, number, share, together } from "./format.js";

// What is not told is another user's.
const named = (value) => (value === undefined ? "not told" : value || "(none)");
const since = (board, ms) => (ms === null ? NONE : duration((board.time_ms - ms) / 1000));
const hours = (value) => number(value ?? null, "h");
const dollars = (value) => (value === null || value === undefined ? NONE : `$${value.toFixed(2)}`);
const until = (board, ms) => (ms === null ? NONE : duration((ms - board.time_ms) / 1000));

// Of a job on many nodes, what limits it most, and where that is.
function verdict({ name, sentence, nodes, nodes_watched: watched, worst_node: node }) {
  if (name === undefined) {
    return named(name);
  }
  if (!sentence) {
    return watched > 0 ? "nothing is known yet" : "not watched: srun --brim";
  }
  return together(nodes > 1 ? `${sentence} (${node}; ${watched} of ${nodes} nodes tell)` : sentence);
}

// [heading, what is written of a row, "text" for texts]
const COLUMNS = {
  uses: [
    ["GPUs that are", (row) => row.text, "text"],
    ["now", (row) => String(row.gpus)],
    ["in 24 h", (row) => hours(row.gpu_hours_day)], ["cost", (row) => dollars(row.usd_day)],
    ["in all", (row) => hours(row.gpu_hours)], ["cost in all", (row) => dollars(row.usd)],
  ],
  running: [
    ["job", (row) => row.job, "text"], ["name", (row) => named(row.name), "text"],
    ["user", (row) => named(row.user), "text"], ["account", (row) => named(row.account), "text"],
    ["partition", (row) => row.partition, "text"], ["GPUs", (row) => String(row.gpus)],
    ["nodes", (row) => String(row.nodes)], ["busy", (row) => share(row.busy)],
    ["idle for", (row) => (row.idle_s > 0 ? duration(row.idle_s) : NONE)],
    ["runs for", (row, board) => since(board, row.start_ms)],
    ["ends within", (row, board) => until(board, row.end_ms)],
    ["state", (row) => row.state, "text"],
    ["what limits it", verdict, "text why"],
  ],
  queue: [
    ["job", (row) => row.job, "text"], ["name", (row) => named(row.name), "text"],
    ["user", (row) => named(row.user), "text"], ["account", (row) => named(row.account), "text"],
    ["partition", (row) => row.partition, "text"], ["GPUs", (row) => String(row.gpus)],
    ["nodes", (row) => String(row.nodes)], ["priority", (row) => String(row.priority)],
    ["waits for", (row, board) => since(board, row.submit_ms)],
    ["starts", (row) => (row.start_ms === null ? "not known" : day(row.start_ms))],
    ["why it waits", (row) => row.reason, "text why"],
  ],
  accounts: [
    ["name", (row) => named(row.name), "text"], ["GPUs", (row) => String(row.held)],
    ["of them idle", (row) => String(row.idle)], ["waits for", (row) => String(row.waited)],
    ["jobs run", (row) => String(row.running)], ["jobs wait", (row) => String(row.waiting)],
  ],
};
COLUMNS.users = COLUMNS.accounts;

function head(table, columns) {
  const cells = columns.map(([title, , kind]) => {
    const cell = make("th", kind ?? "number", title);
    cell.scope = "col";
    return cell;
  });
  table.append(make("thead", "", make("tr", "", ...cells)), make("tbody", ""));
}

function fill(id, rows, board, each = () => undefined) {
  const table = at(id);
  const columns = COLUMNS[id];
  if (!table.tHead) {
    head(table, columns);
  }
  list(table.tBodies[0], rows,
    () => make("tr", "", ...columns.map(([, , kind]) => make("td", kind ?? "number"))),
    (node, row) => {
      columns.forEach(([, write, kind], i) => {
        const words = write(row, board);
        say(node.cells[i], words);
        if (kind && node.cells[i].title !== words) {
          node.cells[i].title = words;
        }
      });
      each(node, row);
    });
}

const ofAll = (shown, all) => (all > shown ? `${shown} of ${all}` : String(all));

function reason(node, { reason: words, jobs, gpus }) {
  say(node, `${jobs} job${jobs === 1 ? "" : "s"} (${number(gpus, gpus === 1 ? "GPU" : "GPUs")}): ${words}`);
}

// What GPUs do now, and what they did since the book began.
function showUses(board) {
  const { since_ms: begin, uses, prices } = board.waste;
  const past = new Map(uses.map((row) => [row.use, row]));
  const rows = board.uses.map((row) => ({ ...past.get(row.use), ...row }))
    .filter(({ gpus, gpu_hours: all }) => gpus > 0 || all > 0);
  fill("uses", rows, board, (node, { wastes }) => mark(node, "wastes", wastes));
  const wasted = rows.filter(({ wastes, gpu_hours: all }) => wastes && all > 0);
  const sum = (key) => wasted.reduce((all, row) => (row[key] === null || all === null ? null :
    all + row[key]), 0);
  const money = sum("usd") === null ? "" : `, ${dollars(sum("usd"))}`;
  say(at("uses-count"), begin === null ? "" :
    `since ${day(begin)}: ${number(sum("gpu_hours"), "GPU-hours")} wasted${money}`);
  list(at("prices"), prices, () => make("li", ""), (node, { kind, gpu, usd_per_hour: usd, source }) =>
    say(node, usd === null ? `${gpu ?? (kind || "GPUs")}: no price known (--price)` :
      `${gpu ?? (kind || "GPUs")}: ${dollars(usd)} an hour (${source})`));
}

export function showTables(board) {
  showUses(board);
  fill("running", board.running, board, (node, { idle_s: idle, limited, severity }) => {
    mark(node, "idle", idle > 0);
    mark(node, "severity", limited ? severity : "note");
  });
  say(at("running-count"), ofAll(board.running.length, board.running_total));
  fill("queue", board.queue, board);
  say(at("queue-count"), ofAll(board.queue.length, board.queue_total));
  list(at("reasons"), board.reasons, () => make("li", ""), reason);
  for (const id of ["accounts", "users"]) {
    fill(id, board[id], board);
    say(at(`${id}-count`), ofAll(board[id].length, board[`${id}_total`]));
  }
}
