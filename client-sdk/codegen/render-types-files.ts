import openapiTS, { astToString } from 'openapi-typescript';
import { createV1AndChangedV2Documents } from './create-v1-and-changed-v2-documents.ts';
import { generatedFileHeaderComment, type OpenApiDocument } from './openapi-document.ts';

/** Omits examples, which are needed only in the API reference. */
const withoutExamples = (key: string, value: unknown): unknown =>
  ['example', 'examples', 'x-codeSamples'].includes(key) ? undefined : value;

/** Returns the sources of `types.gen.ts` and `types-v2.gen.ts`, by file name. The files are not committed; `npm run build` writes them. */
export async function renderTypesFiles(): Promise<Record<string, string>> {
  const { v1, changedInV2 } = createV1AndChangedV2Documents();
  return { 'types.gen.ts': await typesSource(v1), 'types-v2.gen.ts': await typesSource(changedInV2) };
}

async function typesSource(document: OpenApiDocument): Promise<string> {
  // `events.ts` declares the types of webhook payloads.
  const types = await openapiTS(JSON.stringify({ ...document, webhooks: undefined }, withoutExamples), {
    defaultNonNullable: false,
    silent: true,
  });
  return generatedFileHeaderComment + astToString(types);
}
