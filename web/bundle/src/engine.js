// The page's side of the worker: loads the module once, keeps one question under way, and ends what
// takes too long.
import {say} from './text.js';

/**
 * How long one question may take, in milliseconds. An ordinary one takes less than one, but the
 * first hundred times that, because the browser compiles as it goes: a telephone, or a machine with
 * other work, needs more than a second for it.
 */
export const patience = 5000;

export class Engine {
  #workerURL;
  #module; // {module, sha256, bytes}
  #worker;
  #ready; // promise of describe's answer
  #started = false; // it has come
  #underWay; // {id, resolve, timer}
  #next; // {form, resolve}: asked while another question is under way
  #id = 0;
  #later; // {id, resolve}: what follows the last answer

  /**
   * createWorker makes a worker from its address: the page's policy decides which addresses it
   * trusts.
   */
  constructor(createWorker, workerURL) {
    this.createWorker = createWorker;
    this.#workerURL = workerURL;
  }

  /**
   * Fetches and compiles the module and starts the worker; gives describe's answer. The browser
   * compares the bytes with sha256 (64 hexadecimal digits) and refuses others; with '' it takes
   * any.
   */
  async start(url, sha256) {
    const digest = btoa(String.fromCharCode(...(sha256.match(/../g) ?? []).map((pair) => parseInt(pair, 16))));
    const response = await fetch(url, {integrity: digest && 'sha256-' + digest});
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const bytes = await response.arrayBuffer();
    this.#module = {module: await WebAssembly.compile(bytes), sha256, bytes: bytes.byteLength};
    return this.#spawn();
  }

  #spawn() {
    const worker = this.createWorker(this.#workerURL);
    this.#worker = worker;
    this.#ready = new Promise((resolve, reject) => {
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error('the worker failed'));
        if (worker === this.#worker) this.#restart('INTERNAL');
      };
      worker.onmessage = ({data}) => {
        if (data.describe) resolve(data.describe);
        else if (data.id === this.#underWay?.id) this.#finish(data);
        else if (data.strip && data.id === this.#later?.id) this.#later.resolve(data.strip);
      };
    });
    this.#started = false;
    this.#ready.then(() => (this.#started ||= worker === this.#worker), () => {}); // whoever waits is told; nobody may be waiting
    worker.postMessage(this.#module);
    return this.#ready;
  }

  /**
   * Answers a form: {operation, request, document, bytes, millis}; undefined if another question
   * came before this one was begun. A question that takes longer than patience has a document that
   * says so. With more, a promise, something follows that follow asks for: undefined if another
   * question comes before, null if it does not come within patience for each of the questions that
   * it takes.
   */
  async ask(form) {
    return new Promise((resolve) => {
      this.#next?.resolve(undefined);
      this.#next = {form, resolve};
      this.#begin();
    });
  }

  /** Has the worker go on with what follows the last answer. */
  follow() {
    if (this.#later) this.#worker.postMessage({follow: this.#later.id});
  }

  /**
   * Sends the next question at once if it can: the worker answers while the page does what else
   * there is to do.
   */
  async #begin() {
    try {
      if (!this.#started) await this.#ready;
    } catch {
      return;
    }
    if (this.#underWay || !this.#next) return;
    const {form, resolve} = this.#next;
    this.#next = undefined;
    const id = ++this.#id;
    this.#later?.resolve(undefined);
    this.#underWay = {id, resolve, timer: setTimeout(() => this.#restart('TIMEOUT'), patience)};
    this.#worker.postMessage({id, form});
  }

  #finish(result) {
    const {resolve, timer} = this.#underWay;
    clearTimeout(timer);
    this.#underWay = undefined;
    if (result.more) {
      const most = result.more * patience;
      result.more = new Promise((follows) => {
        this.#later = {id: result.id, resolve: follows};
        setTimeout(follows, most, null);
      });
    }
    resolve(result);
    this.#begin();
  }

  /** Ends the worker with the question under way and starts another one. */
  #restart(code) {
    this.#worker.terminate();
    const asked = this.#underWay;
    if (!asked) return; // it failed before any question: another would fail as well
    this.#spawn();
    const text = say('engine.' + code, {n: patience});
    this.#finish({operation: 'decide', request: '', document: {verdict: {title: say('engine'), text, tone: 'fail', mark: 'failed'}, blocks: []}});
  }
}
