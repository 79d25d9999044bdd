import { startServerProcess, type ServerProcess } from './server-process.ts';

/** A server process that tests can kill and restart at the same URL. */
export class KillableServer {
  readonly env: Readonly<Record<string, string>>;
  #process: ServerProcess | undefined;
  #earlierOutput = '';

  /** @param env environment variables; must contain `PORT` */
  constructor(env: Readonly<Record<string, string>>) {
    this.env = env;
  }

  async start(): Promise<string> {
    this.#process = await startServerProcess(this.env);
    return this.#process.url;
  }

  async kill(): Promise<void> {
    const killed = this.#process;
    this.#process = undefined;
    await killed?.kill();
    this.#earlierOutput += killed?.output() ?? '';
  }

  async killAndRestart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Process ID, if the process is running. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Returns the output of all processes since the first start. */
  output(): string {
    return this.#earlierOutput + (this.#process?.output() ?? '');
  }

  stop = async (): Promise<number | null | undefined> => this.#process?.stop();
}
