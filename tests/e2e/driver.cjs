// Drives headless Chromium for the tests: one line of JSON in, [number, operation, arguments], one
// out, [number, error, result].
//
//     node driver.cjs PLAYWRIGHT-CORE CHROMIUM
"use strict";
const readline = require("node:readline");
const { setTimeout: sleep } = require("node:timers/promises");

const [playwright, executablePath] = process.argv.slice(2);
const { chromium } = require(playwright);

let browser = null;
const pages = []; // { page, context, said, answers, origins, metrics }
const spare = []; // such pages that were closed: each is as new, but for the process that draws it

// A page with a context of its own: cookies and storage are not shared.
async function make() {
  const context = await browser.newContext();
  const page = await context.newPage();
  const one = { page, context, said: [], answers: [], origins: new Set(), metrics: null };
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && one.said.push(m.text()));
  page.on("pageerror", (e) => one.said.push(String(e.stack)));
  page.on("response", (r) => {
    one.answers.push([r.request().method(), r.url(), r.status()]);
    one.origins.add(new URL(r.url()).origin);
  });
  return one;
}

// A process for a page takes a second of CPU time to start, more than the page itself: it is kept, and
// what the context holds is cleared.
async function close(one) {
  const { page, context, origins } = one;
  const isClean = await (async () => {
    await page.unrouteAll({ behavior: "wait" });
    await page.mouse.move(0, 0);
    await page.goto("about:blank");
    const session = await context.newCDPSession(page);
    for (const origin of origins) {
      await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
    }
    await session.send("Network.clearBrowserCache");
    await session.detach();
    return !one.metrics;
  })().catch(() => false);
  if (!isClean) {
    await context.close();
    return;
  }
  one.said.length = one.answers.length = 0;
  origins.clear();
  spare.push(one);
}

async function open({ url, block = [], viewport = { width: 1400, height: 1600 },
  colorScheme = "light", reducedMotion = "no-preference" }) {
  const one = spare.pop() ?? await make();
  const { page } = one;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion });
  for (const pattern of block) {
    await page.route(pattern, (route) => route.abort());
  }
  const answer = await page.goto(url);
  pages.push(one);
  return { id: pages.length - 1, status: answer.status() };
}

const at = (id) => pages[id].page;

const operations = {
  open,
  goto: async ({ id, url }) => (await at(id).goto(url))?.status(),
  reload: async ({ id }) => (await at(id).reload()).status(),
  evaluate: ({ id, code }) => at(id).evaluate(code),
  // Not playwright's own wait, which wants eval() of the page.
  wait: async ({ id, code, timeout }) => {
    const end = Date.now() + timeout;
    for (let pause = 50; !(await at(id).evaluate(code)); pause = Math.min(1.2 * pause, 250)) {
      if (Date.now() > end) {
        throw new Error(`not within ${timeout / 1000} s: ${code}`);
      }
      await sleep(pause);
    }
  },
  press: ({ id, key }) => at(id).keyboard.press(key),
  click: ({ id, selector }) => at(id).click(selector),
  said: ({ id }) => pages[id].said.splice(0),
  answers: ({ id }) => pages[id].answers.splice(0),
  picture: async ({ id, path }) => {
    await at(id).screenshot({ path, fullPage: true });
  },
  // Seconds that the page's main thread has worked.
  worked: async ({ id }) => {
    const one = pages[id];
    if (!one.metrics) {
      one.metrics = await one.context.newCDPSession(one.page);
      await one.metrics.send("Performance.enable");
    }
    const { metrics } = await one.metrics.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value;
  },
  close: ({ id }) => close(pages[id]),
};

async function answer(line) {
  const [number, operation, values] = JSON.parse(line);
  let reply;
  try {
    reply = [number, null, (await operations[operation](values)) ?? null];
  } catch (error) {
    reply = [number, String(error.message ?? error), null];
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

async function main() {
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  process.stdout.write(`${JSON.stringify([0, null, browser.version()])}\n`);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    await answer(line);
  }
  await browser.close();
}

main().catch((error) => {
  process.stdout.write(`${JSON.stringify([0, String(error), null])}\n`);
  process.exit(1);
});
