// What the tests use of node:worker_threads. Import maps do not reach workers, so theirs is the
// file next to this one.
export class Worker {
  #worker = new globalThis.Worker(new URL('./worker.js', import.meta.url), {type: 'module'});

  constructor(file, {workerData}) {
    this.#worker.postMessage(workerData);
  }

  once(type, f) {
    this.#worker.addEventListener(type, (event) => f(type === 'message' ? event.data : new Error(event.message)), {once: true});
  }
}
