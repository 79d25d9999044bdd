import { defineConfig } from 'vite';

/** `npm run build` in the repository writes the console to `dist`, with a manifest that the server reads (server/console). */
export default defineConfig({
  base: './',
  build: {
    // Writes the licenses of the bundled libraries to this file.
    license: { fileName: 'licenses.md' },
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: 'src/main.tsx' },
    target: 'es2022',
  },
});
