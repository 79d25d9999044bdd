import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { serveStaticDocument } from '../http/response/serve-static-document.ts';

type ConsoleFiles = {
  /** Path of the entry script, relative to the console folder. */
  readonly script: string;
  /** Stylesheets that the entry script imports. */
  readonly stylesheets: readonly string[];
  /** Modules that the entry script imports. */
  readonly imports: readonly string[];
  readonly assets: readonly { readonly path: string; readonly serve: RequestHandler }[];
};

const manifestSchema = z.record(
  z.object({
    file: z.string(),
    isEntry: z.boolean().default(false),
    css: z.array(z.string()).default([]),
    imports: z.array(z.string()).default([]),
  }),
);

/** File names contain a content hash. */
const immutable = 'public, max-age=31536000, immutable';

/**
 * Loads the list of the console's built files. Each file is read when it is first requested. Returns `undefined` if the console has not
 * been built. Building the console requires the development dependencies.
 */
export function loadConsoleEntryAndAssetHandlers(folder: URL | undefined = findBuiltConsole()): ConsoleFiles | undefined {
  if (folder === undefined) return undefined;
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8')));
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry);
  if (entry === undefined) throw new Error('the manifest of the console has no entry');
  const assets = readdirSync(new URL('assets/', folder)).map((file) => {
    const name = file.replace(/\.gz$/, '');
    const read = (): Buffer => {
      const content = readFileSync(new URL(`assets/${file}`, folder));
      return file === name ? content : gunzipSync(content);
    };
    return { path: `assets/${name}`, serve: serveStaticDocument(name.slice(name.lastIndexOf('.') + 1), read, immutable) };
  });
  const imports = entry.imports.map((name) => manifest[name]?.file ?? name);
  return { script: entry.file, stylesheets: entry.css, imports, assets };
}

/** The container image and the published package contain the built files; in the package, the assets are compressed. */
function findBuiltConsole(): URL | undefined {
  const folders = [new URL('files/', import.meta.url), new URL('../../console/dist/', import.meta.url)];
  return folders.find((folder) => existsSync(new URL('manifest.json', folder)));
}
