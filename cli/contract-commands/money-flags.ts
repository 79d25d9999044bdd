import type { Client } from '@mandate/client-sdk';
import { CommandFailure, type FieldFailure } from '../errors/command-error.ts';
import type { CommandSpec } from './command-specification.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { isMoney, type Flag } from './flags.ts';
import { parseAmount } from '../output/parse-amount.ts';
import { valuesOf, type Typed } from './parse-flags.ts';
import { isObject } from './schema-violations.ts';

/** Reads the currency that the amounts of a request are in from what the request is about. */
type FindCurrency = (client: Client, path: readonly string[], body: Record<string, unknown>) => Promise<string | undefined>;

/** How the currency is found where the request itself does not name one. */
const currencyFinders: Readonly<Record<string, FindCurrency>> = {
  'products.list': async (client) => (await client.products.list({ limit: 1 })).data[0]?.currency,
  'products.update': async (client, [id = '']) => (await client.products.get(id)).currency,
  'products.replace': async (client, [id = '']) => (await client.products.get(id)).currency,
  'orders.create': async (client, _, { items }) => {
    const first: unknown = Array.isArray(items) ? items[0] : undefined;
    const id = isObject(first) ? first['product_id'] : undefined;
    return typeof id === 'number' ? (await client.products.get(id)).currency : undefined;
  },
  // A dry run needs no other scope than the refund itself.
  'refunds.create': async (client, [id = '']) => (await client.refunds.create(id, {}, { dryRun: true })).currency,
};

type Conversion = {
  readonly spec: CommandSpec;
  readonly typed: Typed;
  readonly path: readonly string[];
  /** The body that the flags are laid over. */
  readonly base: Record<string, unknown>;
  /** `undefined`: no request may be sent to find the currency. */
  readonly client: (() => Promise<Client>) | undefined;
};

/** `9.99`, `9.99 GBP` and `GBP 9.99`; a whole number without a currency is in minor units already. */
const written = /^(?:([A-Za-z]{3})\s*)?(\d+(?:\.\d+)?)(?:\s*([A-Za-z]{3}))?$/;
type Amount = { readonly number: string; readonly currency: string | undefined };

function amountOf(text: string): Amount | undefined {
  const [, before, number, after] = written.exec(text.trim()) ?? [];
  const currency = (before ?? after)?.toUpperCase();
  if (number === undefined || (before && after) || (currency === undefined && !number.includes('.'))) return undefined;
  return { number, currency };
}

/** The same flags, with amounts such as `9.99` turned into minor units of their currency. */
export async function withMinorUnits(conversion: Conversion): Promise<Typed> {
  const { typed } = conversion;
  const amounts = [...typed].flatMap(([flag, texts]) => {
    const amount = isMoney(flag) ? amountOf(texts.at(-1) ?? '') : undefined;
    return amount ? [{ flag, amount }] : [];
  });
  if (amounts.length === 0) return typed;
  const known = await currencyOf(conversion);
  const converted = new Map(typed);
  for (const { flag, amount } of amounts) {
    const currency = known ?? amount.currency;
    if (currency === undefined) throw invalid(flag, `has no currency: type it too, as in ${flag.name} "${amount.number} GBP"`);
    if (amount.currency !== undefined && amount.currency !== currency)
      throw invalid(flag, `must be in ${currency}, not in ${amount.currency}`);
    converted.set(flag, [minorUnits(flag, amount.number, currency)]);
  }
  return converted;
}

/** The currency that the request names, or else that of what it is about. */
async function currencyOf({ spec, typed, path, base, client }: Conversion): Promise<string | undefined> {
  const body = valuesOf(typed, 'body', base, new Date());
  const named = body['currency'];
  const find = currencyFinders[spec.operationId];
  return typeof named === 'string' ? named : find && client && find(await client(), path, body);
}

function minorUnits(flag: Flag, number: string, currency: string): string {
  const amount = parseAmount(number, currency);
  if (amount !== undefined) return String(amount);
  const example = parseAmount('0.1', currency) === undefined ? '10' : '9.99';
  throw invalid(flag, `must be an amount of ${currency}, such as ${example}, or a whole number ${inMinorUnits(currency)}`);
}

function invalid({ name, path }: Flag, message: string): CommandFailure {
  const fields: FieldFailure[] = [{ flag: name, path: path.join('.'), message }];
  return new CommandFailure(exitCodes.usage, 'usage', 'Nothing was sent: the command line is not valid', { fields });
}

const unitNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['EUR', 'USD', 'AUD', 'CAD', 'NZD', 'SGD', 'HKD', 'ZAR'].map((currency) => [currency, 'cents'])),
  ...Object.fromEntries(['DKK', 'NOK', 'SEK'].map((currency) => [currency, 'øre'])),
  GBP: 'pence',
  CHF: 'centimes',
  PLN: 'grosz',
  JPY: 'yen',
  KRW: 'won',
};

/** `in pence`: the unit that whole numbers of a flag are in. */
export const inMinorUnits = (currency: string | undefined): string =>
  `in ${currency === undefined ? 'the minor unit of the currency, such as pence or cents' : (unitNames[currency] ?? `minor units of ${currency}`)}`;
