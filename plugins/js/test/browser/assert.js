// What the tests use of node:assert/strict, with the same meaning.
export default function assert(value, message) {
  if (!value) throw new Error(`assertion: ${message ?? value}`);
}

assert.equal = (got, want, message) => assert(Object.is(got, want), `${message ?? ''} got ${got}, want ${want}`);
assert.notEqual = (got, other, message) => assert(!Object.is(got, other), `${message ?? ''} got ${got}`);
assert.deepEqual = (got, want, message) => assert(same(got, want), `${message ?? ''} got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
assert.match = (text, pattern) => assert(pattern.test(text), `${text} does not match ${pattern}`);
assert.fail = (message) => assert(false, message);

assert.throws = (f, wanted, message) => {
  let error;
  try {
    f();
  } catch (thrown) {
    error = thrown;
  }
  expected(error, wanted, message);
};

assert.rejects = async (promise, wanted, message) => {
  let error;
  try {
    await promise;
  } catch (thrown) {
    error = thrown;
  }
  expected(error, wanted, message);
};

function expected(error, wanted, message) {
  assert(error !== undefined, `${message ?? ''} nothing was thrown`);
  const fits = wanted === undefined || (wanted instanceof RegExp ? wanted.test(String(error))
    : wanted.prototype === undefined ? wanted(error) === true : error instanceof wanted);
  assert(fits, `${message ?? ''} thrown was ${error}`);
}

function same(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}
