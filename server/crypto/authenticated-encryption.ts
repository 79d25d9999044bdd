import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts text with AES-256-GCM. `purpose` is authenticated, so that a value cannot be decrypted for another purpose. */
export function encryptText(text: string, key: Buffer, purpose: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose));
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url');
}

/** Decrypts text; returns `undefined` if the key or the purpose differs. */
export function decryptText(encrypted: string, key: Buffer, purpose: string): string | undefined {
  const bytes = Buffer.from(encrypted, 'base64url');
  if (bytes.length < 28) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(purpose));
  decipher.setAuthTag(bytes.subarray(12, 28));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}
