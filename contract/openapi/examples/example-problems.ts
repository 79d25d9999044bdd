import { problemDeclarations } from '../../index.ts';
import type { JsonObject } from '../../schema/json.ts';

const requestId = 'req_01M7WXK88H51RZJBBZKC28RPJD';

/** Fields of the example problems that differ from the defaults. */
const exampleFields: Readonly<Record<string, JsonObject>> = {
  invalid_request: {
    detail: 'The request has 2 errors.',
    errors: [
      { in: 'body', pointer: '#/items/0/quantity', code: 'out_of_range', detail: 'must be at least 1' },
      { in: 'query', parameter: 'colour', code: 'unknown_field', detail: 'is not a parameter of this operation' },
    ],
  },
  malformed_json: { detail: 'The body must be a JSON object.' },
  payload_too_large: { detail: 'Send a smaller body.' },
  unsupported_media_type: { detail: 'Send the body in UTF-8.' },
  not_found: { detail: 'Order 42 was not found.' },
  forbidden: { detail: 'Only staff can do this.' },
  invalid_transition: { detail: 'The order is canceled, so it cannot be paid for.' },
  precondition_required: { detail: 'In If-Match, send the ETag of the version that you want to change.' },
  email_taken: {
    detail: 'The e-mail address is in use.',
    errors: [{ in: 'body', pointer: '#/email', code: 'not_unique', detail: 'The e-mail address is in use.' }],
  },
  out_of_stock: {
    detail: 'Not enough in stock: product 1.',
    errors: [
      {
        in: 'body',
        pointer: '#/items/0/quantity',
        code: 'out_of_stock',
        detail: '2 units of product 1 were ordered, but only 1 is available.',
        product_id: 1,
        requested: 2,
        available: 1,
      },
    ],
  },
  price_changed: {
    detail: 'The total has changed.',
    errors: [{ in: 'body', pointer: '#/total', code: 'price_changed', detail: 'The total is 850.', actual: 850 }],
  },
  last_administrator: { detail: 'Make another user an administrator first.' },
  payment_in_progress: { detail: 'Wait until the payment in progress is completed, or cancel the payment.' },
  internal_error: { detail: 'The request was not processed. Retry it; if the error persists, send the request ID to support.' },
};

/** Returns an example of the problem document for `code`, with its title as the summary. */
export function createProblemExample(code: string, origin: string): JsonObject {
  const declared = Object.entries(problemDeclarations).find(([name]) => name === code)?.[1];
  if (!declared) throw new Error(`the contract declares no problem code ${code}`);
  const { status, title } = declared;
  const value = {
    type: `${origin}/problems/${code}`,
    title,
    status,
    code,
    detail: `${title}.`,
    instance: `urn:mandate:request:${requestId}`,
    request_id: requestId,
    ...exampleFields[code],
  };
  return { summary: title, value };
}
