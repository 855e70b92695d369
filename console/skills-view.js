import { chip } from './actor-facts.js'
import { callApi } from './api.js'
import { cell, h } from './dom.js'
import { time } from './format.js'
import { Refreshing } from './refreshing.js'

/**
 * @typedef {{ severity: string, code: string, path: string, line: number, message: string }} Finding
 * @typedef {object} Reviewed
 * @property {(verb: 'publish' | 'reject', body?: object) => Promise<unknown>} decide
 * @property {string} id
 * @property {string} name
 * @property {string} what
 * @property {string} description
 * @property {readonly { readonly path: string }[]} files
 * @property {readonly Finding[]} findings
 * @property {string} created_at
 * @property {boolean} rejects
 */

const refreshMs = 5000
const max = 50
const severities = ['blocker', 'warning', 'info']

/** Skills to review: staged imports and draft versions, with the findings of the scan. */
export class SkillsView {
  element = h('div', { class: 'sessions skills' })
  #project
  #report
  #list = h('div', { class: 'reviews' })
  #nothing = h('p', { class: 'empty' }, 'No skills to review.')
  #shown = ''
  #refreshing

  /**
   * @param {string} project
   * @param {(error: unknown) => void} report called with an error, and with null when it is resolved
   */
  constructor(project, report) {
    this.#project = project
    this.#report = report
    this.#refreshing = new Refreshing(() => this.#refresh(), refreshMs, report)
    const head = h('div', { class: 'view-head' }, h('h1', {}, 'Skills to review'))
    this.element.append(head, this.#list, this.#nothing)
  }

  /** @throws {import('./api.js').ApiError} when the first read fails */
  start() {
    return this.#refreshing.start()
  }

  shown() {}

  stop() {
    this.#refreshing.stop()
  }

  async #refresh() {
    const reviewed = [...(await this.#imports()), ...(await this.#drafts())]
    const text = JSON.stringify(reviewed)
    if (this.#refreshing.stopped || text === this.#shown) return
    this.#shown = text
    this.#list.replaceChildren(...reviewed.map((each) => this.#review(each)))
    this.#nothing.hidden = reviewed.length > 0
  }

  /** @returns {Promise<readonly Reviewed[]>} */
  async #imports() {
    const { data } = await callApi(this.#project, 'skill_imports.list', { query: { status: 'staged', limit: max } })
    return data.map((/** @type {any} */ { id, name, source, url, ...rest }) => ({
      ...rest,
      decide: (/** @type {'publish' | 'reject'} */ verb, /** @type {object} */ body) =>
        callApi(this.#project, `skill_imports.${verb}`, { params: { import_id: id }, body }),
      id,
      name: name ?? id,
      what: `import from ${url ?? source}`,
      rejects: true,
    }))
  }

  /** @returns {Promise<readonly Reviewed[]>} */
  async #drafts() {
    const { data: skills } = await callApi(this.#project, 'skills.list', { query: { limit: max } })
    const drafts = skills.map(async (/** @type {any} */ { id, name }) => {
      const { data } = await callApi(this.#project, 'skill_versions.list', {
        params: { skill_id: id },
        query: { status: 'draft', limit: max },
      })
      return data.map((/** @type {any} */ { version, ...rest }) => ({
        ...rest,
        decide: (/** @type {string} */ _, /** @type {object} */ body) =>
          callApi(this.#project, 'skill_versions.publish', { params: { skill_id: id, version }, body }),
        id: `${id}@${version}`,
        name,
        what: `version ${version}`,
        rejects: false,
      }))
    })
    return (await Promise.all(drafts)).flat()
  }

  /** @param {Reviewed} reviewed */
  #review(reviewed) {
    const { name, what, description, files, findings, created_at, rejects } = reviewed
    const sorted = [...findings].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
    const count = severities
      .map((severity) => [severity, findings.filter((each) => each.severity === severity).length])
      .filter(([, number]) => number !== 0)
      .map(([severity, number]) => `${number} ${severity}${number === 1 ? '' : 's'}`)
    const columns = ['Severity', 'Finding', 'Location', 'Reason']
    const head = h('thead', {}, h('tr', {}, ...columns.map((column) => h('th', { scope: 'col' }, column))))
    const table = h('table', { 'aria-label': `Findings of ${name}` }, head, h('tbody', {}, ...sorted.map(findingRow)))
    return h(
      'section',
      { 'aria-label': `${name}, ${what}` },
      h('h2', {}, name, ' ', h('span', { class: 'muted' }, `${what}, ${time(created_at)}`)),
      h('p', {}, description || 'No description.'),
      h(
        'p',
        { class: 'muted' },
        `${files.map(({ path }) => path).join(', ')} · ${count.join(', ') || 'nothing found'}`,
      ),
      findings.length === 0 ? null : table,
      h(
        'span',
        { class: 'decide' },
        this.#button('Publish', () => this.#publish(reviewed)),
        ...(rejects ? [this.#button('Reject', () => this.#decide(reviewed, 'reject'))] : []),
      ),
    )
  }

  /** @param {string} name @param {() => Promise<void>} act */
  #button(name, act) {
    /** @param {Event} event */
    const click = ({ currentTarget }) => {
      if (!(currentTarget instanceof HTMLButtonElement)) return
      currentTarget.disabled = true
      void act().catch((error) => {
        currentTarget.disabled = false
        this.#report(error)
      })
    }
    return h('button', { type: 'button', class: 'quiet', click }, name)
  }

  /**
   * Publishes a skill. Blockers are overridden with one reason, which the audit log keeps.
   *
   * @param {Reviewed} reviewed
   */
  async #publish(reviewed) {
    const codes = [
      ...new Set(reviewed.findings.filter(({ severity }) => severity === 'blocker').map(({ code }) => code)),
    ]
    if (codes.length === 0) return this.#decide(reviewed, 'publish')
    const reason = prompt(`The scan blocks publication: ${codes.join(', ')}. Reason for publishing anyway:`)
    if (reason === null || reason.trim() === '') return this.#again()
    await this.#decide(reviewed, 'publish', { override: codes.map((code) => ({ code, reason })) })
  }

  /** @param {Reviewed} reviewed @param {'publish' | 'reject'} verb @param {object} [body] */
  async #decide({ decide }, verb, body) {
    await decide(verb, body)
    await this.#again()
  }

  async #again() {
    this.#shown = ''
    await this.#refresh()
  }
}

/** @param {Finding} finding */
const findingRow = ({ severity, code, path, line, message }) =>
  h(
    'tr',
    {},
    cell('Severity', chip(severity)),
    cell('Finding', code),
    cell('Location', `${path}:${line}`),
    cell('Reason', message),
  )
