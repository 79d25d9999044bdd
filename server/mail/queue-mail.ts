import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { encryptText } from '../crypto/authenticated-encryption.ts';
import { QueuedMail } from './queued-mail.entity.ts';

export type Mail = {
  /** A single e-mail address, validated by the contract. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Name of the sender (default: the name in the server configuration). */
  readonly senderName?: string | undefined;
};

/** Encryption context of stored mail. */
export const outgoingMailEncryptionContext = 'outgoing mail';

/** Queues mail in the current transaction, so that the mail is sent only if the transaction commits. */
export async function queueMail(em: EntityManager, key: Buffer, mail: Mail, now: Date): Promise<void> {
  await em.insert(QueuedMail, {
    sealed: encryptText(JSON.stringify(mail), key, outgoingMailEncryptionContext),
    dueAt: now,
    createdAt: now,
  });
}
