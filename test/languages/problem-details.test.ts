import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { translatable, TranslatableText, type ProblemDetail } from '../../server/http/problem-details/translatable-text.ts';
import { formatInEnglish, translateDetail } from '../../server/http/problem-details/translate-detail.ts';
import { bundledLanguages } from '../../server/languages/languages.ts';
import { readMessageCatalogs } from '../../server/languages/message-catalog.ts';

const { problemDetail = {} } = readMessageCatalogs().get('en') ?? {};
const known = new Set(Object.keys(problemDetail));

const translateIntoAll = (detail: ProblemDetail): string[] => bundledLanguages.all.map((language) => translateDetail(detail, language));

describe('a detail with values', () => {
  test('contains numbers, amounts, timestamps and lists in the format of its language', () => {
    const limit = { amount: 123_450, currency: 'EUR' };
    expect(translateIntoAll(translatable`The body is larger than ${{ bytes: 1_000_000 }} bytes. Send a smaller one.`)).toEqual([
      'The body is larger than 1000000 bytes. Send a smaller one.',
      'Der Body ist größer als 1.000.000 Bytes. Senden Sie einen kleineren.',
      'El cuerpo supera los 1.000.000 bytes. Envíe uno más pequeño.',
      'Le corps dépasse 1\u202f000\u202f000 octets. Envoyez-en un plus petit.',
    ]);
    const subject = translatable`The customer allows`;
    expect(translateIntoAll(translatable`${{ subject }} ${{ limit }} per ${{ period: 'week' }}.`)).toEqual([
      'The customer allows 1234.50 EUR per week.',
      'Der Kunde erlaubt 1.234,50\u00a0EUR pro Woche.',
      'El cliente permite 1234,50\u00a0EUR por semana.',
      'Le client autorise 1\u202f234,50\u00a0EUR par semaine.',
    ]);
    expect(translateIntoAll(translatable`The quote expired at ${{ at: new Date('2026-01-31T12:00:00.000Z') }}.`)).toEqual([
      'The quote expired at 2026-01-31T12:00:00.000Z.',
      'Das Angebot ist am 31. Januar 2026 um 12:00:00 UTC abgelaufen.',
      'El presupuesto caducó el 31 de enero de 2026 a las 12:00:00 UTC.',
      'Le devis a expiré le 31 janvier 2026 à 12:00:00 UTC.',
    ]);
    expect(translateIntoAll(translatable`Send the body as ${{ types: { anyOf: ['text/csv', 'application/x-ndjson'] } }}.`)).toEqual([
      'Send the body as text/csv or application/x-ndjson.',
      'Senden Sie den Body als text/csv oder application/x-ndjson.',
      'Envíe el cuerpo como text/csv o application/x-ndjson.',
      'Envoyez le corps au format text/csv ou application/x-ndjson.',
    ]);
  });

  test('can consist of several sentences', () => {
    expect(translateIntoAll([translatable`No order can be placed from quote ${{ id: 7 }}.`, 'The quote was canceled.'])).toEqual([
      'No order can be placed from quote 7. The quote was canceled.',
      'Aus dem Angebot 7 kann keine Bestellung aufgegeben werden. Das Angebot wurde storniert.',
      'No se puede hacer ningún pedido a partir del presupuesto 7. El presupuesto se ha cancelado.',
      'Aucune commande ne peut être passée à partir du devis 7. Le devis a été annulé.',
    ]);
  });

  test('does not interpret braces and markup in a value', () => {
    expect(translateIntoAll(translatable`There is no product ${{ id: '{id} <b>' }}.`)[1]).toBe('Es gibt kein Produkt {id} <b>.');
  });

  test('is in English if the catalogs do not contain it', () => {
    const [, german] = bundledLanguages.all;
    const untranslated: string[] = [];
    const detail = new TranslatableText('{count} of {missing} things.', { count: 2 });
    expect(translateDetail(detail, german ?? bundledLanguages.default, () => untranslated.push('once'))).toBe('2 of {missing} things.');
    expect(untranslated).toEqual(['once']);
    expect(formatInEnglish('Not in any catalog.')).toBe('Not in any catalog.');
  });
});

