// The page of a cluster: what brim control found with its last look, asked for every few seconds.
import { headers, showActions, startActions } from "./cluster-actions.js";
import { showMap, startMap } from "./cluster-map.js";
import { showTables } from "./cluster-tables.js";
import { at, mark, say, show } from "./dom.js";
import { ago, clock, together } from "./format.js";
import { nextTheme, startTheme } from "./theme.js";

const AGAIN_MS = 5000;

let paused = false;
let asking = false;
let timer = 0;
let seen = 0; // the moment of the board that is shown

function drawBoard(board) {
  const wasted = board.uses.some(({ wastes, gpus }) => wastes && gpus > 0);
  mark(at("verdict"), "severity", wasted ? "warning" : "note");
  say(at("host"), board.cluster || "cluster");
  say(at("sentence"), together(board.sentence));
  say(at("time"), clock(board.time_ms));
  show(at("board"), true);
  showMap(board);
  showTables(board);
}

// What keeps the page from being of now, or control from acting.
function drawNotice(told) {
  const words = [];
  if (told.trouble) {
    words.push(`there is no news: ${told.trouble}`);
    words.push(seen ? `this is of ${ago(Date.now(), seen)}` : "");
  }
  if (told.stopped) {
    words.push("an operator has stopped all actions");
  }
  say(at("notice"), words.filter(Boolean).join("; "));
  show(at("notice"), words.length > 0);
}

function state(name, words) {
  mark(at("connection"), "state", name);
  say(at("connection"), words);
}

// A refusal is said as it is.
async function read(path) {
  const answer = await fetch(path, { headers: headers() });
  if (!answer.ok) {
    throw new Error((await answer.text()).trim());
  }
  return answer.json();
}

async function take() {
  const told = await read("/api/v1/actions.json");
  if (!paused) {
    showActions(told);
    drawNotice(told);
  }
  const board = await read("/api/v1/cluster.json");
  if (!paused && board.time_ms !== seen) {
    seen = board.time_ms;
    drawBoard(board);
    drawNotice(told);
  }
  state("live", "live");
}

function failed(error) {
  const refused = !(error instanceof TypeError);
  state("lost", refused ? "no answer" : "brim control does not answer; trying again");
  if (refused && at("board").hidden) {
    say(at("sentence"), error.message);
  }
}

async function ask() {
  clearTimeout(timer);
  if (asking || paused || document.hidden) {
    return;
  }
  asking = true;
  await take().catch(failed);
  asking = false;
  timer = setTimeout(ask, AGAIN_MS);
}

function pause() {
  paused = !paused;
  at("pause").setAttribute("aria-pressed", String(paused));
  say(at("pause"), paused ? "go on" : "pause");
  ask();
}

function theme() {
  nextTheme(at("theme"));
  showMap();
}

const KEYS = { p: pause, t: theme };

startTheme(at("theme"));
startMap();
startActions(ask);
at("pause").addEventListener("click", pause);
at("theme").addEventListener("click", theme);
document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement;
  if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat &&
      KEYS[event.key]) {
    KEYS[event.key]();
  }
});
document.addEventListener("visibilitychange", ask);
ask();
