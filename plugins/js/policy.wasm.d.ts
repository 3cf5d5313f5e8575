/** The module, in runtimes and bundlers that import WebAssembly as a compiled module. */
declare const module: object;
export default module;
