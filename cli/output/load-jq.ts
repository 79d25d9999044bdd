/** jq, compiled to WebAssembly. Apart from everything else, because it takes longer to load than most commands run. */
export { loadJq } from 'jq-wasm/inline';
