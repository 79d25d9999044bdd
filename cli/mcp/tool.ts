/** An API operation as a tool of the Model Context Protocol, generated from the contract. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly method: string;
  readonly path: string;
  /** Names of the arguments that go into the path. Arguments that are not in a list or a header form the body. */
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
