// The stream of live samples. It comes back by itself, and says so in between.

const AGAIN_MS = 3000;
const HIDDEN_MS = 60000; // a tab that nobody looks at gives its connection back after that
const SILENT_MS = 10000;

// onSample(live), onState(state, words), onBack() when it answers again after a while without
export function listen({ onSample, onState, onBack }) {
  let events = null;
  let lastAt = Date.now();
  let interval = 1000;
  let wasLost = false;
  let hiding = 0;

  function lost(words) {
    wasLost = true;
    onState("lost", words);
  }

  function take(event) {
    const live = JSON.parse(event.data);
    lastAt = Date.now();
    interval = (live.interval_s ?? 1) * 1000;
    onState("live", "live");
    if (wasLost) {
      wasLost = false;
      onBack();
    }
    onSample(live);
  }

  function open() {
    events?.close();
    lastAt = Date.now();
    events = new EventSource("/api/v1/live");
    events.onmessage = take;
    events.onerror = failed;
  }

  // The browser tries again after a lost connection, but not after a refusal.
  async function failed() {
    const mine = events;
    lost("the agent does not answer; trying again");
    if (mine.readyState !== EventSource.CLOSED) {
      return;
    }
    const status = await fetch("/api/v1/live.json").then((answer) => answer.status, () => 0);
    if (status === 401) {
      lost("a token is needed: open /login?token=TOKEN");
    }
    setTimeout(() => (mine === events ? open() : null), AGAIN_MS);
  }

  setInterval(() => {
    if (events && Date.now() - lastAt > Math.max(SILENT_MS, 3 * interval)) {
      lost("no sample for a while; trying again");
      open();
    }
  }, 2000);

  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (!document.hidden && !events) {
      wasLost = true;
      open();
    } else if (document.hidden) {
      hiding = setTimeout(() => {
        events?.close();
        events = null;
      }, HIDDEN_MS);
    }
  });
  open();
}
