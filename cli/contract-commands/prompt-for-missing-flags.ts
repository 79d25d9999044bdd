import { checkedValues } from './build-request.ts';
import type { CommandSpec } from './command-specification.ts';
import { flagsOf, type Flag } from './flags.ts';
import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { readLine } from '../terminal/read-line.ts';
import type { Typed } from './parse-flags.ts';
import { requiredMessage } from './schema-violations.ts';

/** The same flags, with an answer for each required one that is missing: the person at the terminal is asked for it. */
export async function withAnswers(io: Io, spec: CommandSpec, typed: Typed, base: Record<string, unknown>): Promise<Typed> {
  const answered = new Map(typed);
  const problems = (flag: Flag): string[] =>
    checkedValues(spec, answered, base).fields.flatMap(({ flag: name, message }) =>
      name === flag.name || name.startsWith(`${flag.name}[`) ? [message] : [],
    );
  for (const flag of flagsOf(spec).filter((one) => problems(one).includes(requiredMessage))) {
    for (let wrong = ['']; wrong.length > 0; wrong = problems(flag)) {
      if (wrong[0] !== '') io.stderr.write(`  ${plainText(wrong.join('; '))}\n`);
      const texts = await (isRepeated(flag) ? repeatedAnswers(io, flag) : oneAnswer(io, flag));
      // At the end of the input nobody answers any more: what is missing is told like without a terminal.
      if (!texts) return answered;
      answered.set(flag, texts);
    }
  }
  return answered;
}

const isRepeated = ({ kind }: Flag): boolean => kind === 'objects' || kind === 'list' || kind === 'pairs';

async function oneAnswer(io: Io, flag: Flag): Promise<string[] | undefined> {
  io.stderr.write(`${question(flag)}: `);
  const line = await readLine(io);
  return line === undefined ? undefined : [line.trim()];
}

/** One answer per line, until an empty line. */
async function repeatedAnswers(io: Io, flag: Flag): Promise<string[] | undefined> {
  const texts: string[] = [];
  io.stderr.write(`${question(flag)}, an empty line ends the list:\n`);
  for (;;) {
    io.stderr.write('> ');
    const line = await readLine(io);
    if (line === undefined) return texts.length > 0 ? texts : undefined;
    if (line.trim() !== '') texts.push(line.trim());
    else if (texts.length > 0) return texts;
  }
}

/** `Delivery method (Code of the delivery method)`. */
function question({ name, schema, kind }: Flag): string {
  const words = name.replace(/^--/, '').replaceAll(/[.-]/g, ' ');
  const [about = ''] = (schema.description ?? '').split(/[.;] |\.$/, 1);
  const choices = (schema.items ?? schema).enum?.join(', ');
  const form =
    kind === 'objects'
      ? Object.keys(schema.items?.properties ?? {})
          .map((key) => `${key}=...`)
          .join(',')
      : '';
  const more = [about, choices ?? '', form].filter(Boolean).join('; ');
  return plainText(words.charAt(0).toUpperCase() + words.slice(1) + (more && ` (${more})`));
}
