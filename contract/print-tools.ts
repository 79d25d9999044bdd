import { openApiDocument } from './openapi.ts';
import { toolsOf } from './tools.ts';

/** Prints the tools as JSON, for programs that are made from them. */
process.stdout.write(JSON.stringify(toolsOf(openApiDocument('https://mandate.example'))));
