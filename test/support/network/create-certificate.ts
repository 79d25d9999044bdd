import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

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
const encodeExtension = (identifier: string, value: Buffer): Buffer =>
  encodeSequence(encodeObjectIdentifier(identifier), encodeDer(0x04, value));

const signatureAlgorithms = {
  ec: encodeSequence(encodeObjectIdentifier('2a8648ce3d040302')),
  rsa: encodeSequence(encodeObjectIdentifier('2a864886f70d01010b'), encodeDer(0x05)),
};
const attributeTypes = { C: '550406', O: '55040a', CN: '550403' };
const purposes = { server: '2b06010505070301', client: '2b06010505070302' };
const dayMs = 86_400_000;

type AttributeType = keyof typeof attributeTypes;
type SubjectAltName = { readonly type: 'dns' | 'uri' | 'email' | 'ip'; readonly value: string };

export type CertificateOptions = {
  /** Attributes of the subject, in certificate order. */
  readonly subject: readonly (readonly [AttributeType, string])[];
  readonly altNames?: readonly SubjectAltName[];
  /**
   * Days, relative to today, on which the certificate becomes valid and expires. By default, the certificate has been valid for an hour and
   * expires in 30 days.
   */
  readonly validFromDay?: number;
  readonly validDays?: number;
  /** The authority that signs the certificate (default: the certificate is self-signed). */
  readonly issuer?: Authority;
  readonly isAuthority?: boolean;
  /** Type of the new key (default: EC on the P-256 curve). */
  readonly keyType?: keyof typeof signatureAlgorithms;
  /** Restricts the certificate to one purpose (default: all purposes). */
  readonly purpose?: keyof typeof purposes;
};

/** A certificate that can sign other certificates. */
export type Authority = CertificateWithKey & { readonly name: Buffer; readonly privateKey: KeyObject };

const encodeName = (subject: CertificateOptions['subject']): Buffer =>
  encodeSequence(
    ...subject.map(([type, value]) =>
      encodeDer(0x31, encodeSequence(encodeObjectIdentifier(attributeTypes[type]), encodeDer(0x0c, value))),
    ),
  );

const altNameTags = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 };
const encodeAltName = ({ type, value }: SubjectAltName): Buffer =>
  encodeDer(altNameTags[type], type === 'ip' ? Buffer.from(value.split('.').map(Number)) : value);

const encodeExtensions = ({ altNames = [], isAuthority = false, purpose }: CertificateOptions): Buffer[] => [
  ...(altNames.length > 0 ? [encodeExtension('551d11', encodeSequence(...altNames.map(encodeAltName)))] : []),
  ...(isAuthority ? [encodeExtension('551d13', encodeSequence(encodeDer(0x01, Buffer.from([255]))))] : []),
  ...(purpose ? [encodeExtension('551d25', encodeSequence(encodeObjectIdentifier(purposes[purpose])))] : []),
];

/** Creates a certificate (RFC 5280 section 4.1) with a new key pair. */
export function createCertificate(options: CertificateOptions): Authority {
  const { privateKey, publicKey } =
    options.keyType === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = encodeName(options.subject);
  const { issuer = { name, privateKey }, validFromDay = -1 / 24, validDays = 30 } = options;
  const extensions = encodeExtensions(options);
  const algorithm = signatureAlgorithms[issuer.privateKey.asymmetricKeyType === 'rsa' ? 'rsa' : 'ec'];
  const content = encodeSequence(
    encodeDer(0xa0, encodeDer(0x02, Buffer.from([2]))),
    encodeDer(0x02, Buffer.concat([Buffer.from([1]), randomBytes(12)])),
    algorithm,
    issuer.name,
    encodeSequence(encodeTime(new Date(Date.now() + validFromDay * dayMs)), encodeTime(new Date(Date.now() + validDays * dayMs))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [encodeDer(0xa3, encodeSequence(...extensions))] : []),
  );
  const signature = sign('sha256', content, issuer.privateKey);
  const der = encodeSequence(content, algorithm, encodeDer(0x03, Buffer.from([0]), signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  const cert = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), name, privateKey };
}
