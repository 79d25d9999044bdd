/** One attribute of a distinguished name, with its type in upper case. */
type Attribute = { readonly type: string; readonly value: string };
/** Attributes in the order that RFC 4514 specifies; the attributes of one relative distinguished name are sorted. */
type DistinguishedName = readonly (readonly Attribute[])[];

const attributePattern = /^\s*([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+)=(.*)$/s;
const escapePattern = /\\(?:([0-9A-Fa-f]{2})|([ "#+,;<=>\\]))/g;

/** Splits text at separators that are not escaped with a backslash. */
const splitUnescaped = (text: string, separator: ',' | '+'): string[] =>
  text.match(new RegExp(`(?:\\\\.|[^\\\\${separator}])+`, 'gs')) ?? [];

/**
 * Parses a distinguished name in the string format of RFC 4514, such as `CN=client,O=Example,C=DE`. Returns undefined for text that is not
 * in this format.
 */
export function parseDistinguishedName(text: string): DistinguishedName | undefined {
  const names = splitUnescaped(text, ',');
  // separators at the start or the end, and empty parts, would otherwise be ignored
  if (names.length === 0 || names.join(',') !== text) return undefined;
  const parsed: Attribute[][] = [];
  for (const name of names) {
    const attributes = splitUnescaped(name, '+');
    if (attributes.join('+') !== name) return undefined;
    const pairs = attributes.map(parseAttribute);
    if (pairs.includes(undefined)) return undefined;
    parsed.push(
      pairs.filter((pair) => pair !== undefined).toSorted((one, other) => (formatAttribute(one) < formatAttribute(other) ? -1 : 1)),
    );
  }
  return parsed;
}

function parseAttribute(text: string): Attribute | undefined {
  const [, type, rawValue] = attributePattern.exec(text) ?? [];
  if (type === undefined || rawValue === undefined) return undefined;
  const value = unescapeValue(removeOuterSpaces(rawValue));
  return value === undefined || value === '' ? undefined : { type: type.toUpperCase(), value };
}

/** Removes unescaped spaces, because RFC 2253 and many tools add spaces after separators. */
const removeOuterSpaces = (value: string): string => value.replace(/^ +/, '').replace(/(?<!\\) +$/, '');

/**
 * Decodes escape sequences: escaped characters such as `\,` and UTF-8 bytes such as `\C3\A4`. Returns undefined if a backslash or a
 * reserved character remains.
 */
function unescapeValue(value: string): string | undefined {
  if (/[\\",;<>]/.test(value.replaceAll(escapePattern, ''))) return undefined;
  const parts: Buffer[] = [];
  let end = 0;
  for (const { 0: match, 1: hex, 2: character = '', index } of value.matchAll(escapePattern)) {
    parts.push(Buffer.from(value.slice(end, index)), hex === undefined ? Buffer.from(character) : Buffer.from(hex, 'hex'));
    end = index + match.length;
  }
  parts.push(Buffer.from(value.slice(end)));
  return Buffer.concat(parts).toString();
}

const formatAttribute = ({ type, value }: Attribute): string => `${type}=${value}`;

const formatName = (name: DistinguishedName): string => JSON.stringify(name.map((attributes) => attributes.map(formatAttribute)));

/**
 * Returns whether a certificate's subject is exactly this distinguished name (RFC 4514). The comparison of values is case-sensitive.
 * @param subject the `subject` of an `X509Certificate`, with one relative distinguished name per line, in the order of the certificate
 */
export function isSubjectEqualToDistinguishedName(subject: string, expected: string): boolean {
  // RFC 4514 section 2.1: the string starts with the last element of the certificate's sequence
  const [presented, wanted] = [parseDistinguishedName(subject.split('\n').toReversed().join(',')), parseDistinguishedName(expected)];
  return presented !== undefined && wanted !== undefined && formatName(presented) === formatName(wanted);
}
