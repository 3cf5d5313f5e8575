// Addresses that people can read: /?example=ID&exits=main%3D137&k8s=1.36. views.ReadAddress reads
// the same.

const gatePrefix = 'gate.';
const lab = ['view', 'run', 'outage', 'cap'];

/** What an address says, laid over an example {exits, version, validation, gates, …}. */
export function readAddress(example, query) {
  const exits = query.get('exits') ?? (query.has('exit') ? query.getAll('exit').join(', ') : example.exits);
  const gates = {...example.gates};
  for (const [name, value] of query) {
    if (name.startsWith(gatePrefix) && /^(?:true|false)$/.test(query.get(name))) gates[name.slice(gatePrefix.length)] = query.get(name);
  }
  const more = Object.fromEntries(lab.filter((name) => query.has(name)).map((name) => [name, query.get(name)]));
  const proposals = query.has('proposal') ? query.getAll('proposal') : example.proposals;
  return {...example, ...more, ...(proposals && {proposals}), exits, gates, version: query.get('k8s') || example.version, validation: query.get('validation') || example.validation};
}

/**
 * The address of a form whose texts are those of an example; undefined if they are not, or if it
 * leaves a gate to its release that the example sets: then only a link that holds everything says
 * it.
 */
export function addressOf(form, example) {
  if (!example || form.old || form.static || form.template || form.view === 'compare' && form.other && form.other !== form.manifest || form.manifest !== example.manifest || form.pods !== (example.pods ?? '')) return undefined;
  if (Object.keys(example.gates ?? {}).some((name) => !(name in form.gates))) return undefined;
  const query = new URLSearchParams({example: example.id});
  if (form.exits !== example.exits) query.set('exits', form.exits);
  if (form.version !== example.version) query.set('k8s', form.version);
  if (form.validation !== (example.validation || 'Strict')) query.set('validation', form.validation);
  for (const [name, value] of Object.entries(form.gates)) if (example.gates?.[name] !== value) query.set(gatePrefix + name, value);
  for (const name of lab) if (form[name]) query.set(name, form[name]);
  for (const name of form.proposals ?? []) query.append('proposal', name);
  return '?' + String(query).replace(/%3A/g, ':').replace(/%40/g, '@').replace(/%2C/g, ',');
}
