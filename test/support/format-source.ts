import { readFile } from 'node:fs/promises';
import { format } from 'oxfmt';

/** Formats generated TypeScript as `npm run openapi` does, with the options in `.oxfmtrc.json`. */
export async function formatSource(source: string): Promise<string> {
  const { printWidth, singleQuote } = JSON.parse(await readFile(new URL('../../.oxfmtrc.json', import.meta.url), 'utf8'));
  const { code, errors } = await format('generated.ts', source, { printWidth, singleQuote });
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  return code;
}
