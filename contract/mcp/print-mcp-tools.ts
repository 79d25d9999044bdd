import { openApiDocument } from '../openapi/openapi-document.ts';
import { toolsOf } from './mcp-tools.ts';

/** Prints the tools as JSON, for programs that are made from them. */
process.stdout.write(JSON.stringify(toolsOf(openApiDocument('https://mandate.example'))));
