import { createOpenApiDocument } from '../openapi/openapi-document.ts';
import { createMcpTools } from './create-mcp-tools.ts';

/** Prints the MCP tools as JSON, for code generators. */
process.stdout.write(JSON.stringify(createMcpTools(createOpenApiDocument('https://mandate.example'))));
