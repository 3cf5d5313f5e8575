/** The operation that answers what is typed for a manifest; views.Form.Operation says the same. */
export function operationOf({exits, manifest, pods}) {
  if (/@|(?:^|[, ])(?:at|until|timing) /.test(exits)) return 'simulate';
  if (/[^, \t\r\n]/.test(exits) || pods?.trim()) return 'decide';
  return /^(?: {4}")?kind"?: "?Pod"?,?\r?$[^]*^(?: {4}")?status"?:/m.test(manifest) ? 'simulate' : 'validate';
}
