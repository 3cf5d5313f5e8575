// The same question as a shell command; views.CommandLine and views.Curl make the same.
import {asking} from './operation.js';
import {visible} from './visible.js';

export function commandLine(form, operation, request) {
  const words = beginning(form, operation, request);
  if (!words) return request && `printf %s ${shellQuote(asciiControls(request))} | podfate ${operation} -f -`;
  const curve = operation === 'curve';
  if (form.version && form.view !== 'versions') words.push('--kubernetes-version', form.version);
  const gates = Object.entries(form.gates).map(([name, value]) => `${name}=${value}`).sort().join();
  if (gates) words.push('--feature-gates', gates);
  if (form.validation && form.validation !== 'Strict' && !curve) words.push(`--validate=${form.validation.toLowerCase()}`);
  for (const proposal of form.proposals ?? []) words.push('--proposal', proposal);
  if (form.template && !curve) words.push('--template', form.template);
  if (operation === 'validate') {
    if (form.old?.trim()) words.push('--old', 'old.yaml');
    if (form.static) words.push('--static');
  } else if (operation !== 'table' && !curve && asking.test(form.exits)) {
    words.push('--question', form.exits.trim());
  }
  return words.map((word) => shellQuote(visible(word))).join(' ');
}

/**
 * The command with what it reads, and of the views what they ask; undefined if flags do not say
 * that.
 */
function beginning(form, operation, request) {
  const words = ['podfate', operation], pods = form.pods?.trim();
  if (operation === 'curve') {
    if (form.offer || form.view !== 'backoff') return;
    words.push('--run', form.run?.trim() || '10s');
    if (form.outage?.trim()) words.push('--outage', form.outage.trim());
    if (form.cap?.trim()) words.push('--max', form.cap.trim());
    return words;
  }
  if (operation === 'compare') {
    if (form.offer || form.static || pods || form.old?.trim() || !/^(?:versions|compare)$/.test(form.view) || !request) return;
    const asked = JSON.parse(request), [first, ...others] = asked.variants.map((v) => v.name);
    words.push(...(form.view === 'compare' ? ['pod.yaml', 'other.yaml'] : ['-f', 'pod.yaml', '--from', first, '--to', others.join()]), '--of', asked.of);
    return words;
  }
  if (operation === 'suggest') return;
  return [...words, '-f', ...(pods ? ['job.yaml', '--pods', 'pods.yaml'] : ['pod.yaml'])];
}

export function curl(origin, operation, request) {
  if (!request) return '';
  return `curl -sS ${shellQuote(`${origin}/api/v1/${operation}`)} -H 'Content-Type: application/json' --data-binary ${shellQuote(asciiControls(request))}`;
}

/**
 * JSON with everything that hides written as JSON's own escapes, so that it stays the same request.
 */
function asciiControls(json) {
  return json.replace(/[^ -~]/gu, (c) => (visible(c) === c ? c
    : c.split('').map((unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')).join('')));
}

/** One word of a POSIX shell. */
function shellQuote(s) {
  return /^[\w\-=:.,/@%+]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`;
}
