// What every entry of the package exports besides load.
export {Batch, Verdicts} from './batch.js';
export {Engine, Policy} from './engine.js';
export {EventError, LimitError, ModuleError, PodfateError, PolicyError, RequestError, TrapError} from './errors.js';
export {operations} from './instance.js';
