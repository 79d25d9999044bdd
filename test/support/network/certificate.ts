import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

export type Certificate = { readonly cert: string; readonly key: string };

/** DER (ITU-T X.690): tag, length, content. */
function der(tag: number, ...content: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)));
  const size = body.length < 128 ? [body.length] : body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...content: Buffer[]): Buffer => der(0x30, ...content);
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const time = (date: Date): Buffer => der(0x17, `${date.toISOString().slice(2, 19).replaceAll(/[-T:]/g, '')}Z`);

const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'));
const commonName = identifier('550403');
const subjectAltName = identifier('551d11');

/** A self-signed certificate for the given host names (RFC 5280 section 4.1), new with every call. */
export function certificate(validDays = 30, hostNames: readonly string[] = ['localhost']): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, hostNames[0] ?? 'localhost'))));
  const altName = sequence(subjectAltName, der(0x04, sequence(...hostNames.map((hostName) => der(0x82, hostName)))));
  const now = Date.now();
  const validity = sequence(time(new Date(now - 3_600_000)), time(new Date(now + validDays * 86_400_000)));
  const serial = der(0x02, Buffer.from([1, ...Buffer.from(String(now))]));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    serial,
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(altName)),
  );
  const whole = sequence(content, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature(content, privateKey)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  const cert = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

const signature = (content: Buffer, key: KeyObject): Buffer => sign('sha256', content, key);
