import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readImports, type ImportGraph } from '../structure/import-graph.ts';
import type { Mutant } from './mutant.ts';

/** Tests that are excluded, because they take minutes or need packages or other programs, and rarely detect a change to a single line. */
const leftOut =
  /^test\/(?:(?:bench|deploy|docs\/(?!reference-page|openapi-)|faults|first-order|fuzz|generated-clients|load|package|peers|retail|scale|supply-chain|mutation)\/|process\/test-tools\/planted-faults\.)/;
/** Tests that start server processes. These tests take longer, so they rank lower than other tests of the same similarity. */
const startsProcesses = /^test\/(?:process|e2e|cli|command)\//;
const processFactor = 0.8;
/** Tests that check a rule for all files of a kind. The names of such tests have no words in common with the individual files. */
const testsOfKinds: readonly { readonly file: RegExp; readonly test: string }[] = [
  { file: /\.entity\.ts$/, test: 'test/database/migrations.test.ts' },
];
/** Weight of tests in a folder with the same name as the mutant's folder, such as `test/api/mcp` for `server/mcp`. */
const sameFolderFactor = 1.5;

/** Weight of tests that import the mutant's file. */
const directImportFactor = 2;

type Words = ReadonlyMap<string, number>;

/** Weights of the words near the mutant and in its file path, relative to the other words in the file. */
const nearbyWeight = 4;
const pathWeight = 8;
/** Weights of the words in the paths of the files that import the mutant's file directly or indirectly. */
const importerPathWeights = [6, 4, 2];
/** Maximum number of importers. A file with more importers is used everywhere, so its importers do not help to find related tests. */
const importersMax = 6;
const nearbyLines = 8;
/** Weight of the words in the mutated line. */
const mutatedLineWeight = 8;

/** Ranks test files by their similarity to the source around a mutant (cosine of tf-idf vectors). */
export class RelatedTests {
  readonly #vectors: ReadonlyMap<string, Words>;
  readonly #rarity: (word: string) => number;
  /** Imports of server files and of test files. */
  readonly #imports: ImportGraph;
  /** Contents of the server files. */
  readonly #contents: ReadonlyMap<string, string>;

  private constructor(documents: ReadonlyMap<string, Words>, imports: ImportGraph, contents: ReadonlyMap<string, string>) {
    this.#imports = imports;
    this.#contents = contents;
    const counts = new Map<string, number>();
    for (const words of documents.values()) for (const word of words.keys()) counts.set(word, (counts.get(word) ?? 0) + 1);
    this.#rarity = (word) => Math.log((1 + documents.size) / (1 + (counts.get(word) ?? 0)));
    this.#vectors = new Map([...documents].map(([file, words]) => [file, this.#vectorOf(words)]));
  }

  static async read(root: string): Promise<RelatedTests> {
    const files = globSync('test/**/*.test.ts', { cwd: root }).filter((file) => !leftOut.test(file));
    const documents = files.map(async (file) => {
      const words = wordCounts(await readFile(join(root, file), 'utf8'));
      for (const [word, count] of wordCounts(file)) words.set(word, (words.get(word) ?? 0) + count * pathWeight);
      return [file, words] as const;
    });
    const serverImports = readImports(root, 'server');
    const contents = [...serverImports.keys()].map(async (file) => [file, await readFile(join(root, file), 'utf8')] as const);
    const imports = new Map([...serverImports, ...readImports(root, 'test')]);
    return new RelatedTests(new Map(await Promise.all(documents)), imports, new Map(await Promise.all(contents)));
  }

  /** Returns all test files, with the most similar first. */
  rank({ file, line }: Mutant, content: string): readonly string[] {
    const lines = content.split('\n');
    const nearby = lines.slice(Math.max(0, line - 1 - nearbyLines), line + nearbyLines).join('\n');
    const words = wordCounts(content);
    const addWords = (text: string, weight: number): void => {
      for (const [word, count] of wordCounts(text)) words.set(word, (words.get(word) ?? 0) + count * weight);
    };
    addWords(nearby, nearbyWeight);
    addWords(lines[line - 1] ?? '', mutatedLineWeight);
    addWords(file, pathWeight);
    let importers = [file];
    for (const [level, weight] of importerPathWeights.entries()) {
      importers = importers.flatMap((imported) => this.#findImporters(imported));
      for (const importer of importers) {
        addWords(importer, weight);
        if (level === 0) addWords(linesNear(this.#contents.get(importer) ?? '', exportedNames(content)), nearbyWeight);
      }
    }
    const wanted = this.#vectorOf(words);
    const scores = [...this.#vectors].map(([test, vector]) => ({
      test,
      score:
        product(wanted, vector) *
        (startsProcesses.test(test) ? processFactor : 1) *
        (basename(dirname(test)) === basename(dirname(file)) ? sameFolderFactor : 1) *
        (this.#imports.get(test)?.has(file) ? directImportFactor : 1),
    }));
    const ranked = scores.toSorted((one, other) => other.score - one.score).map(({ test }) => test);
    const first = testsOfKinds.filter((kind) => kind.file.test(file)).map(({ test }) => test);
    return [...ranked.slice(0, 1), ...first, ...ranked.slice(1)].filter((test, index, all) => all.indexOf(test) === index);
  }

  /** Returns the server files that import `file`; an empty list if there are too many. */
  #findImporters(file: string): readonly string[] {
    const importers = [...this.#imports].filter(([importer, targets]) => importer.startsWith('server/') && targets.has(file));
    return importers.length > importersMax ? [] : importers.map(([importer]) => importer);
  }

  #vectorOf(words: Words): Words {
    const weighted = [...words].map(([word, count]) => [word, (1 + Math.log(count)) * this.#rarity(word)] as const);
    const length = Math.hypot(...weighted.map(([, weight]) => weight)) || 1;
    return new Map(weighted.map(([word, weight]) => [word, weight / length]));
  }
}

const exportedNames = (content: string): readonly string[] =>
  [...content.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].flatMap(([, name]) => name ?? []);

/** Returns the lines near each use of one of the names. */
function linesNear(content: string, names: readonly string[]): string {
  const lines = content.split('\n');
  const uses = lines.flatMap((line, index) => (!line.startsWith('import') && names.some((name) => line.includes(name)) ? [index] : []));
  return lines.filter((_, index) => uses.some((use) => Math.abs(use - index) <= nearbyLines)).join('\n');
}

function product(one: Words, other: Words): number {
  let sum = 0;
  for (const [word, weight] of one) sum += weight * (other.get(word) ?? 0);
  return sum;
}

/** Counts identifiers, and the words within identifiers. */
function wordCounts(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [identifier] of text.matchAll(/[A-Za-z_][\w]*/g)) {
    const parts = identifier.split(/_|(?<=[a-z\d])(?=[A-Z])/).map((part) => part.toLowerCase());
    // The same name is written in camel case in the source and in snake case in requests and responses.
    for (const word of new Set([parts.join(''), ...parts])) if (word.length > 2) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}
