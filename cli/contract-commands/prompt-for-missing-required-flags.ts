import { buildAndValidateQueryAndBody } from './build-request-and-convert-api-errors.ts';
import type { CommandSpec } from '../schema/command-spec-type.ts';
import { flagsFromCommandSpec, type ContractFlag } from './flags-from-command-spec.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { readLine } from '../terminal/read-line.ts';
import type { RawFlagValues } from './parse-flag-values.ts';
import { requiredFieldMessage } from '../schema/find-schema-violations.ts';

/** Prompts the user for each missing required flag, and returns all flags. */
export async function promptForMissingRequiredFlags(
  io: CliEnvironment,
  spec: CommandSpec,
  typed: RawFlagValues,
  base: Record<string, unknown>,
): Promise<RawFlagValues> {
  const completed = new Map(typed);
  const errorsOf = (flag: ContractFlag): string[] =>
    buildAndValidateQueryAndBody(spec, completed, base).fields.flatMap(({ flag: name, message }) =>
      name === flag.name || name.startsWith(`${flag.name}[`) ? [message] : [],
    );
  for (const flag of flagsFromCommandSpec(spec).filter((one) => errorsOf(one).includes(requiredFieldMessage))) {
    for (let errors = ['']; errors.length > 0; errors = errorsOf(flag)) {
      if (errors[0] !== '') io.stderr.write(`  ${sanitizeForTerminal(errors.join('; '))}\n`);
      const texts = await (isRepeatable(flag) ? promptForList(io, flag) : promptForValue(io, flag));
      // Stops prompting at the end of the input. Flags that are still missing are then reported as errors, as if there were no terminal.
      if (!texts) return completed;
      completed.set(flag, texts);
    }
  }
  return completed;
}

const isRepeatable = ({ kind }: ContractFlag): boolean => kind === 'objects' || kind === 'list' || kind === 'pairs';

async function promptForValue(io: CliEnvironment, flag: ContractFlag): Promise<string[] | undefined> {
  io.stderr.write(`${promptText(flag)}: `);
  const line = await readLine(io);
  return line === undefined ? undefined : [line.trim()];
}

/** Reads one value per line until an empty line. */
async function promptForList(io: CliEnvironment, flag: ContractFlag): Promise<string[] | undefined> {
  const texts: string[] = [];
  io.stderr.write(`${promptText(flag)}, one per line; finish with an empty line:\n`);
  for (;;) {
    io.stderr.write('> ');
    const line = await readLine(io);
    if (line === undefined) return texts.length > 0 ? texts : undefined;
    if (line.trim() !== '') texts.push(line.trim());
    else if (texts.length > 0) return texts;
  }
}

/** Returns the prompt for a flag, such as `Delivery method (Code of the delivery method)`. */
function promptText({ name, schema, kind }: ContractFlag): string {
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
  return sanitizeForTerminal(words.charAt(0).toUpperCase() + words.slice(1) + (details && ` (${details})`));
}
