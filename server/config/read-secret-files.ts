import { readFileSync } from 'node:fs';

/** An invalid environment variable. */
export type InvalidVariable = { readonly name: string; readonly message: string };

/**
 * Variables whose values can be read from files, because container platforms provide secrets as files. The variable `NAME_FILE` contains
 * the path of the file.
 */
const fileVariables = [
  'MANDATE_SECRET',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_REPLICA_URL',
  'REDIS_URL',
  'MANDATE_SMTP_URL',
  'MANDATE_ADMIN_PASSWORD',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
] as const;

/** Reads the values from the files, without the trailing line break. */
export function readVariablesFromSecretFiles(env: Readonly<Record<string, string | undefined>>): {
  values: Record<string, string>;
  faults: InvalidVariable[];
} {
  const [values, faults]: [Record<string, string>, InvalidVariable[]] = [{}, []];
  for (const name of fileVariables) {
    const path = env[`${name}_FILE`];
    if (path === undefined || path === '') continue;
    const fault = (message: string): unknown => faults.push({ name: `${name}_FILE`, message });
    if (env[name] !== undefined && env[name] !== '') {
      fault(`cannot be set together with ${name}`);
      continue;
    }
    try {
      const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (value === '') fault('refers to an empty file');
      else values[name] = value;
    } catch (error) {
      fault(`refers to a file that cannot be read (${errorCode(error)})`);
    }
  }
  return { values, faults };
}

const errorCode = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : String(error));
