/** Returns a property of any value; `undefined` if the value does not have it. */
export const getProperty = (value: unknown, name: PropertyKey): unknown =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every value except null and undefined has properties
  (value as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[name];
