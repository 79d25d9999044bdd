import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SecureContextOptions } from 'node:tls';

/** Paths to the PEM files that contain the certificate chain and its private key. */
export type TlsFilePaths = { readonly certFile: string; readonly keyFile: string };

export type TlsKeyPair = { readonly cert: Buffer; readonly key: Buffer };

/** Thrown for an invalid certificate or key file; the message is shown to the operator. */
export class TlsFileError extends Error {
  override readonly name = 'TlsFileError';
  readonly file: 'cert' | 'key';

  constructor(file: 'cert' | 'key', message: string) {
    super(message);
    this.file = file;
  }
}

/** @throws {TlsFileError} if a file is unreadable or not PEM, or if the key does not match the certificate */
export function readTlsFiles({ certFile, keyFile }: TlsFilePaths): TlsKeyPair {
  const cert = read('cert', certFile);
  const key = read('key', keyFile);
  const certificate = parseFile('cert', 'must be a certificate in PEM form', () => new X509Certificate(cert));
  const privateKey = parseFile('key', 'must be a private key in PEM form, without a passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new TlsFileError('key', 'must be the private key of the certificate, but they do not match');
  return { cert, key };
}

/**
 * All TLS 1.3 cipher suites, and the TLS 1.2 cipher suites that RFC 9325 section 4.2 recommends. FAPI 2.0 forbids all other TLS 1.2 suites
 * (Security Profile section 5.2.2). By default, Node also accepts suites without forward secrecy or authenticated encryption.
 */
const cipherSuites = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
];

/** Returns the server's TLS settings with this certificate. */
export const createSecureContextOptions = ({ cert, key }: TlsKeyPair): SecureContextOptions => ({
  cert,
  key,
  minVersion: 'TLSv1.2',
  ciphers: cipherSuites.join(':'),
});

/** Returns the certificate's expiry date. */
export const getCertificateExpiryDate = ({ cert }: TlsKeyPair): Date => new X509Certificate(cert).validToDate;

export function findTlsFileError(files: TlsFilePaths): TlsFileError | undefined {
  try {
    readTlsFiles(files);
    return undefined;
  } catch (error) {
    if (error instanceof TlsFileError) return error;
    throw error;
  }
}

function read(file: 'cert' | 'key', path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new TlsFileError(
      file,
      `must be a file that can be read (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'})`,
    );
  }
}

function parseFile<Result>(file: 'cert' | 'key', message: string, parse: () => Result): Result {
  try {
    return parse();
  } catch {
    throw new TlsFileError(file, message);
  }
}
