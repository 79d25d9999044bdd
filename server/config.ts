import { join, resolve } from 'node:path';
import { z } from 'zod';
import { requestsMax, taxModes } from '@mandate/contract';
import { isPostgresql } from './database/orm.ts';
import { usualLoadLimits } from './http/load-guard.ts';
import { type RateLimits, usualRateLimits } from './rate-limits/rate-limits.ts';

export type Config = {
  readonly production: boolean;
  readonly http: { readonly host: string; readonly port: number };
  /** The address people and programs reach the server by, perhaps with a path; every address it gives out begins with it. */
  readonly issuer: string;
  readonly dataDirectory: string;
  /** `postgres://…`, or a directory for the embedded database. */
  readonly databaseUrl: string;
  /** What all keys are derived from; `undefined` where one may be made up and kept in the data directory. */
  readonly secret: string | undefined;
  /** Whether prices contain the tax, or it comes on top. */
  readonly taxMode: (typeof taxModes)[number];
  /** Who takes the money, besides people by hand. */
  readonly payments: {
    /** Whether orders can be paid with test tokens, that is, without money. */
    readonly test: boolean;
    readonly stripe: { readonly secretKey: string; readonly webhookSecret: string } | undefined;
  };
  /** Who becomes administrator when there is none yet. */
  readonly administrator: { readonly email: string; readonly password: string } | undefined;
  /** The server that takes messages, and who they are from. */
  readonly mail: { readonly smtpUrl: string; readonly from: string } | undefined;
  /** Whether versions of the API that may still change are served beside the others. */
  readonly previewVersions: boolean;
  /** Whose word about the address of a caller counts: a number of proxies, or their addresses; nobody's unless it is said. */
  readonly trustProxy: number | string | false;
  /** How many requests are worked on at once. */
  readonly concurrency: number;
  readonly rateLimits: RateLimits;
  /** Where several processes count requests together. */
  readonly redisUrl: string | undefined;
};

/** Everything that is wrong with the environment, at once, and without repeating what was in it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** A variable that is set to nothing counts as not set. */
const variable = <Schema extends z.ZodTypeAny>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema) as z.ZodEffects<Schema, z.output<Schema>, unknown>;

const choice = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { errorMap: () => ({ message: `must be ${values.join(' or ')}` }) });
const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .pipe(z.number().min(1).max(65_535));
const address = z
  .string()
  .refine(isAddress, 'must be an address such as https://shop.example or https://example.com/shop')
  .transform((url) => new URL(url).href.replace(/\/$/, ''));
const secret = z.string().regex(/^[A-Za-z0-9_-]{43,}$/, 'must be at least 32 random bytes in base64url; `openssl rand -hex 32` makes one');

