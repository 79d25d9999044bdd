import { startServer, type ServerProcess } from './server-process.ts';

/** A server that ends, one way or the other, and comes back at the same address. */
export class MortalServer {
  readonly env: Readonly<Record<string, string>>;
  #process: ServerProcess | undefined;
  #written = '';

  /** `PORT` is its address. */
  constructor(env: Readonly<Record<string, string>>) {
    this.env = env;
  }

  async live(): Promise<string> {
    this.#process = await startServer(this.env);
    return this.#process.url;
  }

  async die(): Promise<void> {
    const dying = this.#process;
    this.#process = undefined;
    await dying?.kill();
    this.#written += dying?.output() ?? '';
  }

  async dieAndRise(): Promise<void> {
    await this.die();
    await this.live();
  }

  /** Its process, while it lives. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Everything that it wrote in all its lives. */
  output(): string {
    return this.#written + (this.#process?.output() ?? '');
  }

  stop = async (): Promise<number | null | undefined> => this.#process?.stop();
}
