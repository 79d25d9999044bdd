import { z } from 'zod';

/** Sent by a server process when it has started completely. */
export const readyMessage = { type: 'mandate:ready' } as const;
const readySchema = z.object({ type: z.literal(readyMessage.type) });
export const isReadyMessage = (message: unknown): boolean => readySchema.safeParse(message).success;

const stopSchema = z.object({ type: z.literal('mandate:stop'), replaced: z.boolean() });
/** Sent by the supervisor. `replaced` states whether another process of this server continues to serve requests. */
export type StopMessage = z.output<typeof stopSchema>;
export const parseStopMessage = (message: unknown): StopMessage | undefined => stopSchema.safeParse(message).data;
