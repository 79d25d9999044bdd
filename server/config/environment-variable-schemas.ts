import { isIP } from 'node:net';
import { z } from 'zod';
import { maxRefreshGraceSeconds, maxConfigurableRequestLimit } from '@mandate/contract';
import { isPostgresqlUrl } from '../database/connection/is-postgresql-url.ts';

/** Treats an empty variable as unset. */
export const wrapSchemaToTreatEmptyAsUnset = <Schema extends z.ZodTypeAny>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema) as z.ZodEffects<Schema, z.output<Schema>, unknown>;

export const createChoiceSchema = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { errorMap: () => ({ message: `must be ${values.join(' or ')}` }) });
const portRule = 'must be a port number, from 1 to 65535';
export const portSchema = z
  .string()
  .regex(/^\d{1,5}$/, portRule)
  .transform(Number)
  .pipe(z.number().min(1, portRule).max(65_535, portRule));
export const publicServerUrlSchema = z
  .string()
  .refine(isAddress, 'must be a URL such as https://shop.example or https://example.com/shop')
  .transform((url) => new URL(url).href.replace(/\/$/, ''));
export const serverSecretSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43,}$/, 'must be at least 32 random bytes in base64url; `openssl rand -hex 32` generates such a value');

export const mailFromSchema = z
  .string()
  .regex(
    /^(?:[^\s<>@,;"]+@[^\s<>@,;"]+|(?:[^<>"\r\n]+ )?<[^\s<>@,;"]+@[^\s<>@,;"]+>)$/,
    'must be one e-mail address, such as shop@example.com or Shop <shop@example.com>',
  );
/** An e-mail address, or one of the URIs that RFC 9116 section 2.5.3 allows as a contact. */
export const securityContactSchema = z
  .string()
  .regex(
    /^(https:\/\/\S+|tel:\+[\d-]+|(mailto:)?[^\s<>@,;":]+@[^\s<>@,;":]+)$/,
    'must be an e-mail address, or an https:, mailto: or tel: URI',
  )
  .transform((text) => (/^(https|tel|mailto):/.test(text) ? text : `mailto:${text}`));

/** Returns whether the text is an IP address, or a network such as `10.0.0.0/8` or `10.0.0.0/255.0.0.0`. */
function isAddressOrNetwork(text: string): boolean {
  const [address = '', prefix, ...others] = text.split('/');
  const version = isIP(address);
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
  return version !== 0 && others.length === 0 && (isPrefix || (version === 4 && isIP(prefix) === 4));
}

/**
 * With the value `2`, the server trusts the two proxies in front of it. With `10.0.0.0/8, 127.0.0.1`, it trusts proxies at these addresses.
 */
export const trustedProxiesSchema = z
  .string()
  .refine(
    (text) => /^\d{1,2}$/.test(text) || text.split(/, ?/).every(isAddressOrNetwork),
    'must be a number of proxies (at most 99), or their addresses separated by commas',
  )
  .transform((text) => (text === '0' ? false : /^\d+$/.test(text) ? Number(text) : text));

export const headerNameSchema = z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be the name of a header, such as Client-Cert');

export const postgresqlUrlSchema = z.string().refine(isPostgresqlUrl, 'must begin with postgres://');

export const fractionSchema = z
  .string()
  .regex(/^(0(\.\d{1,6})?|1)$/, 'must be a fraction from 0 to 1, such as 0.05')
  .transform(Number);

const processCountRule = 'must be auto, or a number from 1 to 256';
export const processCountSchema = z
  .string()
  .regex(/^(auto|[1-9]\d{0,2})$/, processCountRule)
  .transform((text) => (text === 'auto' ? text : Number(text)))
  .refine((count) => count === 'auto' || count <= 256, processCountRule);

export const secondsSchema = z
  .string()
  .regex(/^\d{1,3}$/, 'must be a number of seconds, at most 999')
  .transform(Number);

/** Number of backups to keep; 0 keeps all backups. */
export const keptBackupsSchema = z
  .string()
  .regex(/^\d{1,3}$/, 'must be a number of backups, at most 999')
  .transform(Number);

export const refreshGraceSecondsSchema = z
  .string()
  .regex(/^\d{1,3}$/, `must be a number of seconds, at most ${maxRefreshGraceSeconds}`)
  .transform(Number)
  .pipe(z.number().max(maxRefreshGraceSeconds, `must be at most ${maxRefreshGraceSeconds} seconds`));

export const requestLimitSchema = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, 'must be a number of requests')
  .transform(Number)
  .pipe(z.number().max(maxConfigurableRequestLimit, `must be at most ${maxConfigurableRequestLimit}`));

export const stripeSecretKeySchema = z.string().regex(/^[sr]k_\w+$/, 'must be a secret or restricted key of Stripe');

export const stripeWebhookSecretSchema = z.string().regex(/^whsec_\S+$/, 'must be the signing secret of a webhook endpoint at Stripe');

export const smtpUrlSchema = z.string().refine(isSmtp, 'must be a URL such as smtp://user:password@mail.example:587');

export const traceCollectorUrlSchema = z.string().refine(isCollector, 'must be a URL such as http://collector.example:4318');

export const redisUrlSchema = z.string().refine(isRedis, 'must be a URL such as redis://user:password@redis.example:6379/0');

function isCollector(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).search === '';
}

function isSmtp(text: string): boolean {
  return URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol) && new URL(text).hostname !== '';
}

function isRedis(text: string): boolean {
  return URL.canParse(text) && /^rediss?:$/.test(new URL(text).protocol) && new URL(text).hostname !== '';
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username } = new URL(text);
  return /^https?:$/.test(protocol) && /^(\/|(\/[\w.~-]+)+\/?)$/.test(pathname) && `${search}${hash}${username}` === '';
}
