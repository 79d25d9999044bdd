import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts text with AES-256-GCM. `context` is authenticated, so that a value cannot be decrypted in a different context. */
export function encryptText(text: string, key: Buffer, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url');
}

/** Decrypts text; returns `undefined` if the key or the context differs. */
export function decryptText(encrypted: string, key: Buffer, context: string): string | undefined {
  const bytes = Buffer.from(encrypted, 'base64url');
  if (bytes.length < 28) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(12, 28));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}
