import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  deliverPendingEvents,
  createDeliveryWorker,
  startWebhookReceiver,
  advanceDeliveryRetries,
} from '../../support/webhooks/webhook-receiver.ts';
import { isPublicIpAddress, findUrlRejectionReason } from '../../../server/outgoing-http/check-public-url.ts';
import type { NetworkPolicy } from '../../../server/outgoing-http/ssrf-protected-connection.ts';

requireOneProcess('the server runs in production mode, which accepts only HTTPS URLs');

const shop = withShop({ development: false });

afterEach(() => shop.db.em.fork().execute('delete from webhook_endpoints'));

const register = (url: string): Promise<ApiResponse> =>
  shop.callApi('POST', '/api/v1/webhook-endpoints', { token: shop.token, body: { url, events: ['product.created'] } });
const lastAttempt = async (id: number): Promise<JsonBody> => {
  const { body } = await shop.callApi('GET', `/api/v1/webhook-endpoints/${id}/deliveries`, { token: shop.token });
  return body.data[0].attempts.at(-1);
};

const rejectedUrls = [
  'http://example.com/',
  'ftp://example.com/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'example.com/hooks',
  '//example.com/hooks',
  'https://user@example.com/',
  'https://user:secret@example.com/',
  'https://example.com/#fragment',
  'https://example.com:22/',
  'https://example.com:25/',
  'https://example.com:80/',
  'https://localhost/',
  'https://localhost:3000/',
  'https://intranet/',
  'https://printer.local/',
  'https://db.internal/',
  'https://metadata.google.internal/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://017700000001/',
  'https://127。0。0。1/',
  'https://１２７.0.0.1/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://8.8.8.8/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[fe80::1]/',
  'https://[fd00::1]/',
  'https://[2606:4700:4700::1111]/',
  'https://example.com\\@127.0.0.1/',
  'https://exam\tple.com/',
  ' https://example.com/',
  'https://',
  '',
];

describe('validation of webhook URLs', () => {
  test.each(rejectedUrls)('rejects %j', async (url) => {
    const { status, body } = await register(url);
    expect([status, body.code, body.errors?.[0].pointer]).toEqual([400, 'invalid_request', '#/url']);
  });

  test('accepts loopback URLs in development only', async () => {
    expect(findUrlRejectionReason('http://127.0.0.1:4000/hooks', true)).toBeUndefined();
    expect(findUrlRejectionReason('http://localhost:4000/hooks', true)).toBeUndefined();
    expect(findUrlRejectionReason('http://127.0.0.1:4000/hooks', false)).toBeDefined();
    expect(findUrlRejectionReason('http://192.168.0.1:4000/hooks', true)).toBeDefined();
    expect(findUrlRejectionReason('http://0.0.0.0:4000/hooks', true)).toBeDefined();
  });

  test.each([
    'https://example.com/hooks?a=b',
    'https://hooks.example.com:8443/',
    'https://example.co.uk:4433/x',
    'https://xn--bcher-kva.example/',
  ])('accepts %s', async (url) => {
    expect((await register(url)).status).toBe(201);
  });
});

describe('the public address check', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.168.0.1',
    '192.88.99.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'not an address',
    '',
  ])('rejects %s', (address) => expect(isPublicIpAddress(address)).toBe(false));
  test.each(['8.8.8.8', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])('accepts %s', (address) =>
    expect(isPublicIpAddress(address)).toBe(true),
  );
});

/** A DNS server on this machine that returns the given address lists in order, and then repeats the final list. */
class DnsServer {
  readonly queriedNames: string[] = [];
  addressLists: string[][] = [];
  readonly #socket: Socket = createSocket('udp4');

  async open(): Promise<string> {
    this.#socket.on('message', (query, from) => {
      const labels: string[] = [];
      let at = 12;
      for (; query[at]; at += 1 + (query[at] ?? 0)) labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
      const question = query.subarray(12, at + 5);
      const isA = query.readUInt16BE(at + 1) === 1;
      if (isA) this.queriedNames.push(labels.join('.'));
      const addresses = isA ? ((this.addressLists.length > 1 ? this.addressLists.shift() : this.addressLists[0]) ?? []) : [];
      const records = addresses.map((address) => {
        const fields = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        return Buffer.concat([fields, Buffer.from(address.split('.').map(Number))]);
      });
      const head = Buffer.from(query.subarray(0, 12));
      head.writeUInt16BE(0x8180, 2);
      head.writeUInt16BE(1, 4);
      head.writeUInt16BE(records.length, 6);
      head.writeUInt32BE(0, 8);
      this.#socket.send(Buffer.concat([head, question, ...records]), from.port, from.address);
    });
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  close(): void {
    this.#socket.close();
  }
}