describe('the catalogs contain', () => {
  test('every fixed sentence that the server uses as a detail', async () => {
    const sentences = (await readServerSources()).flatMap(({ source }) => findFixedDetails(source));
    expect(sentences.length).toBeGreaterThan(50);
    expect(sentences.filter((sentence) => !known.has(sentence))).toEqual([]);
  });

  test('every text with values that the server uses', async () => {
    const texts = (await readServerSources()).flatMap(({ source }) => findTextsWithValues(source));
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.filter((text) => !known.has(text) && !known.has(toSentence(text)))).toEqual([]);
  });

  test('every message of a validation rule in the contract', async () => {
    const messages = (await readSources('contract', '{protocol,resources,schema}/**/*.ts')).flatMap(({ source }) =>
      findRuleMessages(source),
    );
    expect(messages.length).toBeGreaterThan(40);
    const isKnown = (message: string): boolean => {
      // the inserted values are constants from the contract
      const parts = toSentence(message).split(/\$\{.*?\}/);
      const pattern = new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?()[\]]/g, String.raw`\$&`)).join('.+')}$`);
      return [...known].some((text) => pattern.test(text));
    };
    expect(messages.filter((message) => !isKnown(message))).toEqual([]);
  });
});

test('no detail contains values without being translatable', async () => {
  const sources = (await readServerSources()).filter(({ file }) => !filesWithKnownValues.has(file));
  expect(sources.flatMap(({ file, source }) => findUntranslatableDetails(source).map((detail) => `${file}: ${detail}`))).toEqual([]);
});

test('new details, texts with values and messages of the contract are found', () => {
  const source = `createProblem('gone', { detail: 'It\\'s gone.' }); createProblem('gone', {\n detail:\n 'Ask \`x\`.' }); { detail: 'a fragment' }`;
  expect(findFixedDetails(source)).toEqual(["It's gone.", 'Ask `x`.']);
  const withValues = 'translatable`A ${{ id }} of \\`${{ kind: describe(kind, { id }) }}\\`.`';
  expect(findTextsWithValues(withValues)).toEqual(['A {id} of `{kind}`.']);
  expect(findUntranslatableDetails(`{ detail: \`No \${id}.\` }; const detail = \`No \${id}.\`; { detail: ${withValues} }`)).toHaveLength(2);
  expect(findUntranslatableDetails('const detail =\n  a === b\n    ? `No ${id}.`\n    : 1')).toHaveLength(1);
  expect(findRuleMessages("z.string().regex(/a/, 'must be a'); { message: `must have ${maximum} pairs` }; describe('must not')")).toEqual([
    'must be a',
    'must have ${maximum} pairs',
  ]);
});

/**
 * Folders whose problem details are always in English. The errors of imported rows are part of a report about the file, and the HTTP server
 * rejects some requests before it has read the headers.
 */
const sourcesWithoutDetails = /^(order-imports|product-imports|user-imports|http\/server)\//;

/** Files whose texts contain names from the code. The catalogs contain every resulting sentence. */
const filesWithKnownValues = new Set([
  'identity-providers/find-identity-provider-setting-errors.ts',
  'identity-providers/save-identity-provider.ts',
  // this file joins the messages of validation rules in a log entry
  'logging/logger.ts',
]);

type SourceFile = { readonly file: string; readonly source: string };

async function readSources(folder: 'server' | 'contract', pattern: string): Promise<SourceFile[]> {
  const root = new URL(`../../${folder}/`, import.meta.url);
  const files = globSync(pattern, { cwd: root, exclude: (path) => path.includes('node_modules') });
  return Promise.all(files.map(async (file) => ({ file, source: await readFile(new URL(file, root), 'utf8') })));
}

const readServerSources = async (): Promise<SourceFile[]> =>
  (await readSources('server', '**/*.ts')).filter(({ file }) => !sourcesWithoutDetails.test(file));

/** Returns the sentences that a source file uses as the detail of a problem. */
const findFixedDetails = (source: string): string[] =>
  [...removeComments(source).matchAll(/\bdetail(?::| =)\s*'((?:[^'\\]|\\.)+\.)'/g)].map(([, text = '']) => text.replaceAll("\\'", "'"));

/** Returns the texts of template literals with the tag `translatable`, with the names of the inserted values. */
const findTextsWithValues = (source: string): string[] =>
  [...removeComments(source).matchAll(/\btranslatable`((?:\$\{\{.*?\}\}(?!\s*\})|[^`\\]|\\.)*)`/g)].map(([, text = '']) =>
    text.replaceAll(/\$\{\{ (\w+)(?:: .*?)? \}\}(?!\s*\})/g, '{$1}').replaceAll('\\`', '`'),
  );

/** Returns the beginnings of template literals that contain values and are used as a detail, or as one branch of a conditional detail. */
const findUntranslatableDetails = (source: string): string[] =>
  [...removeComments(source).matchAll(/\bdetail(?::| =)(?:[^;`'{}]*[?:])?\s*(`(?:[^`\\$]|\\.)*\$\{)/g)].map(([, text = '']) => text);

/** Returns the messages of the validation rules in a source file of the contract. */
const findRuleMessages = (source: string): string[] =>
  [...removeComments(source).matchAll(/(?:message: |, |^ +|Text = |Values\()(['`])((?:must|requires|is a column) .*?)\1[,;) }]/gm)].map(
    ([, , message = '']) => message,
  );

const removeComments = (source: string): string => source.replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, '');

const toSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
