import type { CommandSpec, JsonSchemaSubset } from '../schema/command-spec-type.ts';

/**
 * How a flag is parsed. `switch`: no value. `value`: one scalar. `list`: several scalars. `objects`: several objects. `pairs`: entries in
 * the form `key=value`. `json`: any JSON value.
 */
type FlagKind = 'switch' | 'value' | 'list' | 'objects' | 'pairs' | 'json';

/** A flag of a generated command, and where its value goes in the request. */
export type ContractFlag = {
  readonly name: string;
  readonly location: 'query' | 'body';
  readonly path: readonly string[];
  readonly kind: FlagKind;
  readonly schema: JsonSchemaSubset;
};

export const snakeToKebabCase = (name: string): string => name.replaceAll('_', '-');

/**
 * Returns a command's flags: one for each leaf field of its query and body. Flags for nested fields contain dots, as in `--delivery.city`.
 */
export const flagsFromCommandSpec = (spec: CommandSpec): ContractFlag[] => [
  ...flagsWithin('query', spec.query, []),
  ...(spec.body ? flagsWithin('body', spec.body, []) : []),
];

const flagsWithin = (location: ContractFlag['location'], schema: JsonSchemaSubset, path: readonly string[]): ContractFlag[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const fieldPath = [...path, name];
    if (property.properties) return flagsWithin(location, property, fieldPath);
    const kind = kindOf(property);
    const words = fieldPath.map(snakeToKebabCase);
    // A flag that is repeated for each object has a singular name, such as --item.
    if (kind === 'objects') words.push((words.pop() ?? '').replace(/s$/, ''));
    return [{ name: `--${words.join('.')}`, location, path: fieldPath, kind, schema: property }];
  });

function kindOf({ type, enum: choices, items, additionalProperties }: JsonSchemaSubset): FlagKind {
  if (items) return items.type.includes('object') ? 'objects' : 'list';
  if (additionalProperties) return 'pairs';
  if (choices?.join() === 'true,false') return 'switch';
  return type.includes('object') ? 'json' : 'value';
}

/** Returns whether a flag takes an amount of money, which the API represents in minor units. */
export const isMoneyFlag = ({ kind, schema, path }: ContractFlag): boolean =>
  kind === 'value' && schema.type.includes('integer') && /(?:^|_)(?:price|total|amount)(?:_gte|_lte)?$/.test(path.at(-1) ?? '');

/** Returns a flag's help text. */
export function formatFlagHelp(flag: ContractFlag): string {
  const hint = valueHint(flag);
  return [flag.schema.description?.replace(/\.$/, ''), hint && `(${hint})`].filter(Boolean).join(' ');
}

/** Returns the values that a flag accepts, for its help text. */
function valueHint(flag: ContractFlag): string {
  const { kind, schema } = flag;
  if (kind === 'objects') {
    const names = Object.keys(schema.items?.properties ?? {});
    return `${names.length === 0 ? 'JSON object' : names.map((name) => `${name}=...`).join(',')}; repeatable`;
  }
  if (kind === 'switch') return '';
  if (kind === 'pairs') return 'key=value; repeatable';
  const { enum: choices, minimum, maximum, format } = schema.items ?? schema;
  const range = [
    minimum === undefined ? '' : `>= ${minimum}`,
    maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? '' : `<= ${maximum}`,
  ];
  const parts = [
    choices ? choices.join(', ') : '',
    isMoneyFlag(flag) ? 'minor units such as 999, or a decimal amount such as 9.99' : '',
    ...range,
    format === 'date-time' ? 'date, timestamp, or age such as 7d or 24h' : '',
    schema.default === undefined ? '' : `default: ${JSON.stringify(schema.default)}`,
    kind === 'list' ? 'repeatable or comma-separated' : '',
  ];
  return parts.filter(Boolean).join('; ');
}
