#!/usr/bin/env node
const { keepCompiled } = await import('../process/keep-compiled.ts');
keepCompiled();
await import('../command/main.ts');
