/** jq compiled to WebAssembly. This module is bundled separately, because loading jq takes longer than running most commands. */
export { loadJq } from 'jq-wasm/inline';
