/**
 * Closes resources in the reverse of the order in which they were opened. This class has the methods of `AsyncDisposableStack`, which
 * Node.js 22 does not support.
 */
export class CleanupStack implements AsyncDisposable {
  readonly #cleanups: (() => unknown)[] = [];

  defer(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  use(resource: Disposable | AsyncDisposable): void {
    this.defer(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()));
  }

  /** Closes everything, even if some resources cannot be closed. @throws the errors that occurred */
  async disposeAsync(): Promise<void> {
    const errors: unknown[] = [];
    for (let cleanup = this.#cleanups.pop(); cleanup; cleanup = this.#cleanups.pop()) {
      try {
        await cleanup();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, 'several resources could not be closed');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync();
  }
}
