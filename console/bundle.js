import { h } from './dom.js'
import { serverNow } from './server-time.js'

/**
 * Saves what a page knows of an actor as a file, so that another person can look at it.
 *
 * @param {string} id
 * @param {object} content
 */
export const downloadBundle = (id, content) => {
  const text = JSON.stringify({ bundle: 1, id, saved_at: serverNow().toISOString(), ...content }, null, 1)
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = h('a', { href: url, download: `${id}.json` })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
