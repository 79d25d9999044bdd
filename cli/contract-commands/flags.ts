import type { CommandSpec, Schema } from './command-specification.ts';

/** How what is typed becomes a value: by being there, as one, as one of several, as an object of several, as `key=value`, or as JSON. */
type FlagKind = 'switch' | 'value' | 'list' | 'objects' | 'pairs' | 'json';

/** A flag of a derived command, and the place of its value in the request. */
export type Flag = {
  readonly name: string;
  readonly place: 'query' | 'body';
  readonly path: readonly string[];
  readonly kind: FlagKind;
  readonly schema: Schema;
};

export const kebabCase = (name: string): string => name.replaceAll('_', '-');

/** The flags of a command: one for each leaf of its query and body, nested ones with dots: `--delivery.city`. */
export const flagsOf = (spec: CommandSpec): Flag[] => [
  ...flagsWithin('query', spec.query, []),
  ...(spec.body ? flagsWithin('body', spec.body, []) : []),
];

const flagsWithin = (place: Flag['place'], schema: Schema, path: readonly string[]): Flag[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const at = [...path, name];
    if (property.properties) return flagsWithin(place, property, at);
    const kind = kindOf(property);
    const words = at.map(kebabCase);
    // A flag repeated for each element is called after one of them: --item.
    if (kind === 'objects') words.push((words.pop() ?? '').replace(/s$/, ''));
    return [{ name: `--${words.join('.')}`, place, path: at, kind, schema: property }];
  });

function kindOf({ type, enum: choices, items, additionalProperties }: Schema): FlagKind {
  if (items) return items.properties ? 'objects' : 'list';
  if (additionalProperties) return 'pairs';
  if (choices?.join() === 'true,false') return 'switch';
  return type.includes('object') ? 'json' : 'value';
}

/** Whether a flag takes an amount of money, which the contract counts in minor units. */
export const isMoney = ({ kind, schema, path }: Flag): boolean =>
  kind === 'value' && schema.type.includes('integer') && /(?:^|_)(?:price|total|amount)(?:_gte|_lte)?$/.test(path.at(-1) ?? '');

/** What a flag is for, in a line of its help. */
export function flagDescription(flag: Flag): string {
  const hint = valueHint(flag);
  return [flag.schema.description?.replace(/\.$/, ''), hint && `(${hint})`].filter(Boolean).join(' ');
}

/** What a flag accepts. */
function valueHint(flag: Flag): string {
  const { kind, schema } = flag;
  if (kind === 'objects') {
    const names = Object.keys(schema.items?.properties ?? {});
    return `${names.map((name) => `${name}=...`).join(',')}; repeat it for each`;
  }
  if (kind === 'switch') return '';
  if (kind === 'pairs') return 'key=value; repeat it for each';
  const { enum: choices, minimum, maximum, format } = schema.items ?? schema;
  const range = [
    minimum === undefined ? '' : `>= ${minimum}`,
    maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? '' : `<= ${maximum}`,
  ];
  const parts = [
    choices ? choices.join(', ') : '',
    isMoney(flag) ? '999, or 9.99 with a decimal point' : '',
    ...range,
    format === 'date-time' ? 'date, time, or 7d, 24h ago' : '',
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
    kind === 'list' ? 'repeat it for several' : '',
  ];
  return parts.filter(Boolean).join('; ');
}
