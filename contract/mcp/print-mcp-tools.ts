import { openApiDocument } from '../openapi/openapi-document.ts';
import { toolsOf } from './mcp-tools.ts';

/** Prints the MCP tools as JSON, for code generators. */
process.stdout.write(JSON.stringify(toolsOf(openApiDocument('https://mandate.example'))));
