import { h } from './dom.js'
import { listHash, routeHash } from './route.js'

/** What is shown in place of a page, an actor or a resource that does not exist. */
export class MissingPage {
  element

  /** @param {string} project @param {string | null} [reason] why a page that exists cannot be shown */
  constructor(project, reason = null) {
    this.element = h(
      'div',
      { class: 'page' },
      h('div', { class: 'view-head' }, h('h1', {}, reason === null ? 'Not found' : 'This page cannot be shown')),
      h(
        'div',
        { class: 'empty' },
        h('p', {}, reason ?? 'What this address names does not exist in your projects, or it was deleted.'),
        h(
          'p',
          { class: 'ways' },
          h('a', { class: 'button', href: routeHash({ view: 'home', project }) }, 'Home'),
          h('a', { href: listHash({ project }) }, 'Sessions'),
          h('span', {}, 'or press ', h('kbd', {}, '/'), ' to find something.'),
        ),
      ),
    )
  }

  async start() {}

  shown() {}

  stop() {}
}
