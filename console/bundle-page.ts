import { bundleSource } from './actor-source.ts'
import { ActorView } from './actor-view.ts'
import { readBundle } from './bundle.ts'
import { h } from './dom.ts'
import { html, render } from './html.ts'
import { Empty } from './parts/empty.ts'

/** A page that opens saved actors from a chosen file, or one dropped anywhere on the page. */
export const bundlePage = (project: string, report: (error: unknown) => void) => {
  const element = h('div', { class: 'page' })
  let view: ActorView | null = null
  const open = async (file: File) => {
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
        <label class="button focus-within:rounded-7 focus-within:outline-2 focus-within:outline-accent">Choose a file<input class="absolute size-1 opacity-0" type="file" accept=".json,application/json" onChange=${({ currentTarget }: Event) => currentTarget instanceof HTMLInputElement && currentTarget.files?.[0] && void open(currentTarget.files[0])} /></label><//>`,
    element,
  )
  return { element, open, start: async () => {}, shown: () => view?.shown(), stop: () => view?.stop() }
}
