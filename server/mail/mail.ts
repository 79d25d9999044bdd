import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { seal } from '../crypto/authenticated-encryption.ts';

export type Mail = {
  /** A single address, validated by the contract. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

/** Encryption context of stored mail. */
export const mailLabel = 'outgoing mail';

const insertMail = statement('insert_mail', 'insert into outgoing_mails (sealed, due_at, created_at) values ($1, $2, $2)');

/** Queues mail in the current transaction, so that it is only sent if the transaction commits. */
export async function queueMail(em: Em, key: Buffer, mail: Mail, now: Date): Promise<void> {
  await insertMail(em, [seal(JSON.stringify(mail), key, mailLabel), now]);
}
