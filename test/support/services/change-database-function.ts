import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';

/**
 * Returns the statement that creates or replaces the latest version of a database function.
 * @param name name of the function without its version
 */
export async function readDatabaseFunction(em: EntityManager, name: string): Promise<string> {
  const [latest] = await em.execute<{ definition: string }[]>(
    `select pg_get_functiondef(oid) as definition from pg_proc where proname ~ ? order by length(proname) desc, proname desc limit 1`,
    [`^${name}_v[0-9]+$`],
  );
  if (!latest) throw new Error(`there is no function ${name}`);
  return latest.definition;
}

/**
 * Replaces parts of the latest version of a database function, for example to inject a fault. Every occurrence of a key of `replacements`
 * is replaced with the value of the key.
 * @param name name of the function without its version
 * @returns a function that restores the previous definition
 * @throws {Error} if the definition does not contain one of the keys
 */
export async function changeDatabaseFunction(
  em: EntityManager,
  name: string,
  replacements: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const previous = await readDatabaseFunction(em, name);
  let definition = previous;
  for (const [part, replacement] of Object.entries(replacements)) {
    if (!definition.includes(part)) throw new Error(`${name} does not contain: ${part}`);
    definition = definition.replaceAll(part, replacement);
  }
  await em.execute(definition);
  return async () => void (await em.execute(previous));
}
