import { createHash, randomBytes } from 'node:crypto';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';

export type LinkPurpose = 'sign_up' | 'password_reset' | 'email_change';
export type MailedLinkContent = { readonly purpose: LinkPurpose; readonly email: string; readonly userId: number | null };

const linkLifeMs = 60 * 60 * 1000;

const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url');

const insertLink = statement(
  'insert_mailed_link',
  'insert into mailed_links (token_hash, purpose, user_id, email, expires_at) values ($1, $2, $3, $4, $5)',
);
/** A link resets a password only at the present address of the account, and only if that does not wait for its confirmation. */
const isUsable = `(purpose <> 'password_reset' or exists (select 1 from users u
  where u.id = mailed_links.user_id and u.email = mailed_links.email and u.email_verification <> 'confirmation_required'))`;

type Row = { email: string; user_id: number | null };
const readLink = statement<Row>(
  'read_mailed_link',
  `select email, user_id from mailed_links where token_hash = $1 and purpose = $2 and expires_at > $3 and ${isUsable}`,
);
const spendLink = statement<Row>(
  'spend_mailed_link',
  `delete from mailed_links where token_hash = $1 and purpose = $2 and expires_at > $3 and ${isUsable} returning email, user_id`,
);

const lockOwner = statement(
  'lock_owner_of_link',
  'select id from users where id = (select user_id from mailed_links where token_hash = $1) for update',
);

/** What goes into the link; here only its hash is kept. */
export async function newLinkToken(em: Em, { purpose, email, userId }: MailedLinkContent, now: Date): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await insertLink(em, [hashToken(token), purpose, userId, email, new Date(now.getTime() + linkLifeMs)]);
  return token;
}

const contentOf = (purpose: LinkPurpose, [row]: Row[]): MailedLinkContent | undefined =>
  row && { purpose, email: row.email, userId: row.user_id };

/** What the link is for, without using it up: mail programs look at links before people do. */
export const lookAtLink = async (em: Em, purpose: LinkPurpose, token: string, now: Date): Promise<MailedLinkContent | undefined> =>
  contentOf(purpose, await readLink(em, [hashToken(token), purpose, now]));

/**
 * Uses it up: of two who come with it, one gets it. In the transaction of what it allows. The user is locked before the link, in the
 * same order as when an address changes, which deletes links.
 */
export async function useLink(em: Em, purpose: LinkPurpose, token: string, now: Date): Promise<MailedLinkContent | undefined> {
  await lockOwner(em, [hashToken(token)]);
  return contentOf(purpose, await spendLink(em, [hashToken(token), purpose, now]));
}

const spendLinksOf = statement('spend_links_of_user', 'delete from mailed_links where user_id = $1');
/** What was mailed before a password or an address changed is worth nothing after. */
export async function forgetLinks(em: Em, userId: number): Promise<void> {
  await spendLinksOf(em, [userId]);
}

const deleteLinksOfAddresses = statement(
  'delete_links_of_addresses',
  'delete from mailed_links where lower(email) in (lower($1), lower($2))',
);
/** Invalidates every link of an account whose address changes, and every link that was mailed to the old or the new address. */
export async function invalidateLinks(em: Em, { userId, from, to }: { userId: number; from: string; to: string }): Promise<void> {
  await forgetLinks(em, userId);
  await deleteLinksOfAddresses(em, [from, to]);
}

const sweepLinks = statement<{ token_hash: string }>(
  'sweep_mailed_links',
  'delete from mailed_links where expires_at < $1 returning token_hash',
);
/** Removes links that are over; how many they were. */
export const sweepMailedLinks = async (em: Em, now: Date): Promise<number> => (await sweepLinks(em, [now])).length;
