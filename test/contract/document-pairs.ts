/**
 * Pairs of small documents that differ by one change: one pair for every row in the specification's table of compatible changes, and
 * additional pairs for changes that comparison tools are known to miss.
 */

// oxlint-disable-next-line typescript/no-explicit-any -- the edits change arbitrary parts of a document
type Document = any;

/** Returns a document that contains all parts that the changes affect. */
const document = (): Document => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1.0.0' },
  servers: [{ url: 'https://shop.example' }],
  paths: {
    '/orders': {
      get: {
        operationId: 'orders.list',
        security: [],
        parameters: [
          { name: 'status', in: 'query', schema: { type: 'string' } },
          { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100, default: 20 } },
        ],
        responses: { 200: json({ type: 'array', items: { $ref: '#/components/schemas/Order' } }) },
      },
      post: {
        operationId: 'orders.create',
        security: [{ oauth2: ['orders.write'] }],
        requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/OrderCreate' } } } },
        responses: { 201: json({ $ref: '#/components/schemas/Order' }), 400: { description: 'not valid' } },
      },
    },
    '/orders/{order_id}': {
      get: {
        operationId: 'orders.get',
        security: [{ oauth2: ['orders.read'] }],
        parameters: [
          { name: 'order_id', in: 'path', required: true, schema: { type: 'integer' } },
          { name: 'X-Client', in: 'header', schema: { type: 'string' } },
        ],
        responses: { 200: json({ $ref: '#/components/schemas/Order' }), 404: { description: 'not found' } },
      },
    },
  },
  components: {
    schemas: {
      Order: {
        type: 'object',
        required: ['id', 'status', 'created_at', 'paid_on', 'total', 'address'],
        properties: {
          id: { type: 'integer' },
          status: { type: 'string', enum: ['pending', 'paid'] },
          created_at: { type: 'string', format: 'date-time' },
          paid_on: { type: 'string', format: 'date' },
          total: { type: 'integer' },
          note: { type: 'string' },
          contact: { type: 'object', properties: { phone: { type: 'string' } } },
          address: { anyOf: [{ $ref: '#/components/schemas/Address' }, { type: 'null' }] },
        },
      },
      OrderCreate: {
        type: 'object',
        required: ['product_id', 'kind'],
        properties: {
          product_id: { type: 'integer' },
          note: { type: 'string', maxLength: 100 },
          kind: { type: 'string', enum: ['usual', 'gift'] },
        },
      },
      Address: { type: 'object', required: ['city'], properties: { city: { type: 'string' }, street: { type: 'string' } } },
    },
    securitySchemes: {
      oauth2: {
        type: 'oauth2',
        flows: {
          clientCredentials: {
            tokenUrl: 'https://shop.example/token',
            scopes: { 'orders.read': '', 'orders.write': '', 'orders.manage': '' },
          },
        },
      },
    },
  },
});

const json = (schema: Document): Document => ({ description: 'done', content: { 'application/json': { schema } } });

type Edit = (parts: {
  paths: Document;
  order: Document;
  input: Document;
  address: Document;
  list: Document;
  create: Document;
  get: Document;
  schemas: Document;
}) => void;

export type DocumentPair = { readonly name: string; readonly before: unknown; readonly after: unknown };

function pair([name, edit]: readonly [string, Edit]): DocumentPair {
  const after = document();
  const { paths, components } = after;
  const { Order: order, OrderCreate: input, Address: address } = components.schemas;
  const [list, create, get] = [paths['/orders'].get, paths['/orders'].post, paths['/orders/{order_id}'].get];
  edit({ paths, order, input, address, list, create, get, schemas: components.schemas });
  return { name, before: document(), after };
}

