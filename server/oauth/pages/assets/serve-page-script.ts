import type { RequestHandler } from 'express';
import { pageEnhancementScript } from './page-enhancement-script.ts';

/** Serves the page script. Caches can store the script indefinitely, because its path contains a content hash. */
export const servePageScript: RequestHandler = (_req, res) => {
  res.set({ 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' });
  res.type('js').send(pageEnhancementScript.text);
};
