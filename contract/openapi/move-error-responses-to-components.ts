import { isJsonObject, mapJsonObjectValues, type JsonObject, type JsonValue } from '../schema/json.ts';
import { sortObjectKeys } from './json-schema-from-zod.ts';

/**
 * Moves the error responses to the components, because most of them occur in many operations. The name of a response consists of its
 * problem codes, such as `InsufficientScopeOrForbidden`.
 */
export function moveErrorResponsesToComponents(document: JsonObject): JsonObject {
  const shared: Record<string, JsonObject> = {};
  const share = (response: JsonValue): JsonValue => {
    if (!isJsonObject(response) || !Array.isArray(response['x-problem-codes'])) return response;
    const name = response['x-problem-codes'].map(String).map(pascalCase).join('Or');
    if (JSON.stringify((shared[name] ??= response)) !== JSON.stringify(response))
      throw new Error(`two different responses are named ${name}`);
    return { $ref: `#/components/responses/${name}` };
  };
  const paths = mapJsonObjectValues(document['paths'], (methods) =>
    mapJsonObjectValues(methods, (operation) =>
      isJsonObject(operation) ? { ...operation, responses: mapJsonObjectValues(operation['responses'], share) } : operation,
    ),
  );
  const components = isJsonObject(document['components']) ? document['components'] : {};
  return { ...document, paths, components: { ...components, responses: sortObjectKeys(shared) } };
}

const pascalCase = (code: string): string => code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
