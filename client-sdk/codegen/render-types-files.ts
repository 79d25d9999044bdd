import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { createV1DocumentAndDocumentOfV2Changes } from './create-v1-document-and-document-of-v2-changes.ts';
import { generatedFileHeaderComment, type OpenApiDocument } from './openapi-types-and-operation-list.ts';

/**
 * Represents every value that only newer versions of the service define, such as a new event type. No response contains this placeholder.
 * Because the placeholder's type is narrower than `string`, a comparison with a known value excludes all newer values.
 */
const newerValuePlaceholder = '(a value of a newer service)';

/**
 * Omits examples, because only the API reference needs them. Omits discriminators, because the property that a discriminator names has a
 * different type in each alternative. Replaces a string schema that excludes the known values with `newerValuePlaceholder`.
 */
function simplifyForTypes(key: string, value: unknown): unknown {
  if (['example', 'examples', 'x-codeSamples', 'discriminator'].includes(key)) return undefined;
  if (typeof value !== 'object' || value === null || !('not' in value) || !isEnumeration(value.not)) return value;
  return { ...value, not: undefined, const: newerValuePlaceholder };
}

const isEnumeration = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && 'enum' in schema;

/** Returns the sources of `types.gen.ts` and `types-v2.gen.ts`, by file name. The files are not committed; `npm run build` writes them. */
export async function renderTypesFiles(): Promise<Record<string, string>> {
  const { v1, changedInV2 } = createV1DocumentAndDocumentOfV2Changes();
  return { 'types.gen.ts': await typesSource(v1), 'types-v2.gen.ts': await typesSource(changedInV2) };
}

async function typesSource(document: OpenApiDocument): Promise<string> {
  // `events.ts` declares the types of webhook payloads.
  const types = await openapiTS(JSON.stringify({ ...document, webhooks: undefined }, simplifyForTypes), {
    defaultNonNullable: false,
    silent: true,
  });
  return generatedFileHeaderComment + astToString(types.flatMap(declareSchemasAsInterfaces));
}

/**
 * Declares each schema as an interface. Editors show an interface by its name, such as `Order`, but expand other types into all their
 * members.
 */
function declareSchemasAsInterfaces(node: ts.Node): ts.Node[] {
  if (!ts.isInterfaceDeclaration(node) || node.name.text !== 'components') return [node];
  const schemas = node.members.find((member) => ts.isPropertySignature(member) && propertyName(member) === 'schemas');
  if (!schemas || !ts.isPropertySignature(schemas) || !schemas.type || !ts.isTypeLiteralNode(schemas.type)) return [node];
  const properties = schemas.type.members.filter((member) => ts.isPropertySignature(member));
  const references = properties.map((property) =>
    factory.createPropertySignature(undefined, property.name, undefined, factory.createTypeReferenceNode(propertyName(property))),
  );
  const schemasMember = factory.createPropertySignature(undefined, 'schemas', undefined, factory.createTypeLiteralNode(references));
  const members = node.members.map((member) => (member === schemas ? schemasMember : member));
  return [
    ...properties.map(declareSchema),
    factory.createInterfaceDeclaration([exportModifier], 'components', undefined, undefined, members),
  ];
}

/** Declares a schema as an interface, or as a type alias if the schema can be `null` or has alternatives. */
function declareSchema(property: ts.PropertySignature): ts.Node {
  const { type = factory.createKeywordTypeNode(ts.SyntaxKind.UnknownKeyword) } = property;
  const name = propertyName(property);
  const declaration = ts.isTypeLiteralNode(type)
    ? factory.createInterfaceDeclaration([exportModifier], name, undefined, undefined, type.members)
    : factory.createTypeAliasDeclaration([exportModifier], name, undefined, type);
  return ts.setSyntheticLeadingComments(declaration, ts.getSyntheticLeadingComments(property));
}

const { factory } = ts;
const exportModifier = factory.createModifier(ts.SyntaxKind.ExportKeyword);

function propertyName({ name }: ts.PropertySignature): string {
  if (ts.isIdentifier(name) || ts.isStringLiteral(name)) return name.text;
  throw new Error('a schema has no plain name');
}
