/** `npm run pictures` draws the pictures in the README: the overview, and a terminal with the output of the README's commands. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '../../support/markdown.ts';
import { drawPictures } from './draw-pictures.ts';

// oxlint-disable-next-line node/no-process-env -- the commands use the caller's programs
for (const [file, picture] of Object.entries(await drawPictures(process.env['PATH'] ?? ''))) {
  const path = join(repositoryRoot, file);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, picture);
}
