import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodeBlock } from '../../support/markdown.ts';
import type { ShellSession } from './shell-session.ts';

export type GuideRunner = {
  readonly session: ShellSession;
  readonly directory: string;
  /** Replaces the documented ports, which may be in use. */
  readonly replacePorts: (text: string) => string;
  /** Names of the blocks whose programs keep running while later blocks are run. */
  readonly backgroundBlocks: ReadonlySet<string>;
  /** Maximum wait for documented output, which can come from a background program. */
  readonly outputTimeoutMs: number;
};

/**
 * Runs one code block of the guide. Shell blocks and programs share one shell. A `json` block must equal the output of the program before
 * it, and the lines of a `text` block must occur in this output in the same order; `…` stands for any text.
 * @throws an error with the name of the block if it fails, or if its language cannot be run
 */
export async function runGuideBlock(runner: GuideRunner, block: CodeBlock): Promise<void> {
  try {
    await runBlock(runner, { ...block, text: runner.replacePorts(block.text) });
  } catch (cause) {
    throw new Error(`${block.name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

async function runBlock(runner: GuideRunner, block: CodeBlock): Promise<void> {
  const { session, outputTimeoutMs } = runner;
  switch (block.language) {
    case 'sh':
      return void (await session.run(block.text));
    case 'ts':
      return runProgram(runner, block, 'node --no-warnings', 'ts');
    case 'python':
      return runProgram(runner, block, 'python3', 'py');
    case 'json': {
      const difference = findJsonDifference(JSON.parse(block.text), JSON.parse(await session.waitForOutput(isJson, outputTimeoutMs)));
      if (difference !== undefined) throw new Error(difference);
      return;
    }
    case 'text': {
      const output = await session.waitForOutput((text) => containsLines(text, block.text), outputTimeoutMs);
      if (!containsLines(output, block.text)) throw new Error(`the output is\n${output}`);
      return;
    }
    default:
      throw new Error(`the guide cannot run blocks in the language "${block.language}"`);
  }
}

async function runProgram({ session, directory, backgroundBlocks }: GuideRunner, block: CodeBlock, program: string, extension: string) {
  const file = `guide-${block.line}.${extension}`;
  await writeFile(join(directory, file), block.text);
  if (backgroundBlocks.has(block.name)) await session.runInBackground(`${program} ${file}`);
  else await session.run(`${program} ${file}`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function containsLines(output: string, documented: string): boolean {
  const lines = documented.trimEnd().split('\n');
  return new RegExp(lines.map((line) => `^${patternFromText(line)}\\r?$`).join('[^]*?'), 'im').test(output);
}

const patternFromText = (text: string): string =>
  text
    .split('…')
    .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
    .join('.*');

/** Returns the differences between a JSON value and the documented value. */
export function findJsonDifference(documented: unknown, actual: unknown, path = 'the response'): string | undefined {
  if (typeof documented === 'string' && documented.includes('…'))
    return new RegExp(`^${patternFromText(documented)}$`, 's').test(String(actual)) ? undefined : `${path} is ${JSON.stringify(actual)}`;
  if (!isObject(documented) || !isObject(actual))
    return documented === actual ? undefined : `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(documented)}`;
  const [names, actualNames] = [Object.keys(documented), Object.keys(actual)].map((keys) => keys.toSorted().join(', '));
  if (names !== actualNames) return `${path} has the fields ${actualNames}, not ${names}`;
  for (const [name, value] of Object.entries(documented)) {
    const difference = findJsonDifference(value, actual[name], `${path}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
