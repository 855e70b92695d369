import { callApi } from './api.js'
import { time } from './format.js'
import { html } from './html.js'
import { linked } from './linked-ids.js'
import { LivePage } from './live-page.js'
import { CsvButton } from './parts/csv-button.js'
import { Pages } from './parts/pages.js'
import { QueryForm } from './parts/query-form.js'
import { nothing, Table } from './parts/table.js'
import { hashAt } from './route.js'

/**
 * @typedef {import('./parts/query-form.js').Place} Place
 * @typedef {{ id: string, action: string, actor: { kind: string, id: string | null }, resource: { type: string, id: string, name: string | null }, changes: readonly string[], tenant_id: string | null, reason: string | null, created_at: string }} Line
 * @typedef {{ data: readonly Line[], next_cursor: string | null }} Lines
 */

const pageSize = 50
/** Of a file. */
const maxPage = 100

const fields = [
  { name: 'action', label: 'Action' },
  { name: 'resource_id', label: 'Resource' },
  { name: 'actor_id', label: 'By' },
]

/**
 * Who did what, newest first.
 *
 * @param {Place} place
 * @param {(error: unknown) => void} report
 */
export const auditPage = (place, report) =>
  new LivePage({
    /** @returns {Promise<Lines>} */
    read: () => readLines(place, place.query.after, pageSize),
    show: (lines) => html`<${Audit} place=${place} lines=${lines} />`,
    everyMs: 0,
    report,
  })

/** @param {Place} place @param {string | undefined} cursor @param {number} limit */
const readLines = ({ project, query: { action, resource_id, actor_id } }, cursor, limit) =>
  callApi(project, 'audit_log.list', { query: { limit, action, resource_id, actor_id, cursor } })

/** @param {{ place: Place, lines: Lines }} props */
const Audit = ({ place, lines: { data, next_cursor } }) => html`
  <div class="view-head"><h1>Audit log</h1><span class="muted">Every change that a person or a key made, with its reason.</span><${CsvButton} name="Audit log" read=${(/** @type {string | undefined} */ cursor) => readLines(place, cursor, maxPage)} /></div>
  <${QueryForm} place=${place} label="Filters" button="Apply" fresh=${['after']} fields=${fields} />
  <section class="panel" aria-label="Entries">
    ${
      data.length === 0
        ? html`<p class="panel-part muted">No entries match.</p>`
        : html`<${Table} label="Entries" columns=${['Time', 'Action', 'By', 'Resource', 'Changed', 'Reason']} rows=${data.map(
            (line) => ({
              key: line.id,
              cells: [
                html`<time datetime=${line.created_at}>${time(line.created_at)}</time>`,
                line.action.replaceAll('_', ' ').replace('.', ' '),
                line.actor.id ?? line.actor.kind,
                html`${line.resource.name ?? ''} ${linked(place.project, line.resource.id)}`,
                line.changes.join(', ') || nothing,
                line.reason ?? nothing,
              ],
            }),
          )} />`
    }
  </section>
  <${Pages} first=${place.query.after ? hashAt(place, { after: '' }) : null} next=${next_cursor && hashAt(place, { after: next_cursor })} />
`
