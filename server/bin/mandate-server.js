#!/usr/bin/env node
await import('../command/main.ts');
