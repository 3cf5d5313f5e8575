// The same question as a shell command; views.CommandLine and views.Curl make the same.
import {asking} from './operation.js';
import {visible} from './visible.js';

export function commandLine(form, operation, request) {
  if (/^(?:compare|curve|suggest)$/.test(operation)) return request && `printf %s ${shellQuote(asciiControls(request))} | podfate ${operation} -f -`;
  const words = ['podfate', operation, '-f', ...(form.pods?.trim() ? ['job.yaml', '--pods', 'pods.yaml'] : ['pod.yaml'])];
  if (form.version) words.push('--kubernetes-version', form.version);
  const gates = Object.entries(form.gates).map(([name, value]) => `${name}=${value}`).sort().join();
  if (gates) words.push('--feature-gates', gates);
  if (form.validation && form.validation !== 'Strict') words.push(`--validate=${form.validation.toLowerCase()}`);
  for (const proposal of form.proposals ?? []) words.push('--proposal', proposal);
  if (form.template) words.push('--template', form.template);
  if (operation === 'validate') {
    if (form.old?.trim()) words.push('--old', 'old.yaml');
    if (form.static) words.push('--static');
  } else if (operation !== 'table' && asking.test(form.exits)) {
    words.push('--question', form.exits.trim());
  }
  return words.map((word) => shellQuote(visible(word))).join(' ');
}

export function curl(origin, operation, request) {
  if (!request) return '';
  return `curl -sS ${shellQuote(`${origin}/api/v1/${operation}`)} -H 'Content-Type: application/json' --data-binary ${shellQuote(asciiControls(request))}`;
}

/** JSON with everything that hides written as JSON's own escapes, so that it stays the same request. */
function asciiControls(json) {
  return json.replace(/[^]/gu, (c) => (visible(c) === c ? c
    : c.split('').map((unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')).join('')));
}

/** One word of a POSIX shell. */
function shellQuote(s) {
  return /^[\w\-=:.,/@%+]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`;
}
