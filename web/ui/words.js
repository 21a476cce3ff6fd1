// Facts in words: times, sizes, states. Everything that depends on the time is computed when painted.

let zone; // in which days are cut; undefined is the browser's own
let clockFormat, weekFormat, dayFormat, yearFormat, longFormat, secondFormat, partsFormat;

/** setZone names the zone of all clocks and days. One that the browser does not know is the browser's own. */
export function setZone(name) {
  if (clockFormat && (name || undefined) === zone) return;
  zone = name || undefined;
  const make = o => {
    try { return new Intl.DateTimeFormat('en-GB', { ...o, timeZone: zone }); } catch { return new Intl.DateTimeFormat('en-GB', o); }
  };
  clockFormat = make({ hour: '2-digit', minute: '2-digit' });
  secondFormat = make({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
  weekFormat = make({ weekday: 'short' });
  dayFormat = make({ day: 'numeric', month: 'short' });
  yearFormat = make({ day: 'numeric', month: 'short', year: 'numeric' });
  longFormat = make({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' });
  partsFormat = make({ hourCycle: 'h23', hour: 'numeric', minute: 'numeric', second: 'numeric', year: 'numeric' });
  today.until = 0;
}

/** zoneName is how the page says where days are cut. */
export const zoneName = () => clockFormat.resolvedOptions().timeZone;

/** today is the first instant of today and yesterday in the zone, kept until midnight. */
export function today(now = Date.now()) {
  if (now < today.until && now >= today.from) return today;
  const start = at => {
    const p = Object.fromEntries(partsFormat.formatToParts(at).map(x => [x.type, +x.value]));
    return at - (p.hour * 3600 + p.minute * 60 + p.second) * 1000 - at % 1000;
  };
  today.from = start(now);
  // Half a day before midnight is surely yesterday, also when the clocks were changed.
  today.yesterday = start(today.from - 12 * 3600e3);
  today.until = today.from + 23 * 3600e3 > now ? today.from + 23 * 3600e3 : now + 60e3;
  today.year = +Object.fromEntries(partsFormat.formatToParts(now).map(x => [x.type, x.value])).year;
  return today;
}

export const clock = at => clockFormat.format(at);
export const clockSeconds = at => secondFormat.format(at);
export const whenLong = at => longFormat.format(at);

/** ago is how long back an instant lies: seconds, minutes, today by clock, then the day. */
export function ago(at, now = Date.now()) {
  if (at == null) return '–';
  const s = Math.floor((now - at) / 1000);
  if (s < -60) return whenShort(at, now);
  if (s < 5) return 'now';
  if (s < 60) return s + ' s';
  if (s < 3600) return Math.floor(s / 60) + ' min';
  return whenShort(at, now);
}

/** whenShort is an instant as a list shows it. */
export function whenShort(at, now = Date.now()) {
  const t = today(now);
  if (at >= t.from && at < t.from + 25 * 3600e3) return clock(at);
  if (at < t.from && at >= t.from - 6 * 86400e3) return weekFormat.format(at) + ' ' + clock(at);
  const year = +Object.fromEntries(partsFormat.formatToParts(at).map(x => [x.type, x.value])).year;
  return (year === t.year ? dayFormat : yearFormat).format(at);
}

/** span is a length of time. */
export function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000)), m = Math.floor(s / 60), hr = Math.floor(m / 60), d = Math.floor(hr / 24);
  return d ? d + ' d ' + hr % 24 + ' h' : hr ? hr + ' h ' + m % 60 + ' min' : m ? m + ' min ' + s % 60 + ' s' : s + ' s';
}

/** num groups digits: 105,900. */
export const num = n => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
export const many = (n, one, more) => num(n) + ' ' + (n === 1 ? one : more || one + 's');

const words = { working: 'Working', idle: 'Idle', shell: 'Shell', starting: 'Starting' };
const ends = { ended: 'Exited', killed: 'Ended by you', lost: 'Its process went away untold' };

/** stateOf is the pill of a row: [kind, word, title]. */
export function stateOf(r) {
  const l = r.live;
  if (r.busy) return ['starting', r.busy[0].toUpperCase() + r.busy.slice(1) + '…', 'An action is under way on it'];
  if (l) {
    if (l.pill === 'waiting') return ['waiting', l.wait ? 'Waits: ' + l.wait : 'Waits', l.ask];
    if (words[l.pill]) return [l.pill, words[l.pill], l.caution];
    return ['raw', l.raw || 'unknown', 'The agent reports a status Tower does not know'];
  }
  if (r.status === 'starting') return ['starting', 'Starting', 'Launched, not yet heard of'];
  if (r.status === 'live') return ['raw', 'No reading', 'It was running when last seen; nobody can say what it does now'];
  if (r.end_reason === 'launch_failed') return ['bad', 'Failed', 'Its launch failed'];
  const why = ends[r.status] || r.status;
  return ['ended', 'Ended', r.status === 'ended' && r.end_reason ? why + ' (' + r.end_reason.replaceAll('_', ' ') + ')' : why];
}

/** ctxOf is the context of a row: percent is null when there is no reading of either part. Never rounded up. */
export function ctxOf(r) {
  if (r.context_tokens == null) return { percent: null, text: 'no reading', title: 'The transcript has not said yet' };
  if (!r.context_window) return { percent: null, text: num(r.context_tokens), title: num(r.context_tokens) + ' tokens of a window whose size is not known' };
  const percent = Math.floor(r.context_tokens * 100 / r.context_window);
  return { percent, text: percent + ' %', stale: r.context_stale, title: num(r.context_tokens) + ' of ' + num(r.context_window) + ' tokens' + (r.context_stale ? ', measured before the last compaction' : '') };
}

/** base is the last part of a folder. */
export const base = path => (path || '').replace(/[\\/]+$/, '').split(/[\\/]/).pop();
