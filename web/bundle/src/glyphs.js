/** What the marks look like: document.Glyphs says the same. */
export const glyphs = {
  crashloop: '⟲', restart: '↻', restartall: '⟳', stop: '■', failed: '✗', succeeded: '✓', refused: '⊘', ignored: '◌', counted: '+', undecided: '?',
  running: '▸', matched: '✓', notmatched: '✗', notreached: '–', skipped: '–', warning: '!', note: '•', fault: '✗', dropped: '!',
};