describe('a host name', () => {
  let dnsServer: DnsServer;
  let network: NetworkPolicy;
  let trap: Server;
  let port = 0;
  let connections: string[];

  beforeEach(async () => {
    dnsServer = new DnsServer();
    const resolver = new Resolver({ timeout: 500, tries: 1 });
    resolver.setServers([await dnsServer.open()]);
    network = {
      resolve: async (host) => (await resolver.resolve4(host)).map((address) => ({ address, family: 4 })),
      // 127.0.0.2 represents a public host
      isAllowed: (address) => address === '127.0.0.2' || isPublicIpAddress(address),
      development: false,
    };
    connections = [];
    trap = createServer((socket) => {
      connections.push(socket.localAddress ?? '');
      socket.on('error', () => undefined);
      socket.destroy();
    });
    trap.listen(0, '0.0.0.0');
    await once(trap, 'listening');
    const address = trap.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterEach(() => {
    dnsServer.close();
    trap.close();
  });

  const deliverWithDns = async (addressLists: string[][]): Promise<{ id: number; error: string }> => {
    dnsServer.addressLists = addressLists;
    const { id } = (await register(`https://rebind.example.com:${port}/hooks`)).body;
    await shop.createProduct();
    const deliverer = createDeliveryWorker(shop, network);
    await deliverPendingEvents(shop, deliverer);
    return { id, error: (await lastAttempt(id)).error };
  };

  test('that resolves to a public address is connected to', async () => {
    expect((await deliverWithDns([['127.0.0.2']])).error).toBe('connection_failed');
    expect(connections).toEqual(['127.0.0.2']);
  });

  test.each([
    ['to the loopback address', [['127.0.0.1']]],
    ['to a private network', [['10.0.0.1']]],
    ['to the cloud metadata service', [['169.254.169.254']]],
    ['to a public and a private address', [['127.0.0.2', '127.0.0.1']]],
    ['to a private and a public address', [['192.168.0.1', '127.0.0.2']]],
  ])('that resolves %s is not connected to', async (_label, addressLists) => {
    expect((await deliverWithDns(addressLists)).error).toBe('address_not_allowed');
    expect(connections).toEqual([]);
  });

  test.each(['::7f00:1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::1'])(
    'that resolves to the loopback address as %s is not connected to',
    async (address) => {
      const { id } = (await register(`https://rebind.example.com:${port}/hooks`)).body;
      await shop.createProduct();
      await deliverPendingEvents(
        shop,
        createDeliveryWorker(shop, { ...network, resolve: () => Promise.resolve([{ address, family: 6 }]) }),
      );
      expect([(await lastAttempt(id)).error, connections]).toEqual(['address_not_allowed', []]);
    },
  );

  test('that resolves to no address fails with name_not_found', async () => {
    expect((await deliverWithDns([[]])).error).toBe('name_not_found');
    expect(connections).toEqual([]);
  });

  test('that resolves to another address later is checked for each attempt', async () => {
    const { id } = await deliverWithDns([['127.0.0.2'], ['127.0.0.1'], ['127.0.0.1']]);
    expect(connections).toEqual(['127.0.0.2']);
    await advanceDeliveryRetries(shop, 3600);
    await deliverPendingEvents(shop, createDeliveryWorker(shop, network));
    expect((await lastAttempt(id)).error).toBe('address_not_allowed');
    expect(connections).toEqual(['127.0.0.2']);
  });

  test('is resolved only once per attempt, so it cannot change between check and connection', async () => {
    await deliverWithDns([['127.0.0.2'], ['127.0.0.1']]);
    expect(connections).toEqual(['127.0.0.2']);
    expect(dnsServer.queriedNames).toEqual(['rebind.example.com']);
  });

  test('a forbidden URL in the database is not connected to', async () => {
    const receiver = await startWebhookReceiver();
    const { id } = (await register('https://example.com/')).body;
    for (const url of [receiver.url, 'https://127.0.0.1/', 'https://[::1]/', 'https://2130706433/']) {
      await shop.db.em.fork().execute('update webhook_endpoints set url = ? where id = ?', [url, id]);
      await shop.createProduct();
      await deliverPendingEvents(shop, createDeliveryWorker(shop, network));
      expect((await lastAttempt(id)).error).toBe('address_not_allowed');
    }
    expect([receiver.deliveries, connections]).toEqual([[], []]);
    await receiver.close();
  });
});
