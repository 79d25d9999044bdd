import { type EventSubject, eventSubjectDefinitions, type EventType, eventTypes } from '../resources/events/events.ts';
import { isJsonObject, type JsonObject } from '../schema/json.ts';
import type { OpenApiComponents } from './json-schema-from-zod.ts';

const isSubject = (name: string): name is EventSubject => Object.hasOwn(eventSubjectDefinitions, name);
const subjects = Object.keys(eventSubjectDefinitions).filter(isSubject);
const eventTypesOf = (subject: EventSubject): EventType[] => eventTypes.filter((type) => type.startsWith(`${subject}.`));

/** Returns the subject of an event type, such as `webhook_endpoint` for `webhook_endpoint.test`. */
export function subjectFromEventType(type: EventType): EventSubject {
  const [subject = ''] = type.split('.');
  if (!isSubject(subject)) throw new Error(`${type} has no subject`);
  return subject;
}

/** Returns the name of the schema for all events about a subject, such as `WebhookEndpointEvent`. */
export const eventSchemaNameFromSubject = (subject: EventSubject): string =>
  `${subject.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

const referenceTo = (name: string): string => `#/components/schemas/${name}`;
const reference = (name: string): JsonObject => ({ $ref: referenceTo(name) });

/**
 * Replaces the schema `Event` with two alternatives. `KnownEvent` has one schema for each subject; the event's `type` selects the schema.
 * With `OtherEvent`, clients can also read events of types that a newer server has added. Generated clients ignore `not`. With `oneOf`,
 * generated clients would reject a known event, because both alternatives match; with `anyOf`, they use the first alternative that matches.
 * @param version1 the components of version 1, because event payloads use the format of version 1 in every version
 */
export function replaceEventSchemaWithKnownAndOtherEvents({ schemas }: OpenApiComponents, version1: OpenApiComponents): void {
  const { Event: base } = schemas;
  if (!base || !isJsonObject(base['properties'])) throw new Error('no response contains an event');
  const { type, ...properties } = base['properties'];
  const withType = (keywords: JsonObject, data: JsonObject): JsonObject => ({
    ...base,
    // `type` is the second property, as in the responses
    properties: { id: properties['id'] ?? {}, type: { ...(isJsonObject(type) && type), ...keywords }, ...properties, data },
  });
  for (const subject of subjects) {
    const object = reference(addSubjectSchema(subject, schemas, version1.schemas));
    const data: JsonObject = { type: 'object', properties: { object }, required: ['object'] };
    schemas[eventSchemaNameFromSubject(subject)] = withType({ enum: eventTypesOf(subject), 'x-open-enum': true }, data);
  }
  schemas['OtherEvent'] = {
    ...withType({ not: { enum: [...eventTypes] } }, reference('EventData')),
    description: 'Event whose type was added in a newer version of the service.',
  };
  const mapping = Object.fromEntries(eventTypes.map((each) => [each, referenceTo(eventSchemaNameFromSubject(subjectFromEventType(each)))]));
  schemas['KnownEvent'] = {
    oneOf: subjects.map((subject) => reference(eventSchemaNameFromSubject(subject))),
    discriminator: { propertyName: 'type', mapping },
    description: 'Event whose type is described in this document. The type determines the schema of `data.object`.',
  };
  schemas['Event'] = { anyOf: [reference('KnownEvent'), reference('OtherEvent')] };
}

/** Returns the name of the schema of `data.object`. Adds the schema if this API version does not have it or has a different one. */
function addSubjectSchema(subject: EventSubject, schemas: Record<string, JsonObject>, version1: Record<string, JsonObject>): string {
  const { schema: name } = eventSubjectDefinitions[subject];
  const wanted = version1[name];
  if (!wanted)
    throw new Error(
      `contract/resources/events/events.ts: the event subject ${subject} names the schema ${name}, which no response contains`,
    );
  if (JSON.stringify(schemas[name]) === JSON.stringify(wanted)) return name;
  const version1Name = `${name}V1`;
  schemas[version1Name] = wanted;
  for (const nested of referencedSchemaNames(wanted)) {
    if (JSON.stringify((schemas[nested] ??= version1[nested] ?? {})) !== JSON.stringify(version1[nested]))
      throw new Error(`${name} contains ${nested}, which differs between versions`);
  }
  return version1Name;
}

const referencedSchemaNames = (schema: JsonObject): string[] =>
  Array.from(JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g), ([, name = '']) => name);
