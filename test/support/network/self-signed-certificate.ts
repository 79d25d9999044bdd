import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

export type CertificateWithKey = { readonly cert: string; readonly key: string };

/** Encodes a DER element (ITU-T X.690): tag, length, content. */
function encodeDer(tag: number, ...content: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)));
  const size = body.length < 128 ? [body.length] : body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const encodeSequence = (...content: Buffer[]): Buffer => encodeDer(0x30, ...content);
const encodeObjectIdentifier = (hex: string): Buffer => encodeDer(0x06, Buffer.from(hex, 'hex'));
const encodeTime = (date: Date): Buffer => encodeDer(0x17, `${date.toISOString().slice(2, 19).replaceAll(/[-T:]/g, '')}Z`);

const ecdsaWithSha256 = encodeSequence(encodeObjectIdentifier('2a8648ce3d040302'));
const commonName = encodeObjectIdentifier('550403');
const subjectAltName = encodeObjectIdentifier('551d11');

/** Creates a self-signed certificate for the given host names (RFC 5280 section 4.1), with a new key pair on every call. */
export function createSelfSignedCertificate(validDays = 30, hostNames: readonly string[] = ['localhost']): CertificateWithKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = encodeSequence(encodeDer(0x31, encodeSequence(commonName, encodeDer(0x0c, hostNames[0] ?? 'localhost'))));
  const altName = encodeSequence(
    subjectAltName,
    encodeDer(0x04, encodeSequence(...hostNames.map((hostName) => encodeDer(0x82, hostName)))),
  );
  const now = Date.now();
  const validity = encodeSequence(encodeTime(new Date(now - 3_600_000)), encodeTime(new Date(now + validDays * 86_400_000)));
  const serial = encodeDer(0x02, Buffer.from([1, ...Buffer.from(String(now))]));
  const content = encodeSequence(
    encodeDer(0xa0, encodeDer(0x02, Buffer.from([2]))),
    serial,
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(0xa3, encodeSequence(altName)),
  );
  const signedCertificate = encodeSequence(content, ecdsaWithSha256, encodeDer(0x03, Buffer.from([0]), signContent(content, privateKey)));
  const lines = signedCertificate.toString('base64').match(/.{1,64}/g) ?? [];
  const cert = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

const signContent = (content: Buffer, key: KeyObject): Buffer => sign('sha256', content, key);
