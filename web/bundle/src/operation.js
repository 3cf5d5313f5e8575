/** The operations of the views besides the answer. */
const ofViews = {codes: 'table', versions: 'compare', compare: 'compare', backoff: 'curve'};

/** A text that asks something. */
export const asking = /[^,\s]/;

/** A question in short that is about time. */
const overTime = /@|(?:^|[,\s])(?:(?:at|until|timing|expect|forever|[x×]\d+)(?:[,\s]|$)|[^,\s]*(?::(?:[,\s]|$)|\d(?:ms|[smh]):))/;

/** Says whether a question is about time. */
export const timed = (exits) => overTime.test(exits);

/** The operation that answers what is typed for a manifest; views.Form.Operation says the same. */
export function operationOf({exits, manifest, pods, view, old, static: file}) {
  if (Object.hasOwn(ofViews, view ?? '')) return ofViews[view];
  if (file || old?.trim()) return 'validate';
  if (overTime.test(exits)) return 'simulate';
  if (asking.test(exits) || pods?.trim()) return 'decide';
  return /^(?: {4}")?kind"?: "?Pod"?,?\r?$[^]*^(?: {4}")?status"?:/m.test(manifest) ? 'simulate' : 'validate';
}
