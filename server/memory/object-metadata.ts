/** What a module knows of something that others made: of a request, of an answer, of the parameters of a statement. */
export type Note<Value> = {
  readonly get: (owner: object) => Value | undefined;
  readonly set: (owner: object, value: Value) => void;
};

/**
 * Notes are kept with the object they are about. In a WeakMap they would outlive it: the collector of young objects takes what an
 * old map holds for living, so that every request with all it refers to would stay until the next full collection.
 */
export function noteOf<Value>(name: string): Note<Value> {
  const key = Symbol(name);
  return {
    get: (owner) => (owner as { [key]?: Value })[key],
    set: (owner, value) => {
      (owner as { [key]?: Value })[key] = value;
    },
  };
}
