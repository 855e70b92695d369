import { actorPrefixes } from './actor-ids.js'
import { h } from './dom.js'
import { html } from './html.js'
import { routeHash } from './route.js'

const anId = new RegExp(`\\b((?:${actorPrefixes.join('|')})_[0-9a-z]{26})\\b`)

/** Splits a text; every second part is the id of an actor. @param {string} text */
const partsOf = (text) => text.split(anId)

/** A text with actor ids as links. @param {string} project @param {string} text */
export const linked = (project, text) =>
  partsOf(text).map((part, index) =>
    index % 2 === 0 ? part : html`<a href=${routeHash({ view: 'actor', project, id: part })}>${part}</a>`,
  )

/**
 * The same as DOM nodes. The links are not tab stops until their list makes them so, since a log has thousands.
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
