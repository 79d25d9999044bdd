#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The repository contains the sources; the published package contains only the compiled files.
const isSource = existsSync(new URL('../command/main.ts', import.meta.url));
const [major, minor] = isSource ? [24, 0] : [22, 18];
const [currentMajor = 0, currentMinor = 0] = process.versions.node.split('.').map(Number);

// This file is the only file that must run on every version of Node.js. Old versions cannot parse top-level `await`.
if (currentMajor > major || (currentMajor === major && currentMinor >= minor)) void run();
else if (isSource) void startWithProvidedNode();
else {
  process.stderr.write(`mandate-server needs Node.js ${major}.${minor} or later; this is ${process.version}.\n`);
  process.exitCode = 1;
}

async function run() {
  const [folder, extension] = isSource ? ['..', 'ts'] : ['../dist', 'js'];
  const { enableModuleCompileCache } = await import(`${folder}/process/compile-cache.${extension}`);
  enableModuleCompileCache();
  const { hideSqliteWarning } = await import(`${folder}/process/hide-sqlite-warning.${extension}`);
  hideSqliteWarning();
  await import(`${folder}/command/main.${extension}`);
}

async function startWithProvidedNode() {
  const { startProvidedNode } = await import('../../start-provided-node.js');
  startProvidedNode(import.meta.url, 'mandate-server', major);
}
