import { z } from 'zod';

const version = z.object({ version: z.string(), revision: z.string() });
const moduleOfPlan = z.object({ testModule: z.string(), variant: z.record(z.string()).nullish() });
const createdPlan = z.object({ id: z.string(), modules: z.array(moduleOfPlan) });
const createdModule = z.object({ id: z.string() });
const moduleState = z.object({ status: z.string(), result: z.string().nullish() });
const browserStep = z.object({ url: z.string(), method: z.string() });
const browserState = z.object({ browser: z.object({ urlsWithMethod: z.array(browserStep) }).optional() });
const logEntry = z.object({
  src: z.string().optional(),
  msg: z.string().optional(),
  result: z.string().optional(),
  /** Identifier of a screenshot that the suite is waiting for. */
  upload: z.string().optional(),
});

export type SuiteVersion = z.infer<typeof version>;
export type ModuleOfPlan = z.infer<typeof moduleOfPlan>;
/** A URL that the user's browser must open. */
export type BrowserStep = z.infer<typeof browserStep>;
export type LogEntry = z.infer<typeof logEntry>;

const requestTimeoutMs = 60_000;

/** Calls the API of a running OpenID conformance suite. */
export class ConformanceSuite {
  readonly origin: string;

  constructor(url: string) {
    this.origin = new URL(url).origin;
  }

  async readVersion(): Promise<SuiteVersion> {
    return version.parse(await this.#call('GET', '/api/server'));
  }

  async createPlan(planName: string, variant: Readonly<Record<string, string>>, configuration: object) {
    const query = { planName, variant: JSON.stringify(variant) };
    return createdPlan.parse(await this.#call('POST', '/api/plan', query, JSON.stringify(configuration)));
  }

  /** Creates a test module from a plan. The suite starts the module immediately. Returns the ID of the module's run. */
  async startModule(planId: string, { testModule, variant }: ModuleOfPlan): Promise<string> {
    const query = { test: testModule, plan: planId, ...(variant && { variant: JSON.stringify(variant) }) };
    return createdModule.parse(await this.#call('POST', '/api/runner', query)).id;
  }

  /** Continues a module that waits until its user has prepared the server. */
  async continueModule(id: string): Promise<void> {
    await this.#call('POST', `/api/runner/${id}`);
  }

  async readModuleState(id: string) {
    return moduleState.parse(await this.#call('GET', `/api/info/${id}`));
  }

  /** Returns the URLs that the browser has yet to open. */
  async listBrowserSteps(id: string): Promise<BrowserStep[]> {
    const state = await this.#callIfFound('GET', `/api/runner/${id}`);
    return state === undefined ? [] : (browserState.parse(state).browser?.urlsWithMethod ?? []);
  }

  async markVisited(id: string, url: string): Promise<void> {
    await this.#callIfFound('POST', `/api/runner/browser/${id}/visit`, { url });
  }

  async readLog(id: string): Promise<LogEntry[]> {
    return z.array(logEntry).parse(await this.#call('GET', `/api/log/${id}`));
  }

  async uploadScreenshot(id: string, placeholder: string, png: Buffer): Promise<void> {
    await this.#call('POST', `/api/log/${id}/images/${placeholder}`, {}, `data:image/png;base64,${png.toString('base64')}`, 'text/plain');
  }

  async #call(method: string, path: string, query: Readonly<Record<string, string>> = {}, body?: string, type?: string): Promise<unknown> {
    const found = await this.#callIfFound(method, path, query, body, type);
    if (found === undefined) throw new Error(`the suite returned 404 for ${method} ${path}`);
    return found;
  }

  async #callIfFound(
    method: string,
    path: string,
    query: Readonly<Record<string, string>> = {},
    body?: string,
    type = 'application/json',
  ): Promise<unknown> {
    const url = new URL(path, this.origin);
    url.search = new URLSearchParams(query).toString();
    const headers = { 'content-type': type, accept: 'application/json' };
    const response = await fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    const text = await response.text();
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`the suite returned ${response.status} for ${method} ${path}: ${text.slice(0, 500)}`);
    return text === '' ? null : JSON.parse(text);
  }
}
