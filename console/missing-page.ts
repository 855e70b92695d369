import { h } from './dom.ts'
import { html, render } from './html.ts'
import { Empty } from './parts/empty.ts'
import { listHash, routeHash } from './route.ts'

/**
 * What is shown in place of a page, an actor or a resource that does not exist.
 *
 * @param reason why a page that exists cannot be shown
 */
export const missingPage = (project: string, reason: string | null = null) => {
  const element = h('div', { class: 'page' })
  const about = reason ?? 'What this address names does not exist in your projects, or it was deleted.'
  render(
    html`<div class="view-head"><h1>${reason === null ? 'Not found' : 'This page cannot be shown'}</h1></div>
      <${Empty} drawn="stuck" title=${about} create=${routeHash({ view: 'home', project })} verb="Home">
        <p><a href=${listHash({ project })}>Sessions</a>, or press <kbd>/</kbd> to find something.</p>
      <//>`,
    element,
  )
  return { element, start: async () => {}, shown: () => {}, stop: () => {} }
}
