import type { EventTypeFilter } from '@mandate/client-sdk/webhooks';
import { CommandError } from '../errors/command-error.ts';
import { getCommandSpecForOperation } from '../contract-commands/build-request-and-convert-api-errors.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { findClosestMatch } from '../terminal/find-closest-match.ts';

const knownTypes = (): readonly string[] =>
  getCommandSpecForOperation('events.list').query.properties?.['type']?.items?.enum?.map(String) ?? [];

/** Parses a comma-separated list of event types. Returns `undefined` if all types are selected. */
export function parseEventTypes(flag: string, text: string | undefined): EventTypeFilter[] | undefined {
  if (text === undefined || text === '*') return undefined;
  return text.split(',').map((word) => {
    const type = word.trim();
    if (isEventType(type)) return type;
    const closest = findClosestMatch(type, knownTypes());
    throw new CommandError(exitCodes.usage, 'usage', `${flag}: unknown event type ${JSON.stringify(type)}`, {
      hint: closest === undefined ? 'List the event types with: mandate events list --help' : `Did you mean ${closest}?`,
    });
  });
}

const isEventType = (type: string): type is EventTypeFilter => knownTypes().includes(type);
