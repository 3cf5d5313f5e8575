/** The operation that answers what is typed as exits; views.Form.Operation says the same. */
export function operationOf(exits) {
  if (exits.includes('@')) return 'simulate';
  return /[^, \t\r\n]/.test(exits) ? 'decide' : 'validate';
}
