#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The repository contains the sources. The published package contains only the bundle.
const source = new URL('../main.ts', import.meta.url);
const isSource = existsSync(source);
const [major, minor] = isSource ? [24, 0] : [22, 18];
const [currentMajor = 0, currentMinor = 0] = process.versions.node.split('.').map(Number);

// This is the only file that must run on every version of Node.js. Old versions cannot parse top-level `await`.
if (currentMajor < major || (currentMajor === major && currentMinor < minor)) void startWithProvidedNodeOrFail();
// `npm ci` builds the generated modules, so they are missing only after `npm ci --ignore-scripts`.
else if (isSource && !existsSync(new URL('../mcp/tools.gen.ts', import.meta.url))) {
  process.stderr.write('mandate: generated files are missing. Run `npm run build` in the repository.\n');
  process.exitCode = 1;
} else void import(isSource ? source.href : '../dist/main.js');

async function startWithProvidedNodeOrFail() {
  if (isSource) {
    const { startProvidedNode } = await import('../../start-provided-node.js');
    startProvidedNode(import.meta.url, 'mandate', major);
  } else {
    process.stderr.write(`mandate needs Node.js ${major}.${minor} or later; this is ${process.version}.\n`);
    process.exitCode = 1;
  }
}
