/** The operations of the views beside the answer. */
const ofViews = {codes: 'table', versions: 'compare', backoff: 'curve'};

/** The operation that answers what is typed for a manifest; views.Form.Operation says the same. */
export function operationOf({exits, manifest, pods, view}) {
  if (Object.hasOwn(ofViews, view ?? '')) return ofViews[view];
  if (/@|(?:^|[, ])(?:at|until|timing) /.test(exits)) return 'simulate';
  if (/[^, \t\r\n]/.test(exits) || pods?.trim()) return 'decide';
  return /^(?: {4}")?kind"?: "?Pod"?,?\r?$[^]*^(?: {4}")?status"?:/m.test(manifest) ? 'simulate' : 'validate';
}
