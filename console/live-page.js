import { h } from './dom.js'
import { render } from './html.js'
import { withNames } from './names.js'
import { Refreshing } from './refreshing.js'
import { sessionNow } from './session.js'

/** The data of a page, after the names of all that it mentions have been read. @template Data @param {Data} data @returns {Promise<Data>} */
const named = (data) => {
  const { project } = sessionNow()
  return project === null ? Promise.resolve(data) : withNames(project, data)
}

/**
 * A page that renders server data and refreshes it regularly.
 *
 * @template Data
 */
export class LivePage {
  element = h('div', { class: 'page' })
  #parts
  #refreshing

  /**
   * @param {object} parts
   * @param {() => Promise<Data>} parts.read
   * @param {(data: Data) => import('./vendor/preact.js').ComponentChild} parts.show
   * @param {number} parts.everyMs
   * @param {(error: unknown) => void} parts.report called with an error, and with null when it is resolved
   */
  constructor(parts) {
    this.#parts = parts
    this.#refreshing = new Refreshing(() => this.refresh(), parts.everyMs, parts.report)
  }

  /** @throws {import('./api.js').ApiError} when the first read fails */
  start() {
    return this.#refreshing.start()
  }

  shown() {}

  stop() {
    this.#refreshing.stop()
    render(null, this.element)
  }

  /** Reads and renders the data now. */
  async refresh() {
    const data = await named(await this.#parts.read())
    if (this.#refreshing.stopped) return
    render(this.#parts.show(data), this.element)
  }
}
