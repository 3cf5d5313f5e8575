// What the tests use of node:process.
export default {env: {PODFATE_TRAP_MODULE: new URL('/trap.wasm', location.href).href}};
