import express, { type Router } from 'express';

/** The example e-mail address of the administrator in development. */
const developmentContact = 'mailto:admin@example.com';

const validityDays = 90;
const dayMs = 86_400_000;

type Options = {
  readonly issuer: string;
  /** URI for vulnerability reports. */
  readonly contact: string | undefined;
  readonly development: boolean;
  readonly now: () => Date;
};

/** Serves `/.well-known/security.txt` (RFC 9116). In production, the operator must configure a contact. */
export function serveSecurityTxt({ issuer, contact, development, now }: Options): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const contactUri = contact ?? (development ? developmentContact : undefined);
  if (contactUri === undefined) return router;
  const { origin } = new URL(issuer);
  return router.get('/.well-known/security.txt', (_req, res) => {
    const lines = [
      ...(contact === undefined ? ['# Development: set MANDATE_SECURITY_CONTACT to the contact of the operator.'] : []),
      `Contact: ${contactUri}`,
      `Expires: ${expiryDate(now())}`,
      'Preferred-Languages: en',
      // RFC 9116 section 2.5.2 allows https URLs only
      ...(origin.startsWith('https:') ? [`Canonical: ${origin}/.well-known/security.txt`] : []),
    ];
    res.set({ 'Cache-Control': 'public, max-age=86400', 'X-Content-Type-Options': 'nosniff' });
    res.type('text/plain').send(`${lines.join('\n')}\n`);
  });
}

/** The date is rounded to the day, so that the response can be cached. */
const expiryDate = (now: Date): string => new Date((Math.floor(now.getTime() / dayMs) + validityDays) * dayMs).toISOString();