const mailFrom = z
  .string()
  .regex(
    /^([^<>"\r\n]+ )?<?[^\s<>@,;"]+@[^\s<>@,;"]+>?$/,
    'must be one e-mail address, such as shop@example.com or Shop <shop@example.com>',
  );
/** `2`: the caller's address is what the second proxy from here saw. `10.0.0.0/8, 127.0.0.1`: proxies at these addresses are believed. */
const trustProxy = z
  .string()
  .regex(/^(\d{1,2}|[0-9a-fA-F.:/]+(, ?[0-9a-fA-F.:/]+)*)$/, 'must be a number of proxies, or their addresses separated by commas')
  .transform((text) => (text === '0' ? false : /^\d+$/.test(text) ? Number(text) : text));

const requests = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, 'must be a number of requests')
  .transform(Number)
  .pipe(z.number().max(requestsMax, `must be at most ${requestsMax}`));

const environment = z
  .object({
    NODE_ENV: variable(choice(['development', 'test', 'production']).default('development')),
    HOST: variable(z.string().default('127.0.0.1')),
    PORT: variable(port.default('3000')),
    MANDATE_ISSUER: variable(address.optional()),
    MANDATE_DATA_DIR: variable(z.string().default('./data')),
    DATABASE_URL: variable(z.string().refine(isPostgresql, 'must begin with postgres://').optional()),
    MANDATE_SECRET: variable(secret.optional()),
    MANDATE_TAX_MODE: variable(choice(taxModes).default('inclusive')),
    MANDATE_PREVIEW_VERSIONS: variable(choice(['on', 'off']).default('off')),
    MANDATE_TEST_PAYMENTS: variable(choice(['on', 'off']).optional()),
    STRIPE_SECRET_KEY: variable(
      z
        .string()
        .regex(/^[sr]k_\w+$/, 'must be a secret or restricted key of Stripe')
        .optional(),
    ),
    STRIPE_WEBHOOK_SECRET: variable(
      z
        .string()
        .regex(/^whsec_\S+$/, 'must be the signing secret of a webhook endpoint at Stripe')
        .optional(),
    ),
    MANDATE_ADMIN_EMAIL: variable(z.string().email('must be an e-mail address').max(254).optional()),
    MANDATE_ADMIN_PASSWORD: variable(z.string().min(12, 'must have at least 12 characters').max(200).optional()),
    MANDATE_SMTP_URL: variable(z.string().refine(isSmtp, 'must be an address such as smtp://user:password@mail.example:587').optional()),
    MANDATE_MAIL_FROM: variable(mailFrom.optional()),
    MANDATE_TRUST_PROXY: variable(trustProxy.default('0')),
    MANDATE_RATE_LIMIT: variable(requests.default(String(usualRateLimits.default))),
    MANDATE_RATE_LIMIT_API_KEY: variable(requests.default(String(usualRateLimits.apiKey))),
    MANDATE_RATE_LIMIT_IP: variable(requests.default(String(usualRateLimits.ip))),
    MANDATE_MONTHLY_QUOTA: variable(requests.default(String(usualRateLimits.monthly))),
    MANDATE_CONCURRENCY: variable(requests.default(String(usualLoadLimits.atOnce))),
    REDIS_URL: variable(z.string().refine(isRedis, 'must be an address such as redis://user:password@redis.example:6379/0').optional()),
  })
  .superRefine((env, context) => {
    const fault = (name: keyof typeof env, message: string): void => context.addIssue({ code: 'custom', path: [name], message });
    if ((env.MANDATE_ADMIN_EMAIL === undefined) !== (env.MANDATE_ADMIN_PASSWORD === undefined)) {
      fault(env.MANDATE_ADMIN_EMAIL ? 'MANDATE_ADMIN_PASSWORD' : 'MANDATE_ADMIN_EMAIL', 'must be set too: an administrator needs both');
    }
    if ((env.STRIPE_SECRET_KEY === undefined) !== (env.STRIPE_WEBHOOK_SECRET === undefined)) {
      fault(env.STRIPE_SECRET_KEY ? 'STRIPE_WEBHOOK_SECRET' : 'STRIPE_SECRET_KEY', 'must be set too: Stripe needs both');
    }
    if ((env.MANDATE_SMTP_URL === undefined) !== (env.MANDATE_MAIL_FROM === undefined)) {
      fault(env.MANDATE_SMTP_URL ? 'MANDATE_MAIL_FROM' : 'MANDATE_SMTP_URL', 'must be set too: sending e-mail needs both');
    }
    if (env.NODE_ENV !== 'production') return;
    if (env.MANDATE_SECRET === undefined) fault('MANDATE_SECRET', 'must be set in production; `openssl rand -hex 32` makes one');
    if (!env.MANDATE_ISSUER?.startsWith('https://')) fault('MANDATE_ISSUER', 'must be an https address in production');
  });

/** The only place that reads the environment. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const parsed = environment.safeParse(env);
  if (!parsed.success) throw new ConfigurationError(describe(parsed.error));
  const { data } = parsed;
  const dataDirectory = resolve(data.MANDATE_DATA_DIR);
  return {
    production: data.NODE_ENV === 'production',
    http: { host: data.HOST, port: data.PORT },
    issuer: data.MANDATE_ISSUER ?? `http://localhost:${data.PORT}`,
    dataDirectory,
    databaseUrl: data.DATABASE_URL ?? join(dataDirectory, 'database'),
    secret: data.MANDATE_SECRET,
    taxMode: data.MANDATE_TAX_MODE,
    payments: {
      test: (data.MANDATE_TEST_PAYMENTS ?? (data.NODE_ENV === 'production' ? 'off' : 'on')) === 'on',
      stripe:
        data.STRIPE_SECRET_KEY !== undefined && data.STRIPE_WEBHOOK_SECRET !== undefined
          ? { secretKey: data.STRIPE_SECRET_KEY, webhookSecret: data.STRIPE_WEBHOOK_SECRET }
          : undefined,
    },
    administrator:
      data.MANDATE_ADMIN_EMAIL !== undefined && data.MANDATE_ADMIN_PASSWORD !== undefined
        ? { email: data.MANDATE_ADMIN_EMAIL, password: data.MANDATE_ADMIN_PASSWORD }
        : undefined,
    mail:
      data.MANDATE_SMTP_URL !== undefined && data.MANDATE_MAIL_FROM !== undefined
        ? { smtpUrl: data.MANDATE_SMTP_URL, from: data.MANDATE_MAIL_FROM }
        : undefined,
    previewVersions: data.MANDATE_PREVIEW_VERSIONS === 'on',
    trustProxy: data.MANDATE_TRUST_PROXY,
    concurrency: data.MANDATE_CONCURRENCY,
    rateLimits: {
      default: data.MANDATE_RATE_LIMIT,
      apiKey: data.MANDATE_RATE_LIMIT_API_KEY,
      ip: data.MANDATE_RATE_LIMIT_IP,
      monthly: data.MANDATE_MONTHLY_QUOTA,
    },
    redisUrl: data.REDIS_URL,
  };
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

const describe = (error: z.ZodError): string =>
  ['The configuration is not complete:', ...error.issues.map(({ path, message }) => `  ${path.join('.')} ${message}`)].join('\n');
