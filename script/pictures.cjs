// One picture of a page, as script/pictures wants it.
//
//     node pictures.cjs URL FILE.png [STAGE]     with STAGE: once that stage has limited for 10 s;
//                                                cluster: of brim control, once actions are there
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");
const { chromium } = require(path.join(__dirname, "../web/node_modules/playwright-core"));

const [url, file, stage] = process.argv.slice(2);
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(fs.existsSync);

// Until the agent says so, and 10 s more, so that the charts show it.
async function limited() {
  for (;;) {
    const live = await (await fetch(`${url}api/v1/live.json`)).json();
    if (live.verdict.bottleneck === stage) {
      await sleep(10000);
      return;
    }
    await sleep(500);
  }
}

// Until something is proposed to who waits; what has a height shows where the first GPU is.
async function proposed(page) {
  await page.setViewportSize({ width: 1300, height: 1000 });
  for (let said = ""; !said.includes("gives up"); await sleep(500)) {
    said = await page.textContent("#actions");
  }
  await page.focus("#map");
  await page.keyboard.press("ArrowRight");
}

async function main() {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1100, height: 720 } });
  await page.goto(url);
  if (stage === "cluster") {
    await proposed(page);
  } else if (stage) {
    await limited();
  }
  await page.screenshot({ path: file });
  await browser.close();
}

main().catch((error) => {
  process.stderr.write(`pictures.cjs: ${error.message}\n`);
  process.exit(1);
});
