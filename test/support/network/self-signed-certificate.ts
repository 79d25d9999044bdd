import { createCertificate, type CertificateWithKey } from './create-certificate.ts';

/** Creates a self-signed certificate for the given host names, with a new key pair on every call. */
export const createSelfSignedCertificate = (validDays = 30, hostNames: readonly string[] = ['localhost']): CertificateWithKey => {
  const altNames = hostNames.map((value) => ({ type: 'dns', value }) as const);
  const { cert, key } = createCertificate({ subject: [['CN', hostNames[0] ?? 'localhost']], altNames, validDays });
  return { cert, key };
};
