import express, { type ErrorRequestHandler, type RequestHandler } from 'express';

/**
 * Maximum size of a form. The form becomes part of the request target, and Node accepts at most 16 KiB for the request target and all
 * headers.
 */
const formBytesMax = 8_000;

const rejectUnreadableForm: ErrorRequestHandler = (_err, _req, res, _next) => {
  const description = `the body must be a form of at most ${formBytesMax} bytes; larger requests can be pushed (RFC 9126)`;
  res.status(400).json({ error: 'invalid_request', error_description: description });
};

const redirectParsedForm: RequestHandler = (req, res) => {
  const parameters = new URLSearchParams(typeof req.body === 'string' ? req.body : '');
  res.set('Cache-Control', 'no-store').redirect(303, `${req.path}?${parameters.toString()}`);
};

/**
 * Redirects a form that was sent with POST to the same URL with its parameters in the query. Clients may send authorization requests
 * (OpenID Connect Core section 3.1.2.1) and sign-out requests (RP-Initiated Logout section 2) as forms. Browsers omit `SameSite=Lax`
 * cookies from cross-site form posts, but send them when they follow the redirect. The redirect therefore keeps the user signed in.
 */
export const formPostToGetRedirectMiddlewares: (RequestHandler | ErrorRequestHandler)[] = [
  express.text({ type: 'application/x-www-form-urlencoded', limit: formBytesMax }),
  rejectUnreadableForm,
  redirectParsedForm,
];
