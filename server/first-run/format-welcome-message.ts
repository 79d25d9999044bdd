import { relative } from 'node:path';
import type { FirstRunCredentials } from './first-run-credentials-file.ts';
import { formatLoginCommand } from './format-first-order-commands.ts';

/** Formats the message that `npm start` prints in development. */
export function formatWelcomeMessage(issuer: string, file: FirstRunCredentials | undefined, filePath: string): string {
  const account = file && [
    ['Sign in as', `${file.customer.email}  password ${file.customer.password}`],
    ['More', `${toDisplayPath(filePath)}  (administrator, applications and their secrets)`],
  ];
  const rows = [
    ['Start page', `${issuer}/`],
    ['Console', `${issuer}/console`],
    ['API', `${issuer}/api/v1`],
    ['API reference', `${issuer}/docs`],
    ['OpenAPI', `${issuer}/openapi.json`],
    ['Sign-up page', `${issuer}/sign-up`],
    ...(account ?? []),
  ];
  return [
    '',
    'Mandate is running.',
    '',
    ...rows.map(([name, value]) => `  ${name?.padEnd(13)} ${value}`),
    '',
    `Next, in another terminal:  ${formatLoginCommand(issuer)}`,
    '',
    '',
  ].join('\n');
}

function toDisplayPath(path: string): string {
  const relativePath = relative('', path);
  return relativePath.startsWith('..') ? path : relativePath;
}
