import { openApiDocument } from './openapi-document.ts';
import { toolsOf } from '../protocol/mcp-tools.ts';

/** Prints the tools as JSON, for programs that are made from them. */
process.stdout.write(JSON.stringify(toolsOf(openApiDocument('https://mandate.example'))));
