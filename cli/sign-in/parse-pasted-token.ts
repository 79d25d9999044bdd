import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { isRecord } from '../schema/find-schema-violations.ts';

/** The maximum value of a Date. A token without an expiry time is used until the service rejects it. */
const neverExpires = 8.64e15;

/** Parses an access token or API key from standard input. Only an access token contains its expiry time and scopes. */
export function parsePastedToken(text: string): { readonly accessToken: string; readonly expiresAt: number; readonly scopes: string[] } {
  const accessToken = text.trim();
  if (!/^[A-Za-z0-9._~+/-]{8,4096}=*$/.test(accessToken)) {
    throw new CommandError(exitCodes.usage, 'usage', 'Standard input does not contain a token', {
      hint: 'Pass the token like this: mandate login --with-token < token.txt',
    });
  }
  const claims = decodeClaims(accessToken);
  return {
    accessToken,
    expiresAt: typeof claims['exp'] === 'number' ? claims['exp'] * 1000 : neverExpires,
    scopes: readScopesFromJwt(accessToken),
  };
}

/** Returns the scopes in an access token, or an empty list for an API key. */
export function readScopesFromJwt(token: string): string[] {
  const { scope } = decodeClaims(token);
  return typeof scope === 'string' ? scope.split(' ') : [];
}

function decodeClaims(token: string): Record<string, unknown> {
  const [, payload = '', signature] = token.split('.');
  if (signature === undefined) return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return isRecord(claims) ? claims : {};
  } catch {
    return {};
  }
}
