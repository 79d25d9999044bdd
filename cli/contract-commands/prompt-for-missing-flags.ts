import { checkedValues } from './build-request.ts';
import type { CommandSpec } from './command-specification.ts';
import { flagsOf, type Flag } from './flags.ts';
import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { readLine } from '../terminal/read-line.ts';
import type { Typed } from './parse-flags.ts';
import { requiredMessage } from './schema-violations.ts';

/** Prompts the user for each missing required flag and returns the completed flags. */
export async function withAnswers(io: Io, spec: CommandSpec, typed: Typed, base: Record<string, unknown>): Promise<Typed> {
  const completed = new Map(typed);
  const errorsOf = (flag: Flag): string[] =>
    checkedValues(spec, completed, base).fields.flatMap(({ flag: name, message }) =>
      name === flag.name || name.startsWith(`${flag.name}[`) ? [message] : [],
    );
  for (const flag of flagsOf(spec).filter((one) => errorsOf(one).includes(requiredMessage))) {
    for (let errors = ['']; errors.length > 0; errors = errorsOf(flag)) {
      if (errors[0] !== '') io.stderr.write(`  ${plainText(errors.join('; '))}\n`);
      const texts = await (isRepeatable(flag) ? promptForList(io, flag) : promptForValue(io, flag));
      // At the end of the input, stop prompting. The missing flags are then reported as without a terminal.
      if (!texts) return completed;
      completed.set(flag, texts);
    }
  }
  return completed;
}

const isRepeatable = ({ kind }: Flag): boolean => kind === 'objects' || kind === 'list' || kind === 'pairs';

async function promptForValue(io: Io, flag: Flag): Promise<string[] | undefined> {
  io.stderr.write(`${promptText(flag)}: `);
  const line = await readLine(io);
  return line === undefined ? undefined : [line.trim()];
}

/** Reads one value per line until an empty line. */
async function promptForList(io: Io, flag: Flag): Promise<string[] | undefined> {
  const texts: string[] = [];
  io.stderr.write(`${promptText(flag)}, one per line, then an empty line:\n`);
  for (;;) {
    io.stderr.write('> ');
    const line = await readLine(io);
    if (line === undefined) return texts.length > 0 ? texts : undefined;
    if (line.trim() !== '') texts.push(line.trim());
    else if (texts.length > 0) return texts;
  }
}

/** Returns the prompt for a flag, such as `Delivery method (Code of the delivery method)`. */
function promptText({ name, schema, kind }: Flag): string {
  const words = name.replace(/^--/, '').replaceAll(/[.-]/g, ' ');
  const [summary = ''] = (schema.description ?? '').split(/[.;] |\.$/, 1);
  const choices = (schema.items ?? schema).enum?.join(', ');
  const fields =
    kind === 'objects'
      ? Object.keys(schema.items?.properties ?? {})
          .map((key) => `${key}=...`)
          .join(',')
      : '';
  const details = [summary, choices ?? '', fields].filter(Boolean).join('; ');
  return plainText(words.charAt(0).toUpperCase() + words.slice(1) + (details && ` (${details})`));
}
