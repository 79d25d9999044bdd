/** A client generator, with the steps to generate, compile and run a client. */
export type ClientGenerator = {
  readonly name: string;
  readonly version: string;
  readonly language: string;
  readonly document: OpenApiVersion;
  /** Commands that must be installed. A generator whose commands are missing is skipped. */
  readonly commands: readonly string[];
  /** File name extension of the generated source files, whose lines are counted. */
  readonly extension: string;
  /** Writes the generated client to `folder/generated`. */
  generate(folder: string, documentFile: string): Promise<void>;
  /** Compiles the client together with a program that places an order. If this step is missing, the client is only generated. */
  readonly compile?: (folder: string) => Promise<void>;
  /** Runs the program, which prints its results as JSON, and returns these results. */
  readonly run?: (folder: string, env: Readonly<Record<string, string>>) => Promise<string>;
};

export type OpenApiVersion = '3.0' | '3.1';
