// What was done and what is proposed; with the token of operators it can be approved, and stopped.
// The token stays in its field: no cookie has it, so that no other site's page can use it.
import { at, list, make, mark, say, show } from "./dom.js";
import { day } from "./format.js";

const SEVERITIES = { failed: "critical", proposed: "warning", approved: "warning", due: "warning" };

let again = () => undefined;
let stopped = false;

// Of requests: with the token of operators more may be told.
export function headers() {
  const token = at("token").value.trim();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function act(path) {
  if (!at("token").value.trim()) {
    say(at("said"), "the token is needed first");
    at("token").focus();
    return;
  }
  const answer = await fetch(path, {
    method: "POST", headers: headers(), credentials: "omit",
  }).catch(() => null);
  say(at("said"), answer ? (await answer.text()).trim() : "brim control does not answer");
  again();
}

function row() {
  const button = make("button", "", "approve");
  button.type = "button";
  const parts = {
    severity: make("span", "severity"), kind: make("span", "thing"), text: make("span", "text"),
    when: make("span", "when"), button,
  };
  const node = make("li", "", ...Object.values(parts));
  node.parts = parts;
  button.addEventListener("click", () => act(`/api/v1/approve?id=${node.dataset.id}`));
  return node;
}

function fill(mayAct) {
  return (node, action) => {
    const { severity, kind, text, when, button } = node.parts;
    mark(node, "id", action.id);
    mark(node, "severity", SEVERITIES[action.state] ?? "note");
    say(severity, action.state);
    say(kind, action.action);
    say(text, action.outcome ? `${action.reason}: ${action.outcome}` : action.reason);
    say(when, `${action.id} · ${day(action.time_ms)}`);
    show(button, mayAct && action.state === "proposed");
    button.setAttribute("aria-label", `approve action ${action.id}`);
  };
}

const MODES = {
  observe: "mode observe: nothing is done", propose: "mode propose: what is approved is done",
  act: "mode act: all of it is done",
};

export function showActions(told) {
  stopped = told.stopped;
  say(at("actions-count"), `${MODES[told.mode] ?? told.mode}` +
    `${told.actions.length ? "" : "; none so far"}${told.may_act ? "" : "; this page only shows"}`);
  show(at("stop"), told.may_act);
  show(at("operator"), told.may_act);
  say(at("stop"), stopped ? "let actions go on" : "stop all actions");
  list(at("actions"), told.actions, row, fill(told.may_act));
}

export function startActions(ask) {
  again = ask;
  at("stop").addEventListener("click", () => act(`/api/v1/${stopped ? "go" : "stop"}`));
  at("operator").addEventListener("submit", (event) => event.preventDefault());
}
