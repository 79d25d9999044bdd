import type { OpenApiDocument, Operation } from './openapi-types-and-operation-list.ts';

/** Returns the source code of the mock responses: the contract's example for each operation and problem. */
export function renderMockResponsesSource({ components }: OpenApiDocument, operations: Operation[]): string {
  const responses = operations.map((operation) => [operation.id, mockResponseFromOperation(operation)] as const);
  const statuses = new Map(operations.flatMap(({ problems }) => Object.entries(problems)));
  const problems = Array.from(statuses, ([code, status]) => {
    const example = components.examples?.[code]?.value;
    return [code, { type: `https://mandate.example/problems/${code}`, title: code, status, code, detail: code, ...example }] as const;
  });
  return `export type MockResponse = {
  /** Method and path, with parameters in the form \`:order_id\`. */
  readonly route: string;
  readonly status: number;
  readonly body?: unknown;
};

/** Successful response of each operation. */
export const mockResponses: Readonly<Record<string, MockResponse>> = ${JSON.stringify(Object.fromEntries(responses), null, 2)};

/** Response body of each problem. */
export const mockProblems: Readonly<Record<string, Readonly<Record<string, unknown>>>> = ${JSON.stringify(Object.fromEntries(problems), null, 2)};
`;
}

const mockResponseFromOperation = ({ method, path, successStatus, successExample }: Operation) => ({
  route: `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  status: successStatus,
  body: successExample,
});
