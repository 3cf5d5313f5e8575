/** The operation that answers what is typed as exits for a manifest; views.Form.Operation says the same. */
export function operationOf({exits, manifest}) {
  if (/@|(?:^|[, ])(?:at|until|timing) /.test(exits)) return 'simulate';
  if (/[^, \t\r\n]/.test(exits)) return 'decide';
  return /^(?: {4}")?kind"?: "?Pod"?,?\r?$[^]*^(?: {4}")?status"?:/m.test(manifest) ? 'simulate' : 'validate';
}
