import { readCommandBlock } from '../../support/markdown.ts';
import { drawOverview } from './draw-overview.ts';
import { drawTerminal } from './draw-terminal.ts';
import { recordCommands } from './record-commands.ts';

/** Returns the pictures in the README, keyed by file. */
export async function drawPictures(path: string): Promise<Record<string, string>> {
  const recorded = await recordCommands(await readCommandBlock('README.md', 'npx mandate login'), path);
  return { 'docs/images/overview.svg': drawOverview(), 'docs/images/terminal.svg': drawTerminal(recorded) };
}
