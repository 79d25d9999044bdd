/** Tests that the documents link only to files and headings that exist in the repository. */
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../support/markdown.ts';

const ignored = /(^|\/)(node_modules|dist|data)\//;
const files: string[] = [];
for await (const file of glob('**/*.md', { cwd: repositoryRoot, exclude: (name) => ignored.test(`${name}/`) })) files.push(file);

const withoutCode = (source: string): string => source.replaceAll(/^( *)(`{3,}|~{3,})[^]*?^\1\2 *$/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** Returns the anchors of the headings, as GitHub creates them. */
function readAnchors(source: string): Set<string> {
  const headings = source.replaceAll(/^( *)(`{3,}|~{3,})[^]*?^\1\2 *$/gm, '').matchAll(/^#{1,6} +(.*?) *$/gm);
  const anchors = Array.from(headings, ([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(
    anchors.map((anchor, at) =>
      anchors.indexOf(anchor) === at ? anchor : `${anchor}-${anchors.slice(0, at).filter((one) => one === anchor).length}`,
    ),
  );
}

/**
 * Returns the reason why a link is broken, or `undefined` if the link works. For a link to a different host, only the form of the URL is
 * checked.
 */
async function linkFault(file: string, link: string, source: string): Promise<string | undefined> {
  if (/^[a-z]+:/.test(link))
    return URL.canParse(link) && /^(https:|http:\/\/(localhost|127\.0\.0\.1)[:/]|mailto:)/.test(link) ? undefined : 'must be an https URL';
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : relative(repositoryRoot, join(repositoryRoot, dirname(file), decodeURIComponent(path)));
  if (target !== file && (target.startsWith('..') || !existsSync(join(repositoryRoot, target)))) return 'the file does not exist';
  if (anchor === undefined) return undefined;
  const text = target === file ? source : await readFile(join(repositoryRoot, target), 'utf8');
  return readAnchors(text).has(anchor) ? undefined : 'the heading does not exist';
}

async function findBrokenLinks(file: string, source: string): Promise<string[]> {
  const text = withoutCode(source);
  const links = [
    ...Array.from(text.matchAll(/\]\(([^()\s]+)\)/g), ([, link = '']) => link),
    ...Array.from(text.matchAll(/<(?:img|source|a)\s[^>]*?(?:src|srcset|href)="([^"]+)"/g), ([, link = '']) => link),
  ];
  const faults: string[] = [];
  for (const link of links) {
    const fault = await linkFault(file, link, source);
    if (fault !== undefined) faults.push(`${link}: ${fault}`);
  }
  return faults;
}

test('the documents have links', () => {
  expect(files).toContain('README.md');
  expect(files.length).toBeGreaterThan(15);
});

test.each(files)('every link in %s leads to an existing file and heading', async (file) => {
  expect(await findBrokenLinks(file, await readFile(join(repositoryRoot, file), 'utf8'))).toEqual([]);
});

test('links to missing files, missing headings and plain http are found', async () => {
  const source =
    '# A page\n\n## Order states (v1)\n\n[a](#order-states-v1) [b](README.md#a-page) [c](missing.md) [d](http://example.com) `[e](f.md)`';
  expect(await findBrokenLinks('page.md', source)).toEqual([
    'README.md#a-page: the heading does not exist',
    'missing.md: the file does not exist',
    'http://example.com: must be an https URL',
  ]);
});

test('every document is in the index docs/README.md or linked from a document in it', async () => {
  const reached = new Set(['docs/README.md']);
  for (const file of reached) {
    const text = withoutCode(await readFile(join(repositoryRoot, file), 'utf8'));
    for (const [, link = ''] of text.matchAll(/\]\(([^()\s#]+\.md)(?:#[^()\s]*)?\)/g))
      if (!/^[a-z]+:/.test(link)) reached.add(relative(repositoryRoot, join(repositoryRoot, dirname(file), link)));
  }
  expect(files.filter((file) => !reached.has(file))).toEqual([]);
});
