import { actorPrefixes } from './actor-ids.js'
import { h } from './dom.js'
import { html } from './html.js'
import { routeHash } from './route.js'

const anId = new RegExp(`\\b((?:${actorPrefixes.join('|')})_[0-9a-z]{26})\\b`)

/** A text in parts: every second one is the id of an actor. @param {string} text */
const partsOf = (text) => text.split(anId)

/** Ids in a text as links. @param {string} project @param {string} text */
export const linked = (project, text) =>
  partsOf(text).map((part, index) =>
    index % 2 === 0 ? part : html`<a href=${routeHash({ view: 'actor', project, id: part })}>${part}</a>`,
  )

/**
 * The same as nodes of the page. The links are no stop of the Tab key until their list makes them one: a log has thousands.
 *
 * @param {string} project
 * @param {string} text
 */
export const linkedNodes = (project, text) =>
  partsOf(text).map((part, index) =>
    index % 2 === 0
      ? document.createTextNode(part)
      : h('a', { href: routeHash({ view: 'actor', project, id: part }), tabindex: -1 }, part),
  )
