/** Metadata that one module attaches to objects of other modules, such as requests, responses and statement parameters. */
export type SymbolKeyedProperty<Value> = {
  readonly get: (owner: object) => Value | undefined;
  readonly set: (owner: object, value: Value) => void;
};

/**
 * Creates an accessor for metadata that is stored on the object itself, under a symbol. A `WeakMap` would keep the objects alive too long,
 * because the scavenger treats all values in an old-generation `WeakMap` as live. Every request would then survive until the next major GC.
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
