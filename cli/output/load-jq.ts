/** jq compiled to WebAssembly. This module has its own bundle, because loading jq takes longer than running most commands. */
export { loadJq } from 'jq-wasm/inline';
