import express, { type Router } from 'express';

/** The reserved address of the demonstration administrator, which is no contact outside of development. */
const developmentContact = 'mailto:admin@example.com';

const lifetimeDays = 90;
const dayMs = 86_400_000;

type Options = {
  readonly issuer: string;
  /** A URI at which the operator takes reports of vulnerabilities. */
  readonly contact: string | undefined;
  readonly development: boolean;
  readonly now: () => Date;
};

/** `/.well-known/security.txt` (RFC 9116). In production it exists only with a contact that the operator has set. */
export function securityTxt({ issuer, contact, development, now }: Options): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const address = contact ?? (development ? developmentContact : undefined);
  if (address === undefined) return router;
  const { origin } = new URL(issuer);
  return router.get('/.well-known/security.txt', (_req, res) => {
    const lines = [
      ...(contact === undefined ? ['# Development: set MANDATE_SECURITY_CONTACT to the contact of the operator.'] : []),
      `Contact: ${address}`,
      `Expires: ${expiryDate(now())}`,
      'Preferred-Languages: en',
      // RFC 9116 section 2.5.2 allows https URLs only
      ...(origin.startsWith('https:') ? [`Canonical: ${origin}/.well-known/security.txt`] : []),
    ];
    res.set({ 'Cache-Control': 'public, max-age=86400', 'X-Content-Type-Options': 'nosniff' });
    res.type('text/plain').send(`${lines.join('\n')}\n`);
  });
}

/** The same for all requests of a day. */
const expiryDate = (now: Date): string => new Date((Math.floor(now.getTime() / dayMs) + lifetimeDays) * dayMs).toISOString();
