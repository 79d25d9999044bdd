import { randomBytes } from 'node:crypto';
import { sha256 } from '../../crypto/sha256.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareExpiredRowDeletion } from '../../database/queries/expired-rows.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';

export type EmailLinkPurpose = 'sign_up' | 'password_reset' | 'email_change';
export type EmailLinkContent = { readonly purpose: EmailLinkPurpose; readonly email: string; readonly userId: number | null };

const linkLifetimeMs = 60 * 60 * 1000;

const hashToken = (token: string): string => sha256(token, 'base64url');

const insertLink = prepareStatement(
  'insert_email_link',
  'insert into mailed_links (token_hash, purpose, user_id, email, expires_at) values ($1, $2, $3, $4, $5)',
);

/** SQL condition: a link resets a password only if it was sent to the account's current address and no confirmation is pending. */
const isUsableSql = `(purpose <> 'password_reset' or exists (select 1 from users u
  where u.id = mailed_links.user_id and u.email = mailed_links.email and u.email_verification <> 'confirmation_required'))`;

type Row = { email: string; user_id: number | null };
const readLink = prepareStatement<Row>(
  'read_email_link',
  `select email, user_id from mailed_links where token_hash = $1 and purpose = $2 and expires_at > $3 and ${isUsableSql}`,
);
const deleteLink = prepareStatement<Row>(
  'consume_email_link',
  `delete from mailed_links where token_hash = $1 and purpose = $2 and expires_at > $3 and ${isUsableSql} returning email, user_id`,
);

const lockOwner = prepareStatement(
  'lock_owner_of_email_link',
  'select id from users where id = (select user_id from mailed_links where token_hash = $1) for update',
);

/** Creates a link and returns its token. Only the token's hash is stored. */
export async function createEmailLinkToken(em: EntityManager, { purpose, email, userId }: EmailLinkContent, now: Date): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await insertLink(em, [hashToken(token), purpose, userId, email, new Date(now.getTime() + linkLifetimeMs)]);
  return token;
}

const contentFromRow = (purpose: EmailLinkPurpose, [row]: Row[]): EmailLinkContent | undefined =>
  row && { purpose, email: row.email, userId: row.user_id };

/** Returns a link's content without consuming the link, because mail programs open links before users do. */
export const peekEmailLink = async (
  em: EntityManager,
  purpose: EmailLinkPurpose,
  token: string,
  now: Date,
): Promise<EmailLinkContent | undefined> => contentFromRow(purpose, await readLink(em, [hashToken(token), purpose, now]));

/**
 * Consumes a link and returns its content; only one of two concurrent requests receives the content. Call this in the same transaction as
 * the action that the link authorizes. Locks the user before the link, in the same order as an address change, which deletes links.
 */
export async function consumeEmailLink(
  em: EntityManager,
  purpose: EmailLinkPurpose,
  token: string,
  now: Date,
): Promise<EmailLinkContent | undefined> {
  await lockOwner(em, [hashToken(token)]);
  return contentFromRow(purpose, await deleteLink(em, [hashToken(token), purpose, now]));
}

const deleteLinksOfUser = prepareStatement('delete_email_links_of_user', 'delete from mailed_links where user_id = $1');

/** Deletes all of a user's links. Call this when the password or the e-mail address changes. */
export async function deleteEmailLinksOfUser(em: EntityManager, userId: number): Promise<void> {
  await deleteLinksOfUser(em, [userId]);
}

const deleteLinksOfAddresses = prepareStatement(
  'delete_email_links_of_addresses',
  'delete from mailed_links where lower(email) in (lower($1), lower($2))',
);

/** Deletes every link of an account whose address changes, and every link sent to the old or the new address. */
export async function deleteEmailLinksAfterAddressChange(
  em: EntityManager,
  { userId, from, to }: { userId: number; from: string; to: string },
): Promise<void> {
  await deleteEmailLinksOfUser(em, userId);
  await deleteLinksOfAddresses(em, [from, to]);
}

export const deleteExpiredEmailLinks = prepareExpiredRowDeletion({
  table: 'mailed_links',
  key: 'token_hash',
  isExpired: 'expires_at < $1',
  orderBy: 'expires_at',
});
