import { hasTalk } from './talk-panel.js'

/** @typedef {'talk' | 'steps' | 'log' | 'time' | 'messages' | 'context' | 'pages'} Tab */

/** @type {readonly (readonly [Tab, string])[]} */
const tabs = [
  ['steps', 'Steps'],
  ['log', 'Log'],
  ['time', 'Waterfall'],
  ['messages', 'Messages'],
  ['context', 'Context'],
]

/**
 * The tabs of an actor. A saved bundle does not contain the pictures of a job's pages.
 *
 * @param {{ machine: string } | null} actor
 * @param {boolean} live
 * @returns {readonly (readonly [Tab, string])[]}
 */
export const tabsOf = (actor, live) => {
  if (actor !== null && hasTalk(actor)) return [['talk', 'Conversation'], ...tabs]
  return actor?.machine === 'browser_job' && live ? [...tabs, ['pages', 'Pages']] : tabs
}
