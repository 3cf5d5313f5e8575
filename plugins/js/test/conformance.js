// Conformance vectors through the package, wherever it runs. The formats of vectors and of the line stand in plugins/README.md.
import {load} from 'podfate';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Asks every vector and gives the line that runners print, the number of vectors and those that differ.
 *
 * lines: async iterable of vectors. fold: takes the bytes that the digest is over with update, and gives it with digest.
 */
export async function conform(lines, fold, engine, version, report) {
  const module = await load();
  let count = 0;
  let mismatches = 0;
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const {id, op, request, answer, failed} = JSON.parse(line);
    let got;
    try {
      const result = module.call(op, encoder.encode(request));
      got = {answer: decoder.decode(result.bytes), failed: result.failed};
    } catch (error) {
      got = {answer: `${error.code}: ${error.message}`, failed: true};
    }
    if (got.answer !== answer || got.failed !== failed) {
      mismatches++;
      report(`${id}: got (failed ${got.failed}) ${got.answer}\n${' '.repeat(id.length)}  want (failed ${failed}) ${answer}`);
    }
    fold.update(encoder.encode(`${id}\n${got.answer}\n`));
    count++;
  }
  return {
    line: `engine=${engine} version=${version} module=${module.sha256} count=${count} mismatches=${mismatches} digest=${await fold.digest('hex')}`,
    count, mismatches,
  };
}
