import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** Number of MD5 calls between two yields to the event loop. These calls take about 2 ms. */
const iterationsPerTurn = 1000;

/** Derives the digest of phpass's portable hashes (iterated MD5) without blocking the event loop. */
export async function derivePhpassDigest(password: Buffer, salt: string, log2Iterations: number): Promise<Buffer> {
  let digest: Buffer = hash('md5', Buffer.concat([Buffer.from(salt), password]), 'buffer');
  const iterations = 2 ** log2Iterations;
  for (let done = 0; done < iterations; done += 1) {
    if (done % iterationsPerTurn === 0) await setImmediate();
    digest = hash('md5', Buffer.concat([digest, password]), 'buffer');
  }
  return digest;
}

const alphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns the value of a character in phpass's base64 alphabet, or -1. */
export const getPhpassCharacterValue = (character: string): number => alphabet.indexOf(character);

/** Decodes 22 characters of phpass's base64, which stores the lowest bits first, to 16 bytes. */
export function decodePhpassBase64(text: string): Buffer {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = Array.from(text.slice(at, at + 4), getPhpassCharacterValue);
    const group = a | (b << 6) | (c << 12) | (d << 18);
    bytes.push(group & 0xff, (group >> 8) & 0xff, (group >> 16) & 0xff);
  }
  return Buffer.from(bytes.slice(0, 16));
}
