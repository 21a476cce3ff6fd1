// One session in the list: its node, and how it is painted in place.
import { h } from './dom.js';
import { stateOf, ctxOf } from './words.js';
import { stateCell, titleCell, agentCell, projectCell, modelCell, ctxCell, turnsCell, closeCell, ageCell } from './cells.js';

/** columns of the grid, in order: class, heading, cell. */
export const columns = [
  ['c-state', 'State', stateCell], ['c-title', 'Title', titleCell], ['c-agent', 'Agent', agentCell], ['c-proj cut two', 'Project', projectCell],
  ['c-model cut three', 'Model', modelCell], ['c-ctx', 'Context', ctxCell], ['c-turns two', 'Turns', turnsCell], ['c-close', 'Closeout', closeCell], ['c-age three', 'Last', ageCell],
];

/** header is the row of headings. */
export function header() {
  return h('div', { class: 'hd', role: 'row', 'aria-rowindex': 1 }, columns.map(([cls, name]) => h('div', { class: cls.split(' ')[0], role: 'columnheader' }, name)));
}

/** makeRow builds the node of a session. paint(row) writes what changed; tick(now) writes what the clock changes. */
export function makeRow(id, agents, jump) {
  const cells = columns.map(([cls, , make]) => {
    const c = make(agents, jump);
    return { ...c, box: h('div', { class: cls, role: 'gridcell' }, c.node) };
  });
  const node = h('div', { class: 's', role: 'row', tabindex: '-1', 'aria-expanded': 'false', 'data-id': id }, cells.map(c => c.box));
  const age = cells[cells.length - 1];
  let row = null, kind = '', label = '';
  return {
    node,
    paint(r) {
      const first = row === null, now = Date.now();
      row = r;
      const k = stateOf(r)[0];
      if (k !== kind) {
        kind = k;
        node.className = 's ' + k + (r.live || r.status === 'starting' || r.status === 'live' ? '' : ' over');
      }
      for (const c of cells) c.paint(r, first, now);
      const said = [r.title || r.first_message || 'No title yet', stateOf(r)[1], (agents.get(r.agent) || { display: r.agent }).display, 'context ' + ctxOf(r).text].join(', ');
      if (said !== label) node.setAttribute('aria-label', label = said);
    },
    tick(now) { age.paint(row, false, now); },
  };
}
