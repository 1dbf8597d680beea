// One picture of a page, as script/pictures wants it.
//
//     node pictures.cjs URL FILE.png [STAGE]     with STAGE: once that stage has limited for 10 s
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

async function main() {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1100, height: 720 } });
  await page.goto(url);
  if (stage) {
    await limited();
  }
  await page.screenshot({ path: file });
  await browser.close();
}

main().catch((error) => {
  process.stderr.write(`pictures.cjs: ${error.message}\n`);
  process.exit(1);
});
