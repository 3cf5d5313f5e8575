// <pod-fate>: an example in somebody else's page. Around an ordinary <pre> with a manifest, and a
// table with the answer for readers without scripts, it puts a bar with a button; only that button
// loads the module and what paints its answers. This file is all that a page loads for embeds that
// nobody touches. README.md of plugins/js lists the attributes.

/** The part of the sheet that an untouched embed needs. */
const css = `:host { display: block; margin: 1em 0; border: 1px solid light-dark(#d9dde3, #343a43); border-radius: 6px; overflow: hidden; color: light-dark(#1b1f24, #e8eaed); background: light-dark(#fff, #14171b) }
:host([hidden]) { display: none }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: .5em; padding: .5em .8em; font: 600 .875em/1.4 system-ui, sans-serif; background: light-dark(#f6f7f9, #1d2127) }
.bar b { flex: 1 }
button { font: inherit; color: inherit; min-height: 2.3em; padding: .2em .9em; border: 1px solid light-dark(#8a919c, #7b8490); border-radius: 4px; background: light-dark(#fff, #14171b); cursor: pointer }
:focus-visible { outline: 3px solid light-dark(#0b57b8, #8ab8ff); outline-offset: 2px }
::slotted(*) { margin-block: 0 !important }
@media print { .bar { display: none } }`;

const text = {run: 'Run: what does it do?', loading: 'Loading …', failed: 'It cannot be answered here: '};

class PodFate extends (globalThis.HTMLElement ?? Object) {
  #bar;

  connectedCallback() {
    if (this.shadowRoot) return;
    const root = this.attachShadow({mode: 'open', delegatesFocus: true});
    const sheet = new CSSStyleSheet(); // constructed: no policy of a page forbids it
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
    const [bar, title, run] = ['div', 'b', 'button'].map((name) => document.createElement(name));
    bar.className = 'bar';
    title.textContent = this.title || 'Kubernetes' + (this.getAttribute('k8s') ? ' ' + this.getAttribute('k8s') : '');
    run.textContent = text.run;
    run.type = 'button';
    run.onclick = () => this.run();
    bar.append(title, run);
    root.append(bar, document.createElement('slot'));
    if (!this.hasAttribute('role')) this.setAttribute('role', 'group');
    if (!this.hasAttribute('aria-label')) this.setAttribute('aria-label', `Example for Podfate: ${title.textContent}`);
    const height = this.getAttribute('height');
    if (/^\d{1,4}(?:px|rem|em|vh)?$/.test(height)) this.style.minHeight = height + (/\d$/.test(height) ? 'px' : ''); // kept free from the start
    this.#bar = {bar, run};
  }

  /**
   * Asks what the example asks, as the button does; the first call of a page loads what answers.
   */
  async run() {
    const {run} = this.#bar;
    if (run.disabled) return;
    run.disabled = true;
    run.textContent = text.loading;
    try {
      const base = this.getAttribute('base');
      // A bundler finds the second form, and copies what it names.
      const part = base ? await import(new URL('embed-run.js', new URL(base.replace(/\/?$/, '/'), document.baseURI)).href) : await import('./embed-run.js');
      await part.open(this, this.#bar.bar);
    } catch (error) {
      run.disabled = false;
      run.textContent = text.run;
      let note = this.shadowRoot.querySelector('[role=alert]');
      if (!note) this.#bar.bar.append(note = document.createElement('span'));
      note.setAttribute('role', 'alert');
      note.textContent = text.failed + error.message;
    }
  }
}

if (globalThis.customElements && !customElements.get('pod-fate')) customElements.define('pod-fate', PodFate);
