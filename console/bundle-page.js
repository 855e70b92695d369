import { bundleSource } from './actor-source.js'
import { ActorView } from './actor-view.js'
import { readBundle } from './bundle.js'
import { h } from './dom.js'
import { html, render } from './html.js'
import { Empty } from './parts/empty.js'

/** A page that opens saved actors from a chosen file, or one dropped anywhere on the page. */
export class BundlePage {
  #report
  #project
  element = h('div', { class: 'page' })
  /** @type {ActorView | null} */
  #view = null

  /** @param {string} project @param {(error: unknown) => void} report */
  constructor(project, report) {
    this.#project = project
    this.#report = report
    render(
      html`<div class="view-head"><h1>Open a bundle</h1></div>
        <${Empty} drawn="runs" title="A saved session, run or other actor."><p>Drop a file anywhere that was saved with “Save bundle” on an actor's page.</p>
          <label class="attach button">Choose a file<input type="file" accept=".json,application/json" onChange=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLInputElement && currentTarget.files?.[0] && void this.open(currentTarget.files[0])} /></label><//>`,
      this.element,
    )
  }

  async start() {}

  shown() {
    this.#view?.shown()
  }

  stop() {
    this.#view?.stop()
  }

  /** @param {File} file */
  async open(file) {
    try {
      const bundle = await readBundle(file)
      const view = new ActorView(
        { project: this.#project, id: bundle.id, operates: false, source: bundleSource(bundle) },
        this.#report,
      )
      await view.start()
      this.#view?.stop()
      this.#view = view
      this.element.replaceChildren(view.element)
      this.element.className = 'page bundle'
      view.shown()
      this.#report(null)
    } catch (error) {
      this.#report(error)
    }
  }
}
