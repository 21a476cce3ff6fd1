// The one configured colour. It is moved in lightness by 2 % at a time until it can be read on the surface.

const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i;
const surfaces = { light: '#ffffff', dark: '#14181d' };
const parse = c => hex.exec(c).slice(1).map(x => parseInt(x, 16));
const format = c => '#' + c.map(x => Math.round(x).toString(16).padStart(2, '0')).join('');
const mix = (a, b, part) => a.map((x, i) => x * part + b[i] * (1 - part));

function luminance(c) {
  const [r, g, b] = c.map(x => (x /= 255) <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
}

/** contrast of two colours, 1 to 21. */
export function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + .05) / (Math.min(x, y) + .05);
}

function toHSL([r, g, b]) {
  r /= 255; g /= 255; b /= 255;
  const max = Math.max(r, g, b), min = Math.min(r, g, b), d = max - min, l = (max + min) / 2;
  if (!d) return [0, 0, l];
  const s = d / (1 - Math.abs(2 * l - 1));
  const hue = max === r ? (g - b) / d % 6 : max === g ? (b - r) / d + 2 : (r - g) / d + 4;
  return [hue * 60, s, l];
}

function fromHSL([hue, s, l]) {
  const a = s * Math.min(l, 1 - l);
  return [0, 8, 4].map(n => {
    const k = (n + hue / 30 + 12) % 12;
    return 255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  });
}

/** shades returns the accent's three tokens for a theme. */
export function shades(color, theme) {
  const surface = parse(surfaces[theme]), step = theme === 'dark' ? .02 : -.02;
  const hsl = toHSL(parse(color));
  const tint = c => mix(c, surface, theme === 'dark' ? .2 : .11);
  let c = fromHSL(hsl);
  while ((contrast(c, surface) < 4.5 || contrast(c, tint(c)) < 4.5) && hsl[2] > 0 && hsl[2] < 1) {
    hsl[2] = Math.min(1, Math.max(0, hsl[2] + step));
    c = fromHSL(hsl);
  }
  const dark = [10, 26, 51], white = [255, 255, 255];
  return { accent: format(c), on: format(contrast(c, white) >= contrast(c, dark) ? white : dark), tint: format(tint(c)) };
}

/** setAccent applies a configured colour to the page; what is no colour leaves the built-in pair. */
export function setAccent(color) {
  const root = document.documentElement;
  if (!hex.test(color || '')) {
    for (const n of ['--accent', '--on-accent', '--accent-bg']) root.style.removeProperty(n);
    return;
  }
  const s = shades(color, root.dataset.theme);
  root.style.setProperty('--accent', s.accent);
  root.style.setProperty('--on-accent', s.on);
  root.style.setProperty('--accent-bg', s.tint);
}
