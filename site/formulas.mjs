// Sets formulas: reads {"latex", "displayMode"} as a line of JSON each, and writes the HTML, or what is wrong, as one.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const katex = createRequire(`${process.argv[2]}/`)("katex");
for await (const line of createInterface({ input: process.stdin })) {
  const { latex, displayMode } = JSON.parse(line);
  let answer;
  try {
    answer = { html: katex.renderToString(latex, { displayMode, strict: "error" }) };
  } catch (problem) {
    answer = { problem: String(problem) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
