/** An operation of the API as a tool of the Model Context Protocol, as the contract prints it. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly method: string;
  readonly path: string;
  /** Which arguments go where; all others are the body. */
  readonly pathArguments: readonly string[];
  readonly queryArguments: readonly string[];
  readonly hasBody: boolean;
  readonly scopes: readonly string[];
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly keyed: boolean;
  readonly conditional: boolean;
  readonly inputSchema: Readonly<Record<string, unknown>>;
};
