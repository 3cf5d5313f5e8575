// What the tests use of node:fs/promises: the files lie on the server of the page.
export async function readFile(address) {
  return new Uint8Array(await (await fetch(address)).arrayBuffer());
}
