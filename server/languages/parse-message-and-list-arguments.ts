import { IntlMessageFormat } from 'intl-messageformat';
import { z } from 'zod';

/** Parses a message. XML-like tags are plain text, because the pages escape all messages. */
export const parseMessage = (message: string, language: string): IntlMessageFormat =>
  new IntlMessageFormat(message, language, undefined, { ignoreTag: true });

type MessageArgumentType = 'string' | 'number' | 'Date';

type MessageElement = { type: number; value?: string | undefined; options?: Record<string, { value: MessageElement[] }> | undefined };
const elementSchema: z.ZodType<MessageElement> = z.lazy(() =>
  z.object({
    type: z.number(),
    value: z.string().optional(),
    options: z.record(z.object({ value: z.array(elementSchema) })).optional(),
  }),
);
/**
 * Maps each type of ICU MessageFormat element that takes an argument (simple argument, number, date, time, select and plural) to the type
 * of the argument.
 */
const argumentTypes: Readonly<Record<number, MessageArgumentType>> = {
  1: 'string',
  2: 'number',
  3: 'Date',
  4: 'Date',
  5: 'string',
  6: 'number',
};

/** Returns the names and types of a message's arguments. */
export function listMessageArguments(message: string, language: string): ReadonlyMap<string, MessageArgumentType> {
  const found = new Map<string, MessageArgumentType>();
  const visit = ({ type, value = '', options = {} }: MessageElement): void => {
    const argumentType = argumentTypes[type];
    if (argumentType !== undefined) found.set(value, argumentType);
    for (const option of Object.values(options)) option.value.forEach(visit);
  };
  z.array(elementSchema).parse(parseMessage(message, language).getAst()).forEach(visit);
  return found;
}
