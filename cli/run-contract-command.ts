import { randomUUID } from 'node:crypto';
import type { SendOptions } from '@mandate/client-sdk';
import { columns } from './columns.ts';
import type { CommandSpec } from './command-spec.ts';
import { confirmed } from './confirm.ts';
import { explained, requestOf, type Words } from './contract-request.ts';
import { questions } from './questions.ts';
import { isObject } from './schema-violations.ts';
import { openSession, requireSignIn } from './session.ts';
import type { Settings } from './settings.ts';
import { showPages } from './show-pages.ts';
import { checkFields, showResult } from './show-result.ts';

/** Flags of a derived command that are not the contract's. */
export type OwnFlags = {
  readonly input?: string;
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
  readonly all?: boolean;
  readonly printRequest?: boolean;
  readonly yes?: boolean;
};

type Invocation = Omit<Words, 'input'> & { readonly settings: Settings; readonly own: OwnFlags };

const replayedWithoutSecret = ({ field, recovery }: NonNullable<CommandSpec['secret']>): string =>
  `Nothing new was created: this is the response of an earlier request with the same idempotency key. Its ${field} is returned only once. ${recovery}\n`;

export async function runContractCommand(invocation: Invocation): Promise<void> {
  const { io, settings, spec, own } = invocation;
  const request = await requestOf({ ...invocation, input: own.input });
  checkFields(settings, spec.fields);
  const idempotencyKey = spec.idempotent ? (own.idempotencyKey ?? randomUUID()) : undefined;
  if (own.printRequest) {
    const headers = {
      ...(request.body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(own.ifMatch !== undefined && { 'if-match': own.ifMatch }),
    };
    return io.stdout.write(`${JSON.stringify({ ...request, headers }, null, io.stdout.isTTY ? 2 : undefined)}\n`);
  }
  const session = await openSession(io, settings);
  if (spec.scopes.length > 0) requireSignIn(session);
  const { client } = session;
  const question = questions[spec.operationId];
  const isDryRun = request.query['dry_run'] === 'true';
  if (question && !isDryRun) await confirmed(io, settings, () => question(client, invocation.path), own.yes ?? false);
  const named = { ...request, operation: spec.operationId };
  const options: SendOptions = { signal: io.interrupted, idempotencyKey, ifMatch: own.ifMatch };
  try {
    if (spec.paginated)
      return await showPages({
        io,
        settings,
        columns: columns[spec.operationId],
        all: own.all ?? false,
        pageAt: (cursor) => client.request({ ...named, query: { ...named.query, ...(cursor !== undefined && { cursor }) } }, options),
      });
    const { data, replayed } = await client.request(named, options).withResponse();
    showResult(io, settings, data, columns[spec.operationId]);
    if (spec.secret && replayed && isObject(data) && data[spec.secret.field] === null) io.stderr.write(replayedWithoutSecret(spec.secret));
    if (isDryRun) io.stderr.write('Dry run: nothing was written. Run the command without --dry-run to carry it out.\n');
  } catch (error) {
    throw explained(error, spec, idempotencyKey);
  }
}
