import { callApi } from './api.js'
import { html, typed, useState } from './html.js'
import { livePage } from './live-page.js'
import { ActButton } from './parts/act-button.js'
import { When } from './parts/cells.js'
import { Empty } from './parts/empty.js'
import { TablePanel } from './parts/panel.js'
import { routeHash } from './route.js'

/**
 * @typedef {import('#client/api/index.ts').StuckWork} StuckWork
 * @typedef {Answers['stuck.list']} Listed
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
    await callApi(project, `stuck.${verb}`, { params: { stuck_id: id }, body: { ...body, ...why } }).then(done)
  }
  /** @param {StuckWork} work */
  const skip = async (work) => {
    const text = prompt(`The event for ${work.machine} in place of ${work.subject}, as JSON:`, '{"type": ""}')
    if (text !== null) await decide(work, 'skip', { event: JSON.parse(text) })
  }
  /** @type {Columns<StuckWork>} */
  const columns = {
    Actor: ({ actor_id: id, machine }) =>
      html`<a href=${routeHash({ view: 'actor', project, id })} title=${machine}>${id}</a>`,
    Kind: ({ kind }) => html`<span class="chip" data-tone="bad">${kinds[kind]?.[0] ?? kind}</span>`,
    Reason: (work) => work.reason,
    Attempts: ({ attempts }) => String(attempts),
    Since: ({ updated_at }) => html`<${When} at=${updated_at} />`,
    Actions: (work) =>
      html`<span class="decide"><${ActButton} label="Retry" act=${() => decide(work, 'retry')} />
        ${kinds[work.kind]?.[1] && html`<${ActButton} label="Skip…" act=${() => skip(work)} />`}
        <${ActButton} label="Discard" sure=${`Discard ${work.subject} for good`} act=${() => decide(work, 'discard')} /></span>`,
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
        : html`<${TablePanel} label="Stuck work" columns=${columns} rows=${data} />`
    }
  `
}
