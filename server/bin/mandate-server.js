#!/usr/bin/env node
const major = 24;

// This is the only file that must run on every version of Node.js.
if (Number.parseInt(process.versions.node, 10) >= major) {
  const { enableModuleCompileCache } = await import('../process/compile-cache.ts');
  enableModuleCompileCache();
  await import('../command/main.ts');
} else (await import('../../start-provided-node.js')).startProvidedNode(import.meta.url, 'mandate-server', major);
