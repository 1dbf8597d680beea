// What fires now, and what happened lately.
import { at, list, make, mark, say, show } from "./dom.js";
import { ago, clock } from "./format.js";

function entry() {
  const parts = ["severity", "thing", "text", "when"].map((name) => make("span", name));
  const todo = make("p", "todo", make("span", "", "do: "), make("code", ""));
  const node = make("li", "", ...parts, todo);
  node.parts = [...parts, todo];
  return node;
}

function fill(node, now, item, when) {
  const [severity, thing, text, time, todo] = node.parts;
  mark(node, "severity", item.severity);
  say(severity, item.severity);
  say(thing, item.thing ?? "");
  say(text, item.over ? `over: ${item.text}` : item.text);
  say(time, `${clock(when)}, ${ago(now, when)}`);
  say(todo.lastChild, item.action ?? "");
  show(todo, Boolean(item.action));
}

const RANK = { critical: 0, warning: 1, note: 2 };

export function showAlerts(live) {
  const alerts = [...live.alerts].sort((a, b) =>
    RANK[a.severity] - RANK[b.severity] || b.since_ms - a.since_ms);
  const events = [...live.events].reverse();
  show(at("alerts-section"), alerts.length > 0);
  say(at("alerts-count"), String(alerts.length));
  list(at("alerts"), alerts, entry, (node, a) => fill(node, live.time_ms, a, a.since_ms));
  show(at("events-section"), events.length > 0);
  list(at("events"), events, entry, (node, e) => fill(node, live.time_ms, e, e.time_ms));
}
