import type { Client } from '@mandate/client-sdk';
import { CommandError, type FieldError } from '../errors/command-error.ts';
import type { CommandSpec } from '../schema/command-spec-type.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { isMoneyFlag, type ContractFlag } from './flags-from-command-spec.ts';
import { parseDecimalToMinorUnits } from './parse-decimal-to-minor-units.ts';
import { parseFlagValues, type RawFlagValues } from './parse-flag-values.ts';
import { isRecord } from '../schema/find-schema-violations.ts';

/** Fetches the currency for the amounts in a request; the currency is a field of the resource that the request refers to. */
type FindCurrency = (client: Client, path: readonly string[], body: Record<string, unknown>) => Promise<string | undefined>;

/** Functions that find the currency if the request does not contain it, by operation ID. */
const currencyFinders: Readonly<Record<string, FindCurrency>> = {
  'products.list': async (client) => (await client.products.list({ limit: 1 })).data[0]?.currency,
  'products.update': async (client, [id = '']) => (await client.products.get(id)).currency,
  'products.replace': async (client, [id = '']) => (await client.products.get(id)).currency,
  'orders.create': (client, _, body) => fetchCurrencyOfFirstItem(client, body),
  'quotes.create': (client, _, body) => fetchCurrencyOfFirstItem(client, body),
  // A dry run requires only the scope that the refund itself requires.
  'refunds.create': async (client, [id = '']) => (await client.refunds.create(id, {}, { dryRun: true })).currency,
};

async function fetchCurrencyOfFirstItem(client: Client, { items }: Record<string, unknown>): Promise<string | undefined> {
  const first: unknown = Array.isArray(items) ? items[0] : undefined;
  const id = isRecord(first) ? first['product_id'] : undefined;
  return typeof id === 'number' ? (await client.products.get(id)).currency : undefined;
}

type Conversion = {
  readonly spec: CommandSpec;
  readonly typed: RawFlagValues;
  readonly path: readonly string[];
  /** Body from `--input`; flags override its fields. */
  readonly base: Record<string, unknown>;
  /** Undefined if no request may be sent to look up the currency. */
  readonly client: (() => Promise<Client>) | undefined;
};

/** Matches `9.99`, `9.99 GBP` and `GBP 9.99`. A whole number without a currency is already in minor units. */
const amountPattern = /^(?:([A-Za-z]{3})\s*)?(\d+(?:\.\d+)?)(?:\s*([A-Za-z]{3}))?$/;
type Amount = { readonly number: string; readonly currency: string | undefined };

function parseMoney(text: string): Amount | undefined {
  const [, before, number, after] = amountPattern.exec(text.trim()) ?? [];
  const currency = (before ?? after)?.toUpperCase();
  if (number === undefined || (before && after) || (currency === undefined && !number.includes('.'))) return undefined;
  return { number, currency };
}

/** Returns the flags with amounts such as `9.99` converted to minor units of their currency. */
export async function convertMoneyFlagsToMinorUnits(conversion: Conversion): Promise<RawFlagValues> {
  const { typed } = conversion;
  const amounts = [...typed].flatMap(([flag, texts]) => {
    const amount = isMoneyFlag(flag) ? parseMoney(texts.at(-1) ?? '') : undefined;
    return amount ? [{ flag, amount }] : [];
  });
  if (amounts.length === 0) return typed;
  const requestCurrency = await findCurrency(conversion);
  const converted = new Map(typed);
  for (const { flag, amount } of amounts) {
    const currency = requestCurrency ?? amount.currency;
    if (currency === undefined) throw invalidFlagError(flag, `requires a currency, as in ${flag.name} "${amount.number} GBP"`);
    if (amount.currency !== undefined && amount.currency !== currency)
      throw invalidFlagError(flag, `must be in ${currency}, not in ${amount.currency}`);
    converted.set(flag, [toMinorUnits(flag, amount.number, currency)]);
  }
  return converted;
}

/**
 * Returns the currency in the request body. If the body contains no currency, returns the currency of the resource that the request refers
 * to.
 */
async function findCurrency({ spec, typed, path, base, client }: Conversion): Promise<string | undefined> {
  const body = parseFlagValues(typed, 'body', base, new Date());
  const bodyCurrency = body['currency'];
  const find = currencyFinders[spec.operationId];
  return typeof bodyCurrency === 'string' ? bodyCurrency : find && client && find(await client(), path, body);
}

function toMinorUnits(flag: ContractFlag, number: string, currency: string): string {
  const amount = parseDecimalToMinorUnits(number, currency);
  if (amount !== undefined) return String(amount);
  const example = parseDecimalToMinorUnits('0.1', currency) === undefined ? '10' : '9.99';
  throw invalidFlagError(flag, `must be an amount in ${currency}, such as ${example}, or a whole number ${describeMinorUnit(currency)}`);
}

function invalidFlagError({ name, path }: ContractFlag, message: string): CommandError {
  const fields: FieldError[] = [{ flag: name, path: path.join('.'), message }];
  return new CommandError(exitCodes.usage, 'usage', 'Invalid command line; nothing was sent', { fields });
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

/** Describes the unit of the whole numbers that a flag accepts, such as `in pence`. */
export const describeMinorUnit = (currency: string | undefined): string =>
  `in ${currency === undefined ? 'the minor unit of the currency, such as pence or cents' : (unitNames[currency] ?? `minor units of ${currency}`)}`;
