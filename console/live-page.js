import { h } from './dom.js'
import { render } from './html.js'
import { withNames } from './names.js'

/** @typedef {import('./vendor/preact.js').ComponentChild} Child */

/**
 * Declares a page by what it reads and shows. It reads again at intervals while it is visible, and when `done` is called.
 *
 * @template Data
 * @template {{ project: string }} [P=Place]
 * @param {object} page
 * @param {(place: P, before: Data | null) => Promise<Data>} page.read `before`: what it has read last
 * @param {(shown: { place: P, data: Data, done: () => Promise<void> }) => Child} page.show
 * @param {number} [page.everyMs] 0: it is read once
 */
export const livePage =
  ({ read, show, everyMs = 5_000 }) =>
  (/** @type {P} */ place, /** @type {(error: unknown) => void} `null` when an error is resolved */ notice) => {
    const element = h('div', { class: 'page' })
    let stopped = false
    let timer = 0
    let data = /** @type {Data | null} */ (null)
    // a page that was left says nothing on the one that is shown
    const report = (/** @type {unknown} */ error) => {
      if (!stopped) notice(error)
    }
    const refresh = async () => {
      // after the names of all that it mentions
      const next = await withNames(place.project, await read(place, data))
      if (stopped) return
      data = next
      render(show({ place, data, done }), element)
    }
    const done = () => refresh().catch(report)
    const schedule = () => {
      if (stopped || everyMs === 0) return
      timer = setTimeout(async () => {
        if (document.visibilityState === 'visible') await refresh().then(() => report(null), report)
        schedule()
      }, everyMs)
    }
    /** @throws {import('./api.js').ApiError} when the first read fails */
    const start = async () => {
      await refresh()
      schedule()
    }
    const stop = () => {
      stopped = true
      clearTimeout(timer)
      render(null, element)
    }
    return { element, start, shown: () => {}, stop }
  }
