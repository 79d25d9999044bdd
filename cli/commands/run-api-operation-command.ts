import { randomUUID } from 'node:crypto';
import type { SendOptions } from '@mandate/client-sdk';
import { promptForMissingRequiredFlags } from '../contract-commands/prompt-for-missing-required-flags.ts';
import { tableColumnsByOperation, getColumnHeadings, staffTableColumnsByOperation } from '../output/table-columns.ts';
import type { CommandSpec } from '../schema/command-spec-type.ts';
import { requireConfirmation } from '../contract-commands/require-confirmation.ts';
import {
  commandErrorFromCallError,
  validateInputAndBuildRequest,
  type ContractRequest,
  type CommandInput,
} from '../contract-commands/build-request-and-convert-api-errors.ts';
import { readScopesFromJwt } from '../sign-in/parse-pasted-token.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { convertMoneyFlagsToMinorUnits } from '../contract-commands/convert-money-flags.ts';
import { printSuggestedNextCommand } from '../output/suggested-next-commands.ts';
import { findConfirmationQuestionBuilder } from '../contract-commands/confirmation-questions.ts';
import { readJsonObjectFromFileOrStdin } from '../contract-commands/read-file-or-stdin.ts';
import { isRecord } from '../schema/find-schema-violations.ts';
import { openProfileSession, assertSignedIn, type ProfileSession } from '../sign-in/profile-session.ts';
import type { Settings } from '../settings/resolve-settings.ts';
import { fetchAndPrintPageOrAllPages } from '../output/fetch-and-print-page-or-all-pages.ts';
import { assertRequestedFieldsKnown, printResult } from '../output/print-result.ts';
import { openUrlInBrowserOrPrint, resolveWebPageUrl } from '../output/find-and-open-web-page-url.ts';

/** Flags of generated commands that are not parameters of the API operation. */
export type NonParameterFlags = {
  readonly input?: string;
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
  readonly all?: boolean;
  readonly printRequest?: boolean;
  readonly yes?: boolean;
  readonly web?: boolean;
};

type Invocation = Omit<CommandInput, 'base'> & {
  readonly io: CliEnvironment;
  readonly settings: Settings;
  readonly own: NonParameterFlags;
};
type Prepared = { readonly request: ContractRequest; readonly idempotencyKey: string | undefined };

const missingSecretNotice = ({ field, recovery }: NonNullable<CommandSpec['secret']>): string =>
  `Nothing new was created: this is the response to an earlier request with the same idempotency key. The field ${field} is returned only once. ${recovery}\n`;

export async function runApiOperationCommand(invocation: Invocation): Promise<void> {
  const { io, settings, spec, own } = invocation;
  let openedSession: Promise<ProfileSession> | undefined;
  const session = (): Promise<ProfileSession> => (openedSession ??= openProfileSession(io, settings));
  const request = await completeRequest(invocation, session);
  assertRequestedFieldsKnown(settings, spec.fields);
  const idempotencyKey = spec.idempotent ? (own.idempotencyKey ?? randomUUID()) : undefined;
  if (own.printRequest) return printRequest(invocation, { request, idempotencyKey });
  if (spec.scopes.length > 0) assertSignedIn(await session());
  try {
    await execute(invocation, { request, idempotencyKey }, await session());
  } catch (error) {
    throw commandErrorFromCallError(error, spec, idempotencyKey);
  }
}

/** Prompts for missing flags, converts amounts to minor units and builds the request. */
async function completeRequest(
  { io, settings, spec, path, typed, own }: Invocation,
  session: () => Promise<ProfileSession>,
): Promise<ContractRequest> {
  const base = own.input === undefined ? {} : await readJsonObjectFromFileOrStdin(io, own.input);
  const completed = settings.canPromptForFlags && own.input !== '-' ? await promptForMissingRequiredFlags(io, spec, typed, base) : typed;
  const client = own.printRequest ? undefined : async () => (await session()).client;
  return validateInputAndBuildRequest({
    spec,
    path,
    base,
    typed: await convertMoneyFlagsToMinorUnits({ spec, typed: completed, path, base, client }),
  });
}

function printRequest({ io, own }: Invocation, { request, idempotencyKey }: Prepared): void {
  const headers = {
    ...(request.body !== undefined && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(own.ifMatch !== undefined && { 'if-match': own.ifMatch }),
  };
  io.stdout.write(`${JSON.stringify({ ...request, headers }, null, io.stdout.isTTY ? 2 : undefined)}\n`);
}

async function execute(
  { io, settings, spec, path, own }: Invocation,
  { request, idempotencyKey }: Prepared,
  session: ProfileSession,
): Promise<void> {
  const { client } = session;
  const operationRequest = { ...request, operation: spec.operationId };
  const options: SendOptions = { signal: io.interrupted, idempotencyKey, ifMatch: own.ifMatch };
  if (own.web) {
    const service = settings.config['issuer'] ?? session.apiUrl;
    return openUrlInBrowserOrPrint(io, settings, await resolveWebPageUrl(spec, service, () => client.request(operationRequest, options)));
  }
  const isDryRun = request.query['dry_run'] === 'true';
  const question = findConfirmationQuestionBuilder(spec);
  if (question && !isDryRun) {
    const ask = async (): Promise<string> => question(client, path, request.body);
    const failBeforeSending = (error: unknown): never => {
      throw commandErrorFromCallError(error, spec, undefined);
    };
    await requireConfirmation(io, settings, () => ask().catch(failBeforeSending), own.yes ?? false);
  }
  const headings = getColumnHeadings(spec.operationId);
  const visibleColumns =
    (canReadAllOrders(settings, session) ? staffTableColumnsByOperation[spec.operationId] : undefined) ??
    tableColumnsByOperation[spec.operationId];
  if (spec.paginated) {
    const pageAt = (cursor: string | undefined): PromiseLike<unknown> =>
      client.request({ ...operationRequest, query: { ...operationRequest.query, ...(cursor !== undefined && { cursor }) } }, options);
    return fetchAndPrintPageOrAllPages({ io, settings, columns: visibleColumns, headings, all: own.all ?? false, pageAt });
  }
  const { data: result, replayed } = await client.request(operationRequest, options).withResponse();
  printResult(io, settings, result, visibleColumns, headings);
  if (spec.secret && replayed && isRecord(result) && result[spec.secret.field] === null) io.stderr.write(missingSecretNotice(spec.secret));
  if (isDryRun) io.stderr.write('Dry run: nothing was changed. Run the command without --dry-run to apply the change.\n');
  else printSuggestedNextCommand(io, settings, spec.operationId, result);
}

/** Returns whether the caller can list the orders of all customers. */
const canReadAllOrders = ({ token }: Settings, { credential }: ProfileSession): boolean =>
  (credential?.scopes ?? readScopesFromJwt(token ?? '')).includes('orders.manage');
