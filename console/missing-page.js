import { h } from './dom.js'
import { html, render } from './html.js'
import { Empty } from './parts/empty.js'
import { listHash, routeHash } from './route.js'

/** What is shown in place of a page, an actor or a resource that does not exist. @param {string} project @param {string | null} [reason] why a page that exists cannot be shown */
export const missingPage = (project, reason = null) => {
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
