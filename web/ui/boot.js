// Before the first paint: the theme, so that a dark room stays dark.
(function () {
  var asked = new URLSearchParams(location.search).get('theme'), kept = null;
  try { kept = localStorage.getItem('tower.theme'); } catch (e) { /* storage switched off */ }
  var theme = asked === 'light' || asked === 'dark' ? asked : kept;
  if (theme !== 'light' && theme !== 'dark') theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = theme;
})();
