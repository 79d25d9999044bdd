import { startServer, type ServerProcess } from './server-process.ts';

/** A server process that tests can kill and restart at the same URL. */
export class MortalServer {
  readonly env: Readonly<Record<string, string>>;
  #process: ServerProcess | undefined;
  #earlierOutput = '';

  /** @param env environment variables; must contain `PORT` */
  constructor(env: Readonly<Record<string, string>>) {
    this.env = env;
  }

  async live(): Promise<string> {
    this.#process = await startServer(this.env);
    return this.#process.url;
  }

  async die(): Promise<void> {
    const killed = this.#process;
    this.#process = undefined;
    await killed?.kill();
    this.#earlierOutput += killed?.output() ?? '';
  }

  async dieAndRise(): Promise<void> {
    await this.die();
    await this.live();
  }

  /** Process ID, if the process runs. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Returns the output of all processes since the first start. */
  output(): string {
    return this.#earlierOutput + (this.#process?.output() ?? '');
  }

  stop = async (): Promise<number | null | undefined> => this.#process?.stop();
}
