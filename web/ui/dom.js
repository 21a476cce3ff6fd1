// Building and painting. Nothing here asks the document for anything: who builds a node keeps it.

const svgNS = 'http://www.w3.org/2000/svg';

/** h makes an element: h('div', {class: 'x', onclick: f}, 'text', child, [children], null). */
export function h(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const k in attrs) {
    const v = attrs[k];
    if (v == null || v === false) continue;
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children.flat().filter(c => c != null && c !== false));
  return e;
}

/** icon shows one symbol of the sheet. */
export function icon(name, cls) {
  const s = document.createElementNS(svgNS, 'svg'), u = document.createElementNS(svgNS, 'use');
  s.setAttribute('class', cls ? 'g ' + cls : 'g');
  s.setAttribute('aria-hidden', 'true');
  u.setAttribute('href', '#g-' + name);
  s.append(u);
  return s;
}

/** svg makes an SVG element. */
export function svg(tag, attrs, ...children) {
  const e = document.createElementNS(svgNS, tag);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  e.append(...children);
  return e;
}

/** narrow tells whether the page is laid out for one hand; the same width as in widths.css. */
export const narrow = () => matchMedia('(max-width: 45em)').matches;

/** put writes text only when it differs, and tells whether it did. */
export function put(node, text) {
  if (node.textContent === text) return false;
  node.textContent = text;
  return true;
}

/** hint sets or removes a title. */
export function hint(node, text) {
  if (text) { if (node.title !== text) node.title = text; } else if (node.hasAttribute('title')) node.removeAttribute('title');
}

/** flash tints a changed cell once. */
export function flash(node) {
  node.classList.remove('changed');
  void node.offsetWidth; // restarts the tint of a cell that changes twice
  node.classList.add('changed');
  node.addEventListener('animationend', () => node.classList.remove('changed'), { once: true });
}

/** no is a sentence that stands where something was asked: its first sentence is the verdict. */
export function no(text, kind, ...more) {
  const m = /^(.*?[.!?])(\s|$)(.*)$/s.exec(text);
  return h('div', { class: 'no ' + (kind || ''), role: 'status' }, icon(kind === 'sick' ? 'bad' : kind === 'warn' ? 'waiting' : kind === 'plain' ? 'raw' : kind === 'done' ? 'ok' : 'no'),
    h('span', null, m ? [h('b', null, m[1]), m[2], m[3]] : text, ...more));
}

/** pill is a state: its glyph, its word, its colour, in that order of weight. */
export function pill(kind, word, title) {
  return h('span', { class: 'st ' + kind, title }, icon(kind), h('span', null, word));
}

/** copy puts text on the clipboard and says so on the button. */
export async function copy(text, button) {
  const said = button.lastChild, before = said.textContent;
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = 'Copied';
  } catch {
    said.textContent = 'Not copied';
  }
  setTimeout(() => { said.textContent = before; }, 1600);
}
