import { createPublicKey, randomUUID, X509Certificate } from 'node:crypto';
import { createApplication, type ApplicationInput } from '../../../server/applications/validate-and-create-application.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createCertificate, type Authority, type CertificateOptions, type CertificateWithKey } from '../network/create-certificate.ts';

/** Creates a certificate authority that issues client certificates. */
export const createAuthority = (): Authority => createCertificate({ subject: [['CN', 'Test authority']], isAuthority: true });

/** Subject of client certificates, with the attributes in certificate order. */
export const clientSubject: CertificateOptions['subject'] = [
  ['C', 'DE'],
  ['O', 'Example, Ltd.'],
  ['CN', 'client'],
];

/** Creates a certificate for `CN=client,O=Example\, Ltd.,C=DE`, with one alternative name of each type. */
export const createClientCertificate = (issuer: Authority, options: Partial<CertificateOptions> = {}): Authority =>
  createCertificate({
    subject: clientSubject,
    altNames: [
      { type: 'dns', value: 'client.example' },
      { type: 'uri', value: 'spiffe://example.com/a,b' },
      { type: 'email', value: 'client@example.com' },
      { type: 'ip', value: '192.0.2.5' },
    ],
    purpose: 'client',
    issuer,
    ...options,
  });

/** Returns the certificate's public key as a JWK with the certificate in `x5c`, for registering an application. */
export const toJwkWithCertificate = ({ cert }: Pick<CertificateWithKey, 'cert'>): object => ({
  ...createPublicKey(cert).export({ format: 'jwk' }),
  x5c: [new X509Certificate(cert).raw.toString('base64')],
});

/** Returns the value of the header in which a proxy forwards the client's certificate (RFC 9440 section 2.1). */
export const encodeCertificateHeader = (pem: string): string => `:${new X509Certificate(pem).raw.toString('base64')}:`;

/**
 * Creates a confidential application and returns its client ID. The application uses the client credentials grant, unless `input` specifies
 * other values.
 */
export async function createApplicationWithCertificate(db: Database, input: Partial<ApplicationInput>): Promise<string> {
  const clientId = `client-${randomUUID()}`;
  const defaults = {
    name: 'Test application',
    type: 'confidential',
    grantTypes: ['client_credentials'],
    scopes: ['users.manage'],
  } as const;
  await createApplication(db.em.fork(), { ...defaults, clientId, ...input });
  return clientId;
}
