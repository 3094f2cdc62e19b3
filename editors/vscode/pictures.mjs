// Takes the pictures of the documentation in a real VS Code in the browser, and fails where one cannot be taken.
//
//     node pictures.mjs http://127.0.0.1:8080 FOLDER pictures
//
// needs playwright-core, a Chromium, a code-server with gllint.vsix installed at that address, and a folder with an
// `agent.py` and a `school.ipynb` that have findings (GL101 at a call of `annual_heat` in the first).
import { chromium } from "playwright-core";

const [url, folder, out] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage({ viewport: { width: 1100, height: 640 } });
page.setDefaultTimeout(90_000);
const step = async (name, wait = 800) => {
  await page.waitForTimeout(wait);
  await page.screenshot({ path: `${out}/vscode-${name}.png` });
  console.log(name);
};
async function open(file) {
  await page.keyboard.press("Control+P");
  await page.waitForSelector(".quick-input-widget:visible");
  await page.waitForTimeout(1000);
  await page.keyboard.type(file);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: file }).first().click();
  await page.waitForSelector(`.tab:has-text("${file}")`);
}
try {
  await page.goto(`${url}/?folder=${folder}`);
  await page.waitForSelector(".monaco-workbench");
  await page.waitForTimeout(8000);
  await open("agent.py");
  await page.waitForSelector(".squiggly-error");
  await page.keyboard.press("Control+Shift+M");
  await step("squiggle", 3000);
  await page.keyboard.press("Control+J");
  const number = page.locator(".view-line", { hasText: "heat_kwh" }).locator("span span").filter({ hasText: "annual_heat" }).first();
  for (let tries = 0; !(await page.locator(".monaco-hover .hover-contents:visible").count()); tries += 1) {
    if (tries > 8) throw new Error("no hover");
    await page.mouse.move(900, 300);
    await page.waitForTimeout(500);
    await number.hover();
    await page.waitForTimeout(2500);
  }
  await step("hover", 2500);
  await number.click();
  await page.mouse.move(900, 620);
  await page.keyboard.press("Escape");
  await page.waitForTimeout(1500);
  await page.keyboard.press("Control+.");
  await page.waitForSelector(".action-widget");
  await step("fix", 1500);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".view-line:has-text('\"unit\"')");
  await step("fixed", 3000);
  await page.keyboard.press("Control+Z");
  await open("school.ipynb");
  await page.waitForSelector(".notebook-editor .squiggly-error, .notebookOverlay .squiggly-error");
  await step("notebook", 3000);
} catch (error) {
  await step("failed", 0);
  console.error(error);
  process.exitCode = 1;
}
await browser.close();
