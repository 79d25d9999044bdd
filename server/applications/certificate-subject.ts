import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { certificateSubjectTypes } from '@mandate/contract';
import { isSubjectEqualToDistinguishedName, parseDistinguishedName } from './parse-distinguished-name.ts';

export type CertificateSubjectType = (typeof certificateSubjectTypes)[number];

/** The name in the certificate that an application uses to authenticate (RFC 8705 section 2.1.2). */
export type CertificateSubject = { readonly type: CertificateSubjectType; readonly value: string };

const isHostName = (value: string): boolean =>
  /^(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/.test(value) && domainToASCII(value) !== '';

const rules: { readonly [Type in CertificateSubjectType]: { readonly isValid: (value: string) => boolean; readonly detail: string } } = {
  subject_dn: {
    isValid: (value) => parseDistinguishedName(value) !== undefined,
    detail: 'must be a distinguished name in RFC 4514 format, such as CN=client,O=Example,C=DE',
  },
  san_dns: { isValid: isHostName, detail: 'must be a host name without a wildcard, such as client.example' },
  san_uri: {
    isValid: (value) => URL.canParse(value) && /^[!-~]+$/.test(value),
    detail: 'must be an absolute URI, such as spiffe://example.com/client',
  },
  san_ip: { isValid: (value) => isIP(value) !== 0, detail: 'must be an IP address, such as 192.0.2.5 or 2001:db8::5' },
  san_email: {
    isValid: (value) => /^[!-?A-~]+@[A-Za-z0-9.-]+$/.test(value),
    detail: 'must be an e-mail address, such as client@example.com',
  },
};

/** Returns why no certificate can match the subject, or undefined if the subject is valid. */
export function findCertificateSubjectError({ type, value }: CertificateSubject): string | undefined {
  const { isValid, detail } = rules[type];
  return isValid(value) ? undefined : `has an invalid value: for the type ${type}, the value ${detail}`;
}

const exactHostName = { subject: 'never', wildcards: false, partialWildcards: false } as const;

const matchers: { readonly [Type in CertificateSubjectType]: (certificate: X509Certificate, value: string) => boolean } = {
  subject_dn: ({ subject }, value) => isSubjectEqualToDistinguishedName(subject, value),
  san_dns: (certificate, value) => certificate.checkHost(value, exactHostName) !== undefined,
  san_uri: ({ subjectAltName }, value) => listUrisOfSubjectAltName(subjectAltName).includes(value),
  san_ip: (certificate, value) => certificate.checkIP(value) !== undefined,
  san_email: (certificate, value) => certificate.checkEmail(value, { subject: 'never' }) !== undefined,
};

/** Returns whether the certificate contains exactly this name. A wildcard name in the certificate is not expanded. */
export const certificateHasSubjectOrAltName = (certificate: X509Certificate, { type, value }: CertificateSubject): boolean =>
  matchers[type](certificate, value);

const generalNamePattern = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)/gy;

/**
 * Returns the URIs of a `subjectAltName`, which Node formats as `DNS:client.example, URI:"https://client.example/?a=1,2"`. Node quotes
 * every name that contains a comma or a quote as a JSON string, so text within one name cannot be mistaken for a separate name.
 */
function listUrisOfSubjectAltName(subjectAltName: string | undefined): string[] {
  const names = [...(subjectAltName ?? '').matchAll(generalNamePattern)];
  if (names.map(([match]) => match).join('') !== subjectAltName) return [];
  return names.flatMap(([, type, name = '']) => (type === 'URI' ? [name.startsWith('"') ? String(JSON.parse(name)) : name] : []));
}
