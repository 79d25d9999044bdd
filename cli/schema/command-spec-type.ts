/** The subset of JSON Schema that the contract uses for request parameters and bodies. */
export type JsonSchemaSubset = {
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
  readonly items?: JsonSchemaSubset;
  readonly properties?: Readonly<Record<string, JsonSchemaSubset>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | JsonSchemaSubset;
  readonly default?: unknown;
};

/** The specification of the command for one API operation. */
export type CommandSpec = {
  readonly operationId: string;
  /** First word of the command, such as `orders`. */
  readonly group: string;
  /** Second word of the command, such as `create`. */
  readonly name: string;
  /** Section of the API reference that contains the operation. */
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Any one of these scopes is sufficient. An empty list means that no token is required. */
  readonly scopes: readonly string[];
  readonly idempotent: boolean;
  /** The result field that contains a secret. The secret is `null` in a replayed response; `recovery` explains how to get a new one. */
  readonly secret?: { readonly field: string; readonly recovery: string };
  readonly paginated: boolean;
  /** Whether the operation accepts an `If-Match` header. */
  readonly ifMatch?: boolean;
  readonly pathParameters: readonly { readonly name: string; readonly schema: JsonSchemaSubset }[];
  readonly query: JsonSchemaSubset;
  readonly body?: JsonSchemaSubset;
  /** Names that `--fields` accepts: the fields of the result or, for a list, of its items. */
  readonly fields: readonly string[];
};
