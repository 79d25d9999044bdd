import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createDatabaseEnvironment } from '../../support/services/database.ts';
import { createMigratedDataDirectory } from '../../support/server/migrated-data-directory.ts';
import {
  killServerProcesses,
  readFirstRunFile,
  runServerUntilExit,
  startServerProcess,
  createDataDirectory,
} from '../../support/server/server-process.ts';
import { placeOrder, readOrder, createOrderClient } from './order-client.ts';

afterEach(killServerProcesses);

describe('npm start', { timeout: 180_000 }, () => {
  test('prints URLs and accounts at the first start, and keeps the data for later starts', async () => {
    await using data = await createDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path };

    const first = await startServerProcess(env);
    const { customer } = await readFirstRunFile(data.path);
    expect(first.output()).toContain(`${first.url}/api/v1`);
    expect(first.output()).toContain(customer.email);
    expect(first.output()).toContain('npx mandate login');
    const order = await placeOrder(await createOrderClient(first.url, data.path), 'kept');
    const firstRun = await readFile(join(data.path, 'first-run.json'), 'utf8');
    expect(await first.stop()).toBe(0);

    const second = await startServerProcess(env);
    expect(await readOrder(await createOrderClient(second.url, data.path), order.id)).toEqual(order);
    expect(await readFile(join(data.path, 'first-run.json'), 'utf8')).toBe(firstRun);
    expect(await second.stop()).toBe(0);
  });

  test('with the data directory of a running server exits with one sentence, and the first server continues', async () => {
    await using data = await createMigratedDataDirectory();
    const first = await startServerProcess({ MANDATE_DATA_DIR: data.path });
    const second = await runServerUntilExit({ MANDATE_DATA_DIR: data.path });
    expect(second).toEqual({ code: 1, output: `Mandate cannot start. ${join(data.path, 'database')} is in use by another process\n` });
    expect((await placeOrder(await createOrderClient(first.url, data.path), 'after the second start')).id).toBeGreaterThan(0);
    expect(await first.stop()).toBe(0);
  });

  test('on a port in use exits with one sentence', async () => {
    await using data = await createDataDirectory();
    await using other = await createDataDirectory();
    const first = await startServerProcess({ MANDATE_DATA_DIR: data.path, ...(await createDatabaseEnvironment()) });
    const occupied = { PORT: new URL(first.url).port };
    const second = await runServerUntilExit({ MANDATE_DATA_DIR: other.path, ...(await createDatabaseEnvironment()), ...occupied });
    expect(second.code).toBe(1);
    expect(second.output).toMatch(/^Mandate cannot start\. listen EADDRINUSE: .*\n$/);
    await first.stop();
  });

  test('without a database at DATABASE_URL exits without printing its password', async () => {
    await using data = await createDataDirectory();
    const refused = await runServerUntilExit({
      MANDATE_DATA_DIR: data.path,
      DATABASE_URL: 'postgres://mandate:hunter2@127.0.0.1:1/mandate',
      DATABASE_START_TIMEOUT: '1',
    });
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('ECONNREFUSED');
    expect(refused.output).not.toContain('hunter2');
  });
});

describe('production', { timeout: 180_000 }, () => {
  test('requires a complete configuration', async () => {
    const refused = await runServerUntilExit({ NODE_ENV: 'production' });
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('MANDATE_SECRET');
    expect(refused.output).toContain('MANDATE_ISSUER');
  });

  test('starts without demonstration data and logs JSON lines', async () => {
    await using data = await createDataDirectory();
    const server = await startServerProcess({
      NODE_ENV: 'production',
      MANDATE_DATA_DIR: data.path,
      ...(await createDatabaseEnvironment()),
      MANDATE_SECRET: 'a'.repeat(64),
      MANDATE_ISSUER: 'https://shop.example',
      MANDATE_ADMIN_EMAIL: 'ada@example.com',
      MANDATE_ADMIN_PASSWORD: 'correct horse battery',
    });
    const products = await fetch(`${server.url}/api/v1/products`);
    expect(await products.json()).toMatchObject({ data: [] });
    await server.stop();
    const lines = server.output().trim().split('\n');
    expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'));
    expect(server.output()).not.toMatch(/correct horse battery|aaaaaaaa/);
  });
});
