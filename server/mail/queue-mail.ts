import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { encryptText } from '../crypto/authenticated-encryption.ts';

export type Mail = {
  /** A single address, validated by the contract. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

/** Encryption context of stored mail. */
export const mailEncryptionPurpose = 'outgoing mail';

const insertMail = prepareStatement('insert_mail', 'insert into outgoing_mails (sealed, due_at, created_at) values ($1, $2, $2)');

/** Queues mail in the current transaction, so that it is only sent if the transaction commits. */
export async function queueMail(em: EntityManager, key: Buffer, mail: Mail, now: Date): Promise<void> {
  await insertMail(em, [encryptText(JSON.stringify(mail), key, mailEncryptionPurpose), now]);
}
