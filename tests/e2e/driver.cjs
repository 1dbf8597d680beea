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
const pages = []; // { page, context, said, answers, metrics }

// Each page has a context of its own: cookies and storage are not shared.
async function open({ url, block = [], ...options }) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1600 }, ...options });
  const page = await context.newPage();
  const one = { page, context, said: [], answers: [], metrics: null };
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && one.said.push(m.text()));
  page.on("pageerror", (e) => one.said.push(String(e.stack)));
  page.on("response", (r) => one.answers.push([r.request().method(), r.url(), r.status()]));
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
    while (!(await at(id).evaluate(code))) {
      if (Date.now() > end) {
        throw new Error(`not within ${timeout / 1000} s: ${code}`);
      }
      await sleep(50);
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
  close: ({ id }) => pages[id].context.close(),
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
