const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Maximum nesting depth that is processed recursively. */
const recursionMax = 100;

export type JsonComplexity = { readonly depth: number; readonly members: number };

/** Returns the nesting depth and the total number of object members of JSON text. */
export function measureJsonComplexity(bytes: Buffer): JsonComplexity {
  let [depth, deepest, members] = [0, 0, 0];
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === quote) index = endOfString(bytes, index);
    else if (byte === colon) members += 1;
    else if (byte === openBrace || byte === openBracket) deepest = Math.max(deepest, (depth += 1));
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return { depth: deepest, members };
}

/** Returns the position of the closing quote, or the end of the text if the text is truncated. */
function endOfString(bytes: Buffer, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1;
  return index;
}

/**
 * Finds a key that occurs twice in one object. For such a key, JSON parsers disagree about which value to use (RFC 8259 section 4). Returns
 * the key's JSON Pointer as a URI fragment (RFC 6901 section 6), or `undefined` if all keys are unique. Comparing the number of members in
 * the text with the number of keys in the value is much cheaper than comparing keys, so keys are compared only if the numbers differ.
 * @param value the parsed text
 */
export function findDuplicateKey(
  bytes: Buffer,
  value: unknown,
  measure: JsonComplexity = measureJsonComplexity(bytes),
): string | undefined {
  if (measure.depth <= recursionMax && countKeys(value) === measure.members) return undefined;
  return locateDuplicateKey(bytes);
}

/** Like `findDuplicateKey`, but for text that has not been parsed yet. Also returns `undefined` if the text is not JSON. */
export function findDuplicateKeyInText(bytes: Buffer): string | undefined {
  try {
    return findDuplicateKey(bytes, JSON.parse(bytes.toString()));
  } catch {
    return undefined;
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const parts: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let count = Array.isArray(value) ? 0 : parts.length;
  for (const part of parts) if (typeof part === 'object') count += countKeys(part);
  return count;
}

/** An object with the keys found so far, or an array (without keys). `step` is the current key, or the index of the current item. */
type Container = { readonly keys: Set<string> | undefined; step: string | number };

function locateDuplicateKey(bytes: Buffer): string | undefined {
  const open: Container[] = [];
  let isKeyNext = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const [byte, container] = [bytes[index], open.at(-1)];
    if (byte === quote) {
      const end = endOfString(bytes, index);
      if (isKeyNext && container?.keys) {
        const key = decodeString(bytes, index, end);
        container.step = key;
        if (container.keys.has(key)) return formatJsonPointerFragment(open.map(({ step }) => step));
        container.keys.add(key);
        isKeyNext = false;
      }
      index = end;
    } else if (byte === comma) {
      isKeyNext = container?.keys !== undefined;
      if (typeof container?.step === 'number') container.step += 1;
    } else if (byte === openBrace || byte === openBracket) {
      isKeyNext = byte === openBrace;
      open.push(isKeyNext ? { keys: new Set(), step: '' } : { keys: undefined, step: 0 });
    } else if (byte === closeBrace || byte === closeBracket) {
      open.pop();
      isKeyNext = false;
    }
  }
  return undefined;
}

/** Decodes a string literal, because `"a"` and `"\u0061"` are the same key. */
const decodeString = (bytes: Buffer, start: number, end: number): string => String(JSON.parse(bytes.toString('utf8', start, end + 1)));

/** Formats a JSON Pointer as a URI fragment (RFC 6901 section 6). */
export const formatJsonPointerFragment = (path: readonly (string | number)[]): string =>
  `#${path.map((step) => `/${encodeURIComponent(String(step).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`;
