import { defineConfig } from 'vite';

/**
 * `vite build` writes the console to `dist`, with a manifest that the server reads (server/console). `vite` serves the console on port 5173
 * with the API of a server on port 3000, and reloads changed modules.
 */
export default defineConfig({
  base: './',
  build: {
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: 'src/main.tsx' },
    target: 'es2022',
  },
});
