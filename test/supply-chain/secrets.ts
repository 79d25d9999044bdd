/**
 * `npm run check:secrets` searches the repository files for passwords, keys and tokens; `-- --history` searches every version of every
 * file. The program prints only locations, never secrets.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { repositoryRoot } from '../../packaging/locked-and-production-packages.ts';

const run = promisify(execFile);
const options = { cwd: repositoryRoot, maxBuffer: 1_000_000_000 };

/** Maximum size of searched files. Larger files contain data. */
const bytesMax = 3_000_000;
const binaryExtensions = new Set(['.png', '.gz', '.ico', '.woff2', '.jpg', '.tgz']);

/** Hosts in example and test URLs: this machine, and names reserved by RFC 2606 and RFC 6761. Passwords in such URLs are not secret. */
const exampleHost =
  /@(?:localhost|127\.0\.0\.1|\[::1\]|[\w.-]*\bexample(?:\.(?:com|org|net))?|[\w.-]+\.(?:test|invalid|localhost))(?![\w.-])/;

const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] };

/** Returns each apparent secret in the content as `file:line rule`. */
export async function findSecretsIn(file: string, content: string): Promise<string[]> {
  const source = { filePath: join(repositoryRoot, file), content, ext: extname(file), contentType: 'text' } as const;
  const { messages } = await lintSource({ source, options: { config, maskSecrets: true, noPhysicFilePath: true } });
  return messages.flatMap(({ range, loc, ruleId }) => {
    const [line = ''] = content.slice(range[0]).split('\n', 1);
    return exampleHost.test(line) ? [] : [`${file}:${loc.start.line} ${ruleId}`];
  });
}

async function searchTree(): Promise<string[]> {
  const { stdout } = await run('git', ['ls-files', '-z'], options);
  const packages: string[] = [];
  for (const file of stdout.split('\0').filter((name) => name !== '' && !binaryExtensions.has(extname(name)))) {
    const content = await readFile(join(repositoryRoot, file), 'utf8').catch(() => ''); // the deletion is not committed yet
    if (content.length <= bytesMax) packages.push(...(await findSecretsIn(file, content)));
  }
  return packages;
}

/** Searches every version of every file in all commits. */
async function searchHistory(): Promise<string[]> {
  const objects = await run('git', ['rev-list', '--objects', '--all', '--filter=object:type=blob', '--filter-provided-objects'], options);
  const versions = objects.stdout.split('\n').flatMap((line) => {
    const [, object = '', file = ''] = /^([0-9a-f]{40,64}) (.+)$/.exec(line) ?? [];
    return file === '' || binaryExtensions.has(extname(file)) ? [] : [{ object, file }];
  });
  const packages: string[] = [];
  for (const { object, file } of versions) {
    const { stdout } = await run('git', ['cat-file', 'blob', object], options);
    if (stdout.length <= bytesMax) for (const one of await findSecretsIn(file, stdout)) packages.push(`${object.slice(0, 10)} ${one}`);
  }
  process.stderr.write(`${versions.length} file versions searched\n`);
  return packages;
}

export const findSecrets = (where: 'tree' | 'history'): Promise<string[]> => (where === 'tree' ? searchTree() : searchHistory());

if (import.meta.main) {
  const packages = await findSecrets(process.argv.includes('--history') ? 'history' : 'tree');
  for (const one of packages) process.stdout.write(`${one}\n`);
  process.stdout.write(
    packages.length === 0 ? 'no secrets found\n' : 'Replace every real secret in this list, because it stays in the history.\n',
  );
  process.exitCode = packages.length === 0 ? 0 : 1;
}