const breakingByTheSpecification: readonly (readonly [string, Edit])[] = [
  [
    'remove a response field',
    ({ order }) => void (delete order.properties.total, (order.required = order.required.filter((name: string) => name !== 'total'))),
  ],
  ['remove an optional response field', ({ order }) => delete order.properties.note],
  ['rename a response field', ({ order }) => renameField(order, 'total', 'amount')],
  ['rename a request field', ({ input }) => renameField(input, 'product_id', 'product')],
  ['turn a date-time into a date', ({ order }) => (order.properties.created_at.format = 'date')],
  ['remove the format of a date', ({ order }) => delete order.properties.created_at.format],
  ['turn a date into seconds', ({ order }) => (order.properties.created_at = { type: 'integer' })],
  ['remove a path', ({ paths }) => delete paths['/orders/{order_id}']],
  ['remove a method', ({ paths }) => delete paths['/orders'].get],
  ['change the type of a response field', ({ order }) => (order.properties.total = { type: 'string' })],
  ['change the type of a request field', ({ input }) => (input.properties.product_id = { type: 'string' })],
  ['change the type of a path parameter', ({ get }) => (get.parameters[0].schema = { type: 'string', format: 'uuid' })],
  ['require a new request field', ({ input }) => void ((input.properties.quantity = { type: 'integer' }), input.required.push('quantity'))],
  ['require a request field that was optional', ({ input }) => input.required.push('note')],
  [
    'require a new query parameter',
    ({ list }) => list.parameters.push({ name: 'shop', in: 'query', required: true, schema: { type: 'string' } }),
  ],
  ['require a header that was optional', ({ get }) => (get.parameters[1].required = true)],
  ['require another scope', ({ create }) => (create.security = [{ oauth2: ['orders.write', 'orders.manage'] }])],
  ['require a token where none was needed', ({ list }) => (list.security = [{ oauth2: ['orders.read'] }])],
];

const furtherBreaking: readonly (readonly [string, Edit])[] = [
  ['lower the maximum length of a text', ({ input }) => (input.properties.note.maxLength = 50)],
  ['lower the maximum of a number', ({ list }) => (list.parameters[1].schema.maximum = 50)],
  ['remove a value of a request enumeration', ({ input }) => (input.properties.kind.enum = ['usual'])],
  ['make a response field nullable', ({ order }) => (order.properties.total = { type: ['integer', 'null'] })],
  ['remove a query parameter', ({ list }) => list.parameters.shift()],
  ['remove a field of a nullable object', ({ address }) => delete address.properties.street],
  ['reject unknown request fields', ({ input }) => (input.additionalProperties = false)],
  ['make a response field optional', ({ order }) => (order.required = order.required.filter((name: string) => name !== 'total'))],
  [
    'change the success status',
    ({ create }) => {
      create.responses[200] = create.responses[201];
      delete create.responses[201];
    },
  ],
  ['change the media type of a response', ({ get }) => (get.responses[200].content = { 'text/csv': { schema: { type: 'string' } } })],
];

const compatibleBySpecification: readonly (readonly [string, Edit])[] = [
  ['add an optional response field', ({ order }) => (order.properties.reference = { type: 'string' })],
  ['add an optional request field', ({ input }) => (input.properties.reference = { type: 'string' })],
];

const furtherCompatible: readonly (readonly [string, Edit])[] = [
  [
    'add a path',
    ({ paths }) =>
      (paths['/products'] = {
        get: { operationId: 'products.list', security: [], responses: { 200: json({ type: 'array', items: { type: 'integer' } }) } },
      }),
  ],
  ['add an optional query parameter', ({ list }) => list.parameters.push({ name: 'sort', in: 'query', schema: { type: 'string' } })],
  ['change a description', ({ order }) => (order.properties.total.description = 'what the customer pays')],
  ['make a request field optional', ({ input }) => (input.required = ['kind'])],
  [
    'name an inline schema',
    ({ order, schemas }) => {
      schemas.Contact = order.properties.contact;
      order.properties.contact = { $ref: '#/components/schemas/Contact' };
    },
  ],
  ['declare another error', ({ create }) => (create.responses[409] = { description: 'conflict' })],
];

const decided: readonly (readonly [string, Edit])[] = [
  ['add a value to a response enumeration', ({ order }) => order.properties.status.enum.push('shipped')],
  ['change an operation ID', ({ list }) => (list.operationId = 'orders.all')],
  ['change a default', ({ list }) => (list.parameters[1].schema.default = 50)],
];

function renameField(schema: Document, from: string, to: string): void {
  schema.properties[to] = schema.properties[from];
  delete schema.properties[from];
  schema.required = schema.required.map((name: string) => (name === from ? to : name));
}

export const breakingPairs = [...breakingByTheSpecification, ...furtherBreaking].map(pair);
export const compatiblePairs = [...compatibleBySpecification, ...furtherCompatible].map(pair);
/** Changes whose impact is debatable; the test records our decision. */
export const debatablePairs = decided.map(pair);
