import { bundleSource } from './actor-source.js'
import { ActorView } from './actor-view.js'
import { readBundle } from './bundle.js'
import { h } from './dom.js'
import { html, render } from './html.js'
import { Empty } from './parts/empty.js'

/** A page that opens saved actors from a chosen file, or one dropped anywhere on the page. @param {string} project @param {(error: unknown) => void} report */
export const bundlePage = (project, report) => {
  const element = h('div', { class: 'page' })
  /** @type {ActorView | null} */
  let view = null
  /** @param {File} file */
  const open = async (file) => {
    try {
      const bundle = await readBundle(file)
      const opened = new ActorView({ project, id: bundle.id, operates: false, source: bundleSource(bundle) }, report)
      await opened.start()
      view?.stop()
      view = opened
      element.replaceChildren(opened.element)
      element.className = 'flex flex-1 flex-col min-h-0'
      opened.shown()
      report(null)
    } catch (error) {
      report(error)
    }
  }
  render(
    html`<div class="view-head"><h1>Open a bundle</h1></div>
      <${Empty} drawn="runs" title="A saved session, run or other actor."><p>Drop a file anywhere that was saved with “Save bundle” on an actor's page.</p>
        <label class="button focus-within:rounded-7 focus-within:outline-2 focus-within:outline-accent">Choose a file<input class="absolute size-1 opacity-0" type="file" accept=".json,application/json" onChange=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLInputElement && currentTarget.files?.[0] && void open(currentTarget.files[0])} /></label><//>`,
    element,
  )
  return { element, open, start: async () => {}, shown: () => view?.shown(), stop: () => view?.stop() }
}
