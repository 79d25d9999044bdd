#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The repository contains the sources; the published package contains only the bundle.
const source = new URL('../main.ts', import.meta.url);
const isSource = existsSync(source);
const major = 24;

// This is the only file that must run on every version of Node.js.
if (Number.parseInt(process.versions.node, 10) >= major) {
  // They are missing only after `npm ci --ignore-scripts`, because `npm ci` builds them.
  if (isSource && !existsSync(new URL('../mcp/tools.gen.ts', import.meta.url))) {
    process.stderr.write('mandate: generated files are missing. Run `npm run build` in the repository.\n');
    process.exit(1);
  }
  await import(isSource ? source.href : '../dist/main.js');
} else if (isSource) (await import('../../start-provided-node.js')).startProvidedNode(import.meta.url, 'mandate', major);
else {
  process.stderr.write(`mandate needs Node.js ${major} or later; this is ${process.version}.\n`);
  process.exitCode = 1;
}
