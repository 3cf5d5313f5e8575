// What the tests use of node:test.
const tests = [];

export default function test(name, options, f = options) {
  tests.push({name, f, skip: options.skip});
}

/** Runs the tests that were declared, one after the other: [{name, failure, skipped}]. */
export async function run() {
  const results = [];
  for (const {name, f, skip} of tests) {
    let failure = '';
    try {
      if (!skip) await f({});
    } catch (error) {
      failure = `${error}\n${error?.stack}`;
    }
    results.push({name, failure, skipped: Boolean(skip)});
  }
  return results;
}
