#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The repository has the sources, the package what was built of them.
const source = new URL('../main.ts', import.meta.url);
const isSource = existsSync(source);
const major = 24;

// This file, alone, has to run with any version of Node.js.
if (Number.parseInt(process.versions.node, 10) >= major) await import(isSource ? source.href : '../dist/main.js');
else if (isSource) (await import('../../start-provided-node.js')).startProvidedNode(import.meta.url, 'mandate', major);
else {
  process.stderr.write(`mandate needs Node.js ${major} or later; this is ${process.version}.\n`);
  process.exitCode = 1;
}
