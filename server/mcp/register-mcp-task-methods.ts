import { taskSchema, type Task } from '@mandate/contract';
import { describeApiError, type McpTool, type SendToolRequest, type ToolResponse } from '@mandate/contract/tools';
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { mcpTaskFromApiTask, toolResultFromTask } from './mcp-task-from-api-task.ts';

/**
 * The extension for long-running tool calls (SEP-2663). A call returns a task, and the client polls the status and result of the task. The
 * API stores the tasks, so any process can serve these requests, and each caller can access only its own tasks.
 */
export const mcpTasksExtensionName = 'io.modelcontextprotocol/tasks';
const requiredCapabilities = { extensions: { [mcpTasksExtensionName]: {} } };

/** The tools for reading and canceling a task, if the caller's token permits them, and the function that sends the tools' API requests. */
export type TaskTools = {
  readonly get: McpTool;
  readonly cancel: McpTool | undefined;
  readonly send: SendToolRequest;
};

/** Returns the task tools that the caller's token permits, or `undefined` if the token does not permit reading tasks. */
export function findTaskTools(permitted: readonly McpTool[], send: SendToolRequest): TaskTools | undefined {
  const find = (name: string): McpTool | undefined => permitted.find((tool) => tool.name === name);
  const get = find('tasks_get');
  return get && { get, cancel: find('tasks_cancel'), send };
}

/** Returns whether the client declared in this request that it supports tasks. */
const declaresTasks = ({ mcpReq }: ServerContext): boolean => requestMetadata.safeParse(mcpReq.envelope).success;
const requestMetadata = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({ extensions: z.object({ [mcpTasksExtensionName]: z.record(z.unknown()) }) }),
});

/** Returns the result of a tool call that started a task, or `undefined` if the client does not support tasks or no task was started. */
export function toolResultFromStartedTask(response: ToolResponse, context: ServerContext): CallToolResult | undefined {
  if (response.status !== 202 || !declaresTasks(context)) return undefined;
  // The SDK has no type for this result, and requires `content` in every result of a tool call.
  return { resultType: 'task', ...mcpTaskFromApiTask(parseTask(response)), content: [] };
}

const taskParams = z.object({ taskId: z.string() });

/** Registers the methods for reading, updating and canceling a task. */
export function registerMcpTaskMethods(server: McpServer, tools: TaskTools): void {
  server.server.setRequestHandler('tasks/get', { params: taskParams }, async ({ taskId }, context) => {
    const response = await sendTaskRequest(tools, tools.get, taskId, context);
    const task = parseTask(response);
    const mcpTask = mcpTaskFromApiTask(task);
    return { ...mcpTask, ...(mcpTask.status === 'completed' && { result: toolResultFromTask(tools.get, response, task) }) };
  });
  server.server.setRequestHandler('tasks/update', { params: taskParams }, async ({ taskId }, context) => {
    // No task requires input, so all input responses are ignored.
    await sendTaskRequest(tools, tools.get, taskId, context);
    return {};
  });
  server.server.setRequestHandler('tasks/cancel', { params: taskParams }, async ({ taskId }, context) => {
    if (!tools.cancel)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        'The user has not granted the scope tasks.write, which is required to cancel a task.',
      );
    await sendTaskRequest(tools, tools.cancel, taskId, context);
    return {};
  });
}

/**
 * API response status if a task can no longer be canceled. In this case, the extension requires the same acknowledgment as after a
 * cancellation.
 */
const finishedStatus = 409;

/**
 * Sends an API request for a task.
 * @throws {ProtocolError} if the client does not support tasks, the caller has no such task, or the API returned any other error
 */
async function sendTaskRequest({ send }: TaskTools, tool: McpTool, taskId: string, context: ServerContext): Promise<ToolResponse> {
  if (!declaresTasks(context)) throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
  const response = await send(tool, { task_id: taskId });
  if (response.status < 400 || response.status === finishedStatus) return response;
  const isUnknown = response.status === 400 || response.status === 404;
  throw new ProtocolError(isUnknown ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, describeApiError(tool, response));
}

const parseTask = ({ text }: ToolResponse): Task => taskSchema.parse(JSON.parse(text));
