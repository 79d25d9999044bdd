#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The repository has the sources, the package what was built of them.
const source = new URL('../main.ts', import.meta.url);
await import(existsSync(source) ? source.href : '../dist/main.js');
