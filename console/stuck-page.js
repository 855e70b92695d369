import { callApi } from './api.js'
import { html } from './html.js'
import { livePage } from './live-page.js'
import { ActButton } from './parts/act-button.js'
import { Empty } from './parts/empty.js'
import { Table } from './parts/table.js'
import { typed } from './parts/typed.js'
import { When } from './parts/when.js'
import { routeHash } from './route.js'
import { useState } from './vendor/hooks.js'

/**
 * @typedef {import('#client/api/index.ts').StuckWork} StuckWork
 * @typedef {{ data: readonly StuckWork[], next_cursor: string | null }} Listed
 */

const max = 100

/** Label of each kind, and whether its machine can be given another event instead. */
const kinds = /** @type {Readonly<Record<string, readonly [text: string, skips: boolean]>>} */ ({
  parked_actor: ['parked', true],
  poison_message: ['message refused', false],
  poison_result: ['result refused', true],
  refused_row: ['row refused', false],
  failing_reminder: ['reminder fails', true],
  overdue_effect: ['overdue', true],
  unfinished_commit: ['not finished', false],
})

/** Stuck work of a project, with the decisions that an operator can make about it. */
export const stuckPage = livePage({
  everyMs: 2_000,
  read: ({ project }) => callApi(project, 'stuck.list', { query: { limit: max } }),
  show: ({ place: { project }, data, done }) => html`<${Stuck} project=${project} ...${data} done=${done} />`,
})

/** @param {{ project: string, done: () => Promise<void> } & Listed} props */
const Stuck = ({ project, data, next_cursor, done }) => {
  const [reason, setReason] = useState('')
  /** @param {StuckWork} work @param {'retry' | 'skip' | 'discard'} verb @param {object} [body] */
  const decide = async ({ id }, verb, body) => {
    const why = reason === '' ? {} : { reason }
    await callApi(project, `stuck.${verb}`, { params: { stuck_id: id }, body: { ...body, ...why } })
    await done()
  }
  /** @param {StuckWork} work */
  const skip = async (work) => {
    const text = prompt(`The event for ${work.machine} in place of ${work.subject}, as JSON:`, '{"type": ""}')
    if (text !== null) await decide(work, 'skip', { event: JSON.parse(text) })
  }
  /** @param {StuckWork} work */
  const rowOf = (work) => {
    const { id, kind, actor_id, machine, subject, attempts, updated_at } = work
    const [text, skips] = kinds[kind] ?? [kind, false]
    return {
      key: id,
      cells: [
        html`<a href=${routeHash({ view: 'actor', project, id: actor_id })} title=${machine}>${actor_id}</a>`,
        html`<span class="chip" data-tone="bad">${text}</span>`,
        work.reason,
        String(attempts),
        html`<${When} at=${updated_at} />`,
        html`<span class="decide"><${ActButton} label="Retry" act=${() => decide(work, 'retry')} />
          ${skips && html`<${ActButton} label="Skip…" act=${() => skip(work)} />`}
          <${ActButton} label="Discard" sure=${`Discard ${subject} for good`} act=${() => decide(work, 'discard')} /></span>`,
      ],
    }
  }
  return html`
    <div class="view-head"><h1>Stuck work</h1>${
      data.length > 0 &&
      html`<span class="muted" role="status">${data.length}${next_cursor === null ? '' : ' and more'}</span>
      <input class="line" aria-label="Reason, for the audit log" placeholder="Reason, for the audit log" maxlength="4096" value=${reason} onInput=${typed(setReason)} />`
    }</div>
    ${
      data.length === 0
        ? html`<${Empty} drawn="stuck" title="Nothing is stuck."><p>Work that no retry can finish waits here: a refused message, an overdue effect, a parked actor. You decide whether it is tried again, skipped or discarded.</p><//>`
        : html`<section class="panel" aria-label="Stuck work"><${Table} label="Stuck work" columns=${['Actor', 'Kind', 'Reason', 'Attempts', 'Since', 'Actions']} rows=${data.map(rowOf)} /></section>`
    }
  `
}
