import type { EventTypeFilter } from '@mandate/client-sdk/webhooks';
import { CommandFailure } from '../errors/command-error.ts';
import { specOf } from '../contract-commands/build-request.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { nearest } from '../terminal/did-you-mean.ts';

const known = (): readonly string[] => specOf('events.list').query.properties?.['type']?.items?.enum?.map(String) ?? [];

/** Types of events as they are typed, separated by commas. */
export function eventTypesOf(flag: string, text: string | undefined): EventTypeFilter[] | undefined {
  if (text === undefined || text === '*') return undefined;
  return text.split(',').map((word) => {
    const type = word.trim();
    if (isType(type)) return type;
    const near = nearest(type, known());
    throw new CommandFailure(exitCodes.usage, 'usage', `${flag}: there are no events of the type ${JSON.stringify(type)}`, {
      hint: near === undefined ? 'Every type: mandate events list --help' : `Perhaps ${near}?`,
    });
  });
}

const isType = (type: string): type is EventTypeFilter => known().includes(type);
