import { z } from 'zod';

const paramsSchema = z.object({ text: z.string(), values: z.record(z.string()) });

/**
 * Creates a custom validation issue with values to insert into its message, such as `must not contain {character}`. The issue also contains
 * the text and the values separately, so that a server can translate the message.
 */
export const createValidationIssueWithValues = (text: string, values: Readonly<Record<string, string>>) => ({
  code: z.ZodIssueCode.custom,
  message: text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder),
  params: { text, values },
});

/** Returns the text and the values of an issue that `createValidationIssueWithValues` created. */
export const parseValidationIssueWithValues = ({ params }: z.ZodCustomIssue): z.output<typeof paramsSchema> | undefined =>
  paramsSchema.safeParse(params).data;
