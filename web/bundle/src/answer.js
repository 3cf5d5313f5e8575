// What the page shows of an answer: the answer's JSON, with the places and quotations that views.ReadAnswer adds on the
// server. The two are held together by testdata/answers.

/**
 * Makes the answer of a page. request and answer are the JSON texts; locate gives [line, column] of a path of the
 * manifest; relocate gives those of a column of the request, undefined if the answer has them already. Of what a step
 * looked at, looked is what stands there: the page makes a quotation of it.
 */
export function readAnswer(operation, request, answer, locate, relocate) {
  const a = {operation, request, ...JSON.parse(answer)};
  const {manifest, cluster} = JSON.parse(request || '{}') ?? {};
  if (a.error?.code === 'MANIFEST_INVALID') a.cluster = cluster; // an error does not repeat the version that refuses
  const place = (path, of) => {
    if (!of.line) [of.line, of.column] = locate(path);
  };
  const move = (f) => {
    if (relocate && f.line) [f.line, f.column] = relocate(f.column);
    if (relocate && f.code === 'duplicate_field') { // the one sentence with places in it; the request has one line
      f.detail = f.detail?.replace(/line 1, column (\d+)/g, (words, column) => {
        const [line, at] = relocate(Number(column));
        return line ? `line ${line}, column ${at}` : words;
      });
    }
    if (f.path && control(f.path) === '') place(f.path, f);
  };
  const fault = (f) => {
    if (/^(?:pods)?$/.test(control(f.path))) move(f);
    else f.line = f.column = 0;
  };
  for (const d of a.decisions ?? []) {
    const decider = d.undecided ?? d.decidedBy;
    place(decider.path, decider);
    for (const step of d.trace) {
      place(step.path, step);
      step.looked = at(manifest, step.path);
      if (step.code === 'not_set' && a.dropped?.some((dropped) => dropped.path === step.path)) {
        step.code = 'dropped'; // the kubelet never saw what stands there
      }
    }
  }
  for (const {decidedBy, undecided, trace = []} of a.podDecisions ?? []) {
    if (decidedBy) place(decidedBy.path, decidedBy);
    if (undecided) place(undecided.path, undecided);
    for (const step of trace) {
      place(step.path, step);
      step.looked = at(manifest, step.path);
    }
  }
  for (const {decidedBy} of a.layers?.containers ?? []) decidedBy && place(decidedBy.path, decidedBy);
  const job = manifest?.kind === 'CronJob' ? 'spec.jobTemplate.spec' : 'spec';
  for (const p of a.layers?.pods ?? []) p.rule != null && place(`${job}.podFailurePolicy.rules[${p.rule}]`, p);
  for (const {decidedBy} of a.timeline ?? []) decidedBy && place(decidedBy.path, decidedBy);
  a.undecided = [a.undecided ?? []].flat();
  for (const u of a.undecided) u.path && control(u.path) === '' && place(u.path, u);
  a.faults?.forEach(fault);
  a.warnings?.forEach(fault);
  a.dropped?.forEach(move);
  a.error?.faults?.forEach(fault);
  if (a.error) fault(a.error);
  return a;
}

/** The value at a path whose names are plain. */
function at(value, path) {
  for (const name of path.split(/[.[\]]+/).filter(Boolean)) value = value?.[name];
  return value;
}

/** The id of the form's control that a path of the request speaks of, '' for a path of the manifest. */
export function control(path = '') {
  if (/^(?:until$|exits(?:\[|$)|runs(?:[.[]|$)|events\[|timing)/.test(path)) return 'exits';
  if (/^pods(?:\[|$)/.test(path)) return 'pods';
  if (path === 'cluster.version') return 'version';
  if (path.startsWith('cluster.featureGates')) return 'gates';
  return path === 'fieldValidation' ? 'validation' : '';
}
