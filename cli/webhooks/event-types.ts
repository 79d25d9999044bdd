import type { EventTypeFilter } from '@mandate/client-sdk/webhooks';
import { CommandFailure } from '../errors/command-error.ts';
import { specOf } from '../contract-commands/build-request.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { nearest } from '../terminal/did-you-mean.ts';

const knownTypes = (): readonly string[] => specOf('events.list').query.properties?.['type']?.items?.enum?.map(String) ?? [];

/** Parses a comma-separated list of event types. Returns undefined for all types. */
export function eventTypesOf(flag: string, text: string | undefined): EventTypeFilter[] | undefined {
  if (text === undefined || text === '*') return undefined;
  return text.split(',').map((word) => {
    const type = word.trim();
    if (isEventType(type)) return type;
    const closest = nearest(type, knownTypes());
    throw new CommandFailure(exitCodes.usage, 'usage', `${flag}: unknown event type ${JSON.stringify(type)}`, {
      hint: closest === undefined ? 'List the event types with: mandate events list --help' : `Did you mean ${closest}?`,
    });
  });
}

const isEventType = (type: string): type is EventTypeFilter => knownTypes().includes(type);
