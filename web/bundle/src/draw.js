// The shapes of drawings: whole numbers, so that both painters draw the same. The names of the
// functions are those of views/draw.go.
const [letter, most, flagTop, flagHeight, flagRows] = [140, 10_000, 24, 18, 2];
const hundredths = (n, all) => (all > 0 ? Math.floor((n * most) / all) : 0);
const share = (n) => `${n / 100}%`;
export const percent = (n, all) => share(hundredths(n, all));

/**
 * Where an instant lies on the axis of a drawing, in hundredths of a per cent. With the scale log
 * it is log(1 + t/12s), so that 0 is on the axis and the first waits of a back-off are as wide as
 * the later ones; with stops these are equally far apart.
 */
export function placeOf(ms, {untilMillis: until, scale, stops}) {
  if (scale === 'log' && until > 0) return Math.floor((Math.log1p(ms / 12_000) / Math.log1p(until / 12_000)) * most);
  if (!stops) return hundredths(ms, until);
  const i = Math.max(stops.findIndex((stop) => stop >= ms), 1);
  return Math.floor(((i - 1 + (ms - stops[i - 1]) / (stops[i] - stops[i - 1])) / (stops.length - 1)) * most);
}

export const laneHeight = (l) => (l.kind === 'phase' ? 26 : l.flags.length === 0 ? flagTop : flagTop + flagRows * (flagHeight + 2));
const flagText = ({text, n}) => (n > 1 ? `${text}×${n}` : text);
const flagWidth = (f) => letter * (flagText(f).length + 1);

function flagsOf(l, b) {
  const list = [];
  const last = [];
  for (const f of l.flags) {
    const x = placeOf(f.atMillis, b);
    for (let row = 0; row < flagRows; row++) {
      const before = last[row];
      if (!before || x >= before.x + flagWidth(before) + letter / 2) {
        list.push(last[row] = {...f, x, row, n: 1});
        break;
      }
      if (before.text === f.text) {
        before.n++;
        break;
      }
    }
  }
  return list;
}

export function drawLane(l, b) {
  const phase = l.kind === 'phase';
  const shapes = [];
  for (const bar of l.bars) {
    let x = placeOf(bar.fromMillis, b);
    let width = Math.max(placeOf(bar.toMillis, b) - x, 20);
    if (bar.kind === 'on') [x, width] = [most - 60, 60];
    shapes.push({name: `${bar.kind} ${bar.tone}`, x: share(x), y: phase ? 0 : 2, width: share(width), height: phase ? 4 : 18});
    if (!bar.text || bar.kind === 'on' || width < letter * ([...bar.text].length + 1)) continue;
    shapes.push(phase ? {name: 'start', x: share(x), y: 18, text: bar.text} : {name: 'middle', x: share(x + Math.floor(width / 2)), y: 15, text: bar.text});
  }
  for (const band of b.bands) shapes.push({name: 'band ' + band.tone, x: share(placeOf(band.atMillis, b)), y: 0, width: '2px', height: laneHeight(l)});
  for (const f of flagsOf(l, b)) {
    const [y, width] = [flagTop + f.row * (flagHeight + 2), flagWidth(f)];
    const x = Math.min(f.x, most - width);
    shapes.push({name: 'flag ' + f.tone, x: share(x), y, width: share(width), height: flagHeight, 'data-at': f.atMillis, ...(f.line > 0 && {'data-line': f.line})},
      {name: 'middle', x: share(x + Math.floor(width / 2)), y: y + 13, text: flagText(f)});
  }
  return shapes;
}

/** The distances between labels of the axis, in milliseconds. */
const steps = [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000,
  3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000];

export function drawAxis(b) {
  const until = b.untilMillis;
  if (b.scale) {
    let last = -most;
    return (b.stops ?? [0, ...steps]).flatMap((ms) => {
      const at = placeOf(ms, b);
      if (ms > until || at < last + 1300) return [];
      last = at;
      return tick(ms, share(at), at > 9000);
    });
  }
  let step = steps.find((ms) => until <= 6 * ms) ?? steps.at(-1);
  while (until > 6 * step) step *= 2;
  const shapes = [];
  for (let ms = 0; ms <= until; ms += step) {
    shapes.push(...tick(ms, percent(ms, until), ms > Math.floor((until * 9) / 10)));
  }
  return shapes;
}

const tick = (ms, x, end) => [{name: 'tick', x, y: 0, width: '1px', height: 5}, {name: end ? 'end' : 'start', x, y: 17, text: duration(ms)}];

export function drawPlot({series: [{tone, points}]}) {
  const highest = Math.max(1, ...points.map(([, y]) => y));
  return points.map(([, y], i) => {
    const height = Math.floor((y * 120) / highest);
    const [from, to] = [hundredths(i, points.length), hundredths(i + 1, points.length)];
    return {name: tone, x: share(from), y: 120 - height, width: share(Math.max(to - from - 10, 10)), height};
  });
}

/** Milliseconds as Kubernetes writes lengths of time: 1m30s, 0.5s. */
function duration(ms) {
  const [hours, minutes, rest] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, ms % 60_000];
  return (hours > 0 ? hours + 'h' : '') + (minutes > 0 ? minutes + 'm' : '') + (rest > 0 || ms < 60_000 ? rest / 1000 + 's' : '');
}
