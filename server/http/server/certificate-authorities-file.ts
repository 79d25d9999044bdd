import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Thrown for an invalid file of CA certificates; the message is shown to the operator. */
export class CertificateAuthoritiesFileError extends Error {
  override readonly name = 'CertificateAuthoritiesFileError';
}

/**
 * Reads CA certificates from a PEM file.
 * @throws {CertificateAuthoritiesFileError} if the file cannot be read, contains no certificates, or contains a certificate that is not a
 * CA certificate
 */
export function readCertificateAuthorities(path: string): X509Certificate[] {
  const blocks = readText(path).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new CertificateAuthoritiesFileError('must contain certificates in PEM form');
  const certificates = blocks.map(parseCertificate);
  const position = certificates.findIndex(({ ca }) => !ca);
  if (position !== -1)
    throw new CertificateAuthoritiesFileError(
      `must contain only certificates of authorities, but certificate ${position + 1} has no basic constraint CA:TRUE`,
    );
  return certificates;
}

/** Returns the reason why the file cannot be used, or undefined if the file is valid. */
export function findCertificateAuthoritiesFileError(path: string): string | undefined {
  try {
    readCertificateAuthorities(path);
    return undefined;
  } catch (error) {
    if (error instanceof CertificateAuthoritiesFileError) return error.message;
    throw error;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new CertificateAuthoritiesFileError(`must be a file that can be read (${reason})`, { cause });
  }
}

function parseCertificate(pem: string, index: number): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new CertificateAuthoritiesFileError(`must contain certificates in PEM form, but certificate ${index + 1} is not valid`, {
      cause,
    });
  }
}
