import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { seal } from '../crypto/authenticated-encryption.ts';

export type Mail = {
  /** One address, checked by the contract's pattern. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

/** What it is sealed about. */
export const mailLabel = 'outgoing mail';

const insertMail = statement('insert_mail', 'insert into outgoing_mails (sealed, due_at, created_at) values ($1, $2, $2)');

/** In the transaction of what it tells about: it leaves when that is kept. */
export async function queueMail(em: Em, key: Buffer, mail: Mail, now: Date): Promise<void> {
  await insertMail(em, [seal(JSON.stringify(mail), key, mailLabel), now]);
}
