import { createOpenApiDocument } from '@mandate/contract/openapi';
import type { OpenApiDocument } from './openapi-types-and-operation-list.ts';
import { selectResourcesChangedInVersion } from './select-resources-changed-in-version.ts';

/** Returns the OpenAPI document for version 1, and the resources in version 2 that differ from version 1. */
export function createV1DocumentAndDocumentOfV2Changes(): { v1: OpenApiDocument; changedInV2: OpenApiDocument } {
  const [v1, v2] = [createDocument('v1'), createDocument('v2')];
  return { v1, changedInV2: selectResourcesChangedInVersion(v1, v2) };
}

const createDocument = (version: 'v1' | 'v2'): OpenApiDocument =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract tests validate the document
  JSON.parse(JSON.stringify(createOpenApiDocument('https://mandate.example', version))) as OpenApiDocument;
