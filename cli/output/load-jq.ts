/** jq compiled to WebAssembly. It has a bundle of its own, because loading it takes longer than running most commands. */
export { loadJq } from 'jq-wasm/inline';
