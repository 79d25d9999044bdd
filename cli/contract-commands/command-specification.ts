/** As much of JSON Schema as the contract uses for what callers send. */
export type Schema = {
  readonly type: readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | Schema;
  readonly default?: unknown;
};

/** One operation of the API, as a command. */
export type CommandSpec = {
  readonly operationId: string;
  /** `orders`, `create`. */
  readonly group: string;
  readonly name: string;
  /** The section of the API reference that the operation is in. */
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Any one of them is enough; none: no token is needed. */
  readonly scopes: readonly string[];
  readonly idempotent: boolean;
  /** Field of the result with a secret: it is `null` in a replay. `recovery` says how to get a working secret then. */
  readonly secret?: { readonly field: string; readonly recovery: string };
  readonly paginated: boolean;
  /** Whether a change can be asked for of one version only. */
  readonly ifMatch?: boolean;
  readonly pathParameters: readonly { readonly name: string; readonly schema: Schema }[];
  readonly query: Schema;
  readonly body?: Schema;
  /** What can be chosen with `--fields`: of the result, or of each item of a list. */
  readonly fields: readonly string[];
};
