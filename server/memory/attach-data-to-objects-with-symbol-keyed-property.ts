/** Metadata that one module attaches to objects of other modules, such as requests, responses and statement parameters. */
export type SymbolKeyedProperty<Value> = {
  readonly get: (owner: object) => Value | undefined;
  readonly set: (owner: object, value: Value) => void;
};

/**
 * Creates a metadata field, stored on the object itself under a symbol. A `WeakMap` would keep the objects alive too long: the
 * scavenger treats all values of an old-generation `WeakMap` as live, so every request would survive until the next major GC.
 */
export function createSymbolKeyedProperty<Value>(name: string): SymbolKeyedProperty<Value> {
  const symbol = Symbol(name);
  return {
    get: (owner) => (owner as { [symbol]?: Value })[symbol],
    set: (owner, value) => {
      (owner as { [symbol]?: Value })[symbol] = value;
    },
  };
}
