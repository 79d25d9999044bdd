/** Tests tool calls that run as tasks, with the Model Context Protocol extension `io.modelcontextprotocol/tasks` (SEP-2663). */
import { describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { callMcpTool, connectMcpClient, type SignInState } from '../../support/mcp/mcp-client.ts';
import { signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { abandonTaskAtStep, runPendingTasks } from '../../support/shop/run-tasks.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

const extension = 'io.modelcontextprotocol/tasks';
const protocolVersion = '2026-07-28';
const taskScopes: readonly Scope[] = ['orders.read', 'tasks.read', 'tasks.write'];

type Assistant = {
  /** Sends a JSON-RPC request without the SDK's client, which does not support the extension. */
  readonly send: (
    method: string,
    params: { readonly name?: string; readonly taskId?: string; [key: string]: unknown },
  ) => Promise<JsonBody>;
  readonly startExport: () => Promise<JsonBody>;
};

type ConnectOptions = { readonly scopes?: readonly Scope[]; readonly extensions?: object; readonly suffix?: string };

/** Signs an assistant in. By default, the assistant supports tasks, and can call the tools for exports and tasks. */
async function connectAssistant(
  person: TestUser,
  { scopes = taskScopes, extensions = { [extension]: {} }, suffix = '?tools=order_exports' }: ConnectOptions = {},
): Promise<Assistant> {
  const state: SignInState = { verifier: '' };
  await (await connectMcpClient(shop.origin, person, scopes, { state, suffix })).close();
  const send: Assistant['send'] = async (method, params) => {
    const response = await fetch(`${shop.origin}/mcp${suffix}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${state.tokens?.access_token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': protocolVersion,
        'mcp-method': method,
        ...((params.name ?? params.taskId) && { 'mcp-name': params.name ?? params.taskId }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': protocolVersion,
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
            'io.modelcontextprotocol/clientCapabilities': { extensions },
          },
        },
      }),
    });
    const text = await response.text();
    return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? ''));
  };
  return { send, startExport: () => send('tools/call', { name: 'order_exports_create', arguments: { rows: 'orders', format: 'csv' } }) };
}

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

describe('an assistant that supports tasks', () => {
  test('is told that the server supports tasks', async () => {
    const { send } = await connectAssistant(await signUp(shop.origin));
    const { result } = await send('server/discover', {});
    expect(result.capabilities.extensions).toEqual({ [extension]: {} });
  });

  test('starts an export, follows its status, and gets its result', async () => {
    const anna = await signUp(shop.origin);
    await shop.placeOrder({ user_id: anna.id });
    const { send, startExport } = await connectAssistant(anna);
    const { result: created } = await startExport();
    const task = {
      taskId: expect.stringMatching(/^\d+$/),
      status: 'working',
      statusMessage: 'The task has not started yet.',
      createdAt: timestamp,
      lastUpdatedAt: created.createdAt,
      ttlMs: null,
      pollIntervalMs: 2000,
    };
    expect(created).toMatchObject({ resultType: 'task', ...task });
    expect(created.result).toBeUndefined();
    const { taskId } = created;
    expect((await send('tasks/get', { taskId })).result).toMatchObject({ ...task, taskId, resultType: 'complete' });
    await runPendingTasks(shop);
    const { result: finished } = await send('tasks/get', { taskId });
    expect(finished).toMatchObject({ taskId, status: 'completed', statusMessage: '1 of 1 rows processed.', lastUpdatedAt: timestamp });
    expect(finished.ttlMs).toBeGreaterThan(6 * 24 * 60 * 60 * 1000);
    expect(finished.result.structuredContent).toMatchObject({
      id: Number(taskId),
      status: 'succeeded',
      result: { rows: 1, format: 'csv' },
    });
    expect(finished.result.content[0].text).toContain('succeeded');
    expect(finished.result.isError).toBeUndefined();
  });

  test('gets the reason why a task failed as the result of the tool call', async () => {
    const anna = await signUp(shop.origin);
    const { send, startExport } = await connectAssistant(anna);
    const { taskId } = (await startExport()).result;
    const failure = { code: 'too_many_crashes', detail: 'The server stopped three times during this task.' };
    const em = shop.db.em.fork();
    await em.execute(`update tasks set status = 'failed', error = ?, finished_at = now() where id = ?`, [JSON.stringify(failure), taskId]);
    const { result } = await send('tasks/get', { taskId });
    expect(result).toMatchObject({
      status: 'completed',
      statusMessage: failure.detail,
      result: { isError: true, content: [{ type: 'text', text: `${failure.detail} (too_many_crashes)` }] },
    });
  });

  test('cancels a task, even if it has already been canceled', async () => {
    const { send, startExport } = await connectAssistant(await signUp(shop.origin));
    const { taskId } = (await startExport()).result;
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { result, error } = await send('tasks/cancel', { taskId });
      expect([result?.resultType, error]).toEqual(['complete', undefined]);
    }
    expect((await send('tasks/get', { taskId })).result).toMatchObject({ status: 'cancelled', statusMessage: 'Canceled after 0 rows.' });
  });

  test('sees how many rows of a running task have been processed', async () => {
    const anna = await signUp(shop.origin);
    await shop.placeOrder({ user_id: anna.id });
    const { send, startExport } = await connectAssistant(anna);
    const { taskId } = (await startExport()).result;
    await abandonTaskAtStep(shop, 1);
    expect((await send('tasks/get', { taskId })).result).toMatchObject({
      status: 'working',
      statusMessage: expect.stringMatching(/^\d+ (?:of \d+ )?rows processed\.$/),
    });
    await runPendingTasks(shop);
  });

  test('can send `tasks/update`, which has no effect because tasks never need input', async () => {
    const { send, startExport } = await connectAssistant(await signUp(shop.origin));
    const { taskId } = (await startExport()).result;
    expect((await send('tasks/update', { taskId, inputResponses: {} })).result).toMatchObject({ resultType: 'complete' });
  });

  test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])('%s rejects tasks that do not exist or belong to others', async (method) => {
    const [anna, ben] = [await connectAssistant(await signUp(shop.origin)), await connectAssistant(await signUp(shop.origin))];
    const { taskId } = (await ben.startExport()).result;
    for (const unknown of [taskId, '999999999', 'not-a-number', '../users/me']) {
      const { error, result } = await anna.send(method, { taskId: unknown, inputResponses: {} });
      expect([result, error?.code], unknown).toEqual([undefined, -32_602]);
    }
    expect((await ben.send('tasks/get', { taskId })).result.status).toBe('working');
  });

  test('without the permission to cancel tasks starts no task', async () => {
    const { send, startExport } = await connectAssistant(await signUp(shop.origin), { scopes: ['orders.read', 'tasks.read'] });
    expect((await send('server/discover', {})).result.capabilities.extensions).toBeUndefined();
    expect((await startExport()).error).toBeDefined();
  });
});

describe('an assistant that does not support tasks', () => {
  test('gets the task of the API as the result, and cannot use the methods for tasks', async () => {
    const { send, startExport } = await connectAssistant(await signUp(shop.origin), { extensions: {} });
    const { result } = await startExport();
    expect(result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: expect.stringContaining('"queued"') }] });
    const taskId = String(JSON.parse(result.content[0].text).id);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await send(method, { taskId, inputResponses: {} });
      expect(error).toMatchObject({ code: -32_021, data: { requiredCapabilities: { extensions: { [extension]: {} } } } });
    }
  });

  test('with a protocol version of 2025 gets the task of the API as the result', async () => {
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), taskScopes, { suffix: '?tools=order_exports' });
    const { body } = await callMcpTool(client, 'order_exports_create', { rows: 'orders', format: 'csv' });
    expect(body).toMatchObject({ status: 'queued', type: 'order_export' });
    await client.close();
  });
});
