import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { RowError } from '../imports/parse-import-cells-and-validate-row.ts';
import type { ImportOutcome } from '../imports/run-import.ts';
import { ImportedCustomerReference } from '../order-imports/imported-order-and-customer-reference.entity.ts';
import { buildEmailEqualsFilter } from '../users/build-email-equals-filter.ts';
import { ImportedUser } from '../users/imported-user.entity.ts';
import { User } from '../users/user.entity.ts';
import { computeUserFingerprint, type ImportedUserRow, parseUserRow } from './parse-user-row.ts';
import type { PreparedUserFileRow } from './read-user-rows-and-mark-duplicates.ts';
import type { UserImportParams } from './user-import-parameters.ts';

/** A row of a batch. It contains either the user to create or, if the row creates no user, the outcome. */
export type ClassifiedRow = { readonly item: PreparedUserFileRow } & (
  | { readonly row: ImportedUserRow; readonly outcome?: never }
  | { readonly row?: never; readonly outcome: ImportOutcome }
);

type Known = {
  readonly byExternalId: ReadonlyMap<string, ImportedState>;
  readonly byEmail: ReadonlyMap<string, ImportedState>;
  /** IDs of the users that order imports from the same source created or found, by customer key. */
  readonly byCustomerKey: ReadonlyMap<string, number>;
};
/** An existing user. The source, external ID and fingerprint are `null` if no user import created the user. */
type ImportedState = {
  readonly userId: number;
  readonly isClosed: boolean;
  readonly source: string | null;
  readonly externalId: string | null;
  readonly fingerprint: string | null;
};
const notImported = { source: null, externalId: null, fingerprint: null };

/** Parses the rows of a batch, and finds the rows that are invalid, have already been imported or belong to existing users. */
export async function parseUserRowsAndCompareWithExisting(
  em: EntityManager,
  params: UserImportParams,
  items: readonly PreparedUserFileRow[],
): Promise<ClassifiedRow[]> {
  const parsed = items.map((item) => ({ item, result: parseRecord(params, item) }));
  const rows = parsed.flatMap(({ result }) => ('data' in result ? [result.data] : []));
  const known = await findKnownUsers(em, params, rows);
  return parsed.map(({ item, result }): ClassifiedRow => {
    const outcome = 'errors' in result ? refuse(item, ...result.errors) : compareWithKnownUsers(params, item, result.data, known);
    return outcome ? { item, outcome } : 'data' in result ? { item, row: result.data } : { item, outcome: refuse(item) };
  });
}

function parseRecord(params: UserImportParams, { record }: PreparedUserFileRow) {
  if (record.error !== undefined) return { errors: [{ code: 'unreadable', detail: record.error }] };
  return parseUserRow(params, record.cells);
}

const refuse = ({ record: { line } }: PreparedUserFileRow, ...errors: RowError[]): ImportOutcome => ({
  outcome: 'refused',
  issues: errors.map((error) => ({ line, ...error })),
});

async function findKnownUsers(em: EntityManager, { source }: UserImportParams, rows: readonly ImportedUserRow[]): Promise<Known> {
  if (rows.length === 0) return { byExternalId: new Map(), byEmail: new Map(), byCustomerKey: new Map() };
  const externalIds = rows.flatMap(({ external_id: id }) => id ?? []);
  const options = { disableIdentityMap: true } as const;
  const sameEmail = await em.find(User, withEmails(rows), options);
  const imported = await em.find(
    ImportedUser,
    { $or: [{ source, externalId: { $in: externalIds } }, { user: { $in: sameEmail.map(({ id }) => id) } }] },
    options,
  );
  const closed = await em.find(User, { id: { $in: imported.map(({ user }) => user) }, status: 'closed' }, options);
  const customers = await em.find(ImportedCustomerReference, { source, key: { $in: externalIds } }, options);
  const closedIds = new Set(closed.map(({ id }) => id));
  const states = imported.map(({ user, source: from, externalId = null, fingerprint = null }): ImportedState => {
    return { userId: user, isClosed: closedIds.has(user), source: from, externalId, fingerprint };
  });
  const stateByUser = new Map(states.map((state) => [state.userId, state]));
  return {
    byExternalId: new Map(
      states.flatMap((state) => (state.source === source && state.externalId !== null ? [[state.externalId, state]] : [])),
    ),
    byEmail: new Map(
      sameEmail.map(({ id, email }) => [email.toLowerCase(), stateByUser.get(id) ?? { userId: id, isClosed: false, ...notImported }]),
    ),
    byCustomerKey: new Map(customers.map(({ key, user }) => [key, user])),
  };
}

const withEmails = (rows: readonly ImportedUserRow[]) => ({
  ...buildEmailEqualsFilter(...rows.map(({ email }) => email)),
  status: { $ne: 'closed' as const },
});

function compareWithKnownUsers(
  params: UserImportParams,
  item: PreparedUserFileRow,
  row: ImportedUserRow,
  known: Known,
): ImportOutcome | undefined {
  if (item.duplicate) {
    const { field, line } = item.duplicate;
    const what = field === 'email' ? 'e-mail address' : 'external ID';
    return refuse(item, { field, code: 'duplicate', detail: `The file has the same ${what} on line ${line}.` });
  }
  const { external_id: externalId, email } = row;
  const byExternalId = externalId === undefined ? undefined : known.byExternalId.get(externalId);
  const byEmail = known.byEmail.get(email.toLowerCase());
  const earlier =
    byExternalId ?? (externalId === undefined && byEmail?.source === params.source && byEmail.externalId === null ? byEmail : undefined);
  if (earlier) return compareWithEarlierImport(item, row, earlier);
  const customer = externalId === undefined ? undefined : known.byCustomerKey.get(externalId);
  if (customer !== undefined && customer !== byEmail?.userId) {
    const detail = `An order import has already created user ${customer} for this external ID.`;
    return refuse(item, { field: 'external_id', code: 'not_unique', detail });
  }
  if (!byEmail) return undefined;
  return refuse(item, { field: 'email', code: 'not_unique', detail: `The e-mail address belongs to user ${byEmail.userId}.` });
}

function compareWithEarlierImport(item: PreparedUserFileRow, row: ImportedUserRow, earlier: ImportedState): ImportOutcome {
  if (earlier.isClosed) {
    const detail = `The account of user ${earlier.userId} was closed, and is not created again.`;
    return refuse(item, { field: 'external_id', code: 'account_closed', detail });
  }
  if (earlier.fingerprint === computeUserFingerprint(row)) return { outcome: 'unchanged', issues: [] };
  const detail = `User ${earlier.userId} was imported before with different data. An import does not change existing users.`;
  return { outcome: 'differing', issues: [{ line: item.record.line, code: 'already_imported', detail }] };
}
