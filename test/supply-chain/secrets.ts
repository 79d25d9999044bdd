/**
 * `npm run check:secrets` looks for passwords, keys and tokens in the files of the repository; with `-- --history` in every version of every file there
 * ever was. Says where, and never what.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { root } from './production-packages.ts';

const run = promisify(execFile);
const options = { cwd: root, maxBuffer: 1_000_000_000 };

/** Larger files are data, and pictures are no text. */
const bytesMax = 3_000_000;
const noText = new Set(['.png', '.gz', '.ico', '.woff2', '.jpg', '.tgz']);

/** Passwords in addresses of this machine, or of names that nobody has (RFC 2606, RFC 6761), open nothing: examples and tests are full of them. */
const nobodysHost =
  /@(?:localhost|127\.0\.0\.1|\[::1\]|[\w.-]*\bexample(?:\.(?:com|org|net))?|[\w.-]+\.(?:test|invalid|localhost))(?![\w.-])/;

const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] };

/** What a text has in it that looks like a secret, as `file:line rule`. */
export async function lint(file: string, content: string): Promise<string[]> {
  const source = { filePath: join(root, file), content, ext: extname(file), contentType: 'text' } as const;
  const { messages } = await lintSource({ source, options: { config, maskSecrets: true, noPhysicFilePath: true } });
  return messages.flatMap(({ range, loc, ruleId }) => {
    const [line = ''] = content.slice(range[0]).split('\n', 1);
    return nobodysHost.test(line) ? [] : [`${file}:${loc.start.line} ${ruleId}`];
  });
}

async function ofTree(): Promise<string[]> {
  const { stdout } = await run('git', ['ls-files', '-z'], options);
  const found: string[] = [];
  for (const file of stdout.split('\0').filter((name) => name !== '' && !noText.has(extname(name)))) {
    const content = await readFile(join(root, file), 'utf8').catch(() => ''); // removed, and not yet committed
    if (content.length <= bytesMax) found.push(...(await lint(file, content)));
  }
  return found;
}

/** Every version of every file that any commit has. */
async function ofHistory(): Promise<string[]> {
  const objects = await run('git', ['rev-list', '--objects', '--all', '--filter=object:type=blob', '--filter-provided-objects'], options);
  const versions = objects.stdout.split('\n').flatMap((line) => {
    const [, object = '', file = ''] = /^([0-9a-f]{40,64}) (.+)$/.exec(line) ?? [];
    return file === '' || noText.has(extname(file)) ? [] : [{ object, file }];
  });
  const found: string[] = [];
  for (const { object, file } of versions) {
    const { stdout } = await run('git', ['cat-file', 'blob', object], options);
    if (stdout.length <= bytesMax) for (const one of await lint(file, stdout)) found.push(`${object.slice(0, 10)} ${one}`);
  }
  process.stderr.write(`${versions.length} versions of files looked through\n`);
  return found;
}

export const secretsIn = (where: 'tree' | 'history'): Promise<string[]> => (where === 'tree' ? ofTree() : ofHistory());

if (import.meta.main) {
  const found = await secretsIn(process.argv.includes('--history') ? 'history' : 'tree');
  for (const one of found) process.stdout.write(`${one}\n`);
  process.stdout.write(
    found.length === 0 ? 'no secrets found\n' : 'Whatever really opened something has to be made anew: it stays in the history.\n',
  );
  process.exitCode = found.length === 0 ? 0 : 1;
}
