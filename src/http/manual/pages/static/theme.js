/** Runs before the page is painted, so that it never flashes in the other theme, which the console remembers, too. */
try {
  const theme = localStorage.getItem('spanhouse.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // The browser keeps nothing: the system's theme, then.
}
