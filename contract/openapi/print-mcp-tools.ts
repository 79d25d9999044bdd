import { openApiDocument } from './openapi-document.ts';
import { toolsOf } from '../protocol/mcp-tools.ts';

/** Prints the MCP tools as JSON, for code generators. */
process.stdout.write(JSON.stringify(toolsOf(openApiDocument('https://mandate.example'))));
