import { callApi, wordsOf } from '../api.js'
import { html } from '../html.js'
import { Table } from '../parts/table.js'
import { jsonText } from '../parts/turned-text.js'
import { typed } from '../parts/typed.js'
import { sessionNow } from '../session.js'
import { useState } from '../vendor/hooks.js'

/**
 * @typedef {import('./tools-page.js').Tool} Tool
 * @typedef {{ project: string, server: import('./tools-page.js').Server, tool: Tool, done: () => void }} Review
 */

/** One tool to review: what is new or changed, and the decision. @param {Review} props */
export const ReviewForm = ({ project, server, tool, done }) => {
  const [reason, setReason] = useState('')
  const [trouble, setTrouble] = useState('')
  const [busy, setBusy] = useState(false)
  /** @param {'approve' | 'reject'} decision */
  const decide = async (decision) => {
    if (busy) return
    setBusy(true)
    setTrouble('')
    // the decision applies to the definition shown: the server refuses it for another one
    const body = { decision, hash: tool.hash, ...(reason === '' ? {} : { reason }) }
    await callApi(project, 'mcp_servers.review_tool', { params: { server_id: server.id, tool_name: tool.name }, body })
      .then(done)
      .catch((error) => setTrouble(wordsOf(error)))
    setBusy(false)
  }
  return html`
    <form class="review" aria-label=${`Review ${tool.name}`} onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <p><strong>${tool.name}</strong> <span class="chip" data-tone="wait">${tool.changes === null ? 'new' : 'changed'}</span> <span class="muted">not available to agents until approved</span></p>
      <p>${tool.description || 'No description.'}</p>
      ${tool.changes !== null && html`<${Changes} changes=${tool.changes} />`}
      <details><summary>Definition</summary><pre class="body" tabindex="0">${jsonText({ input_schema: tool.input_schema, annotations: tool.annotations }, 2)}</pre></details>
      ${trouble !== '' && html`<p class="trouble" role="alert">${trouble}</p>`}
      ${
        sessionNow().operates &&
        html`<label>Reason, for the audit log<input value=${reason} maxlength="1024" onInput=${typed(setReason)} /></label>
        <div class="act-buttons">
          <button type="button" aria-disabled=${busy} onClick=${() => decide('approve')}>Approve</button>
          <button type="button" class="quiet" aria-disabled=${busy} onClick=${() => decide('reject')}>Reject</button>
        </div>`
      }
    </form>
  `
}

/** Old and new values of each field. @param {{ changes: NonNullable<import('./tools-page.js').Tool['changes']> }} props */
const Changes = ({ changes }) => html`
  <${Table} label="Changes" columns=${['Field', 'Approved', 'Current']} rows=${changes.map(
    ({ path, before, after }) => ({
      key: path,
      cells: [path, html`<del>${textOf(before)}</del>`, html`<ins>${textOf(after)}</ins>`],
    }),
  )} />
`

/** @param {unknown} value */
const textOf = (value) => {
  if (value === undefined || value === null) return 'nothing'
  return typeof value === 'string' ? value : jsonText(value, 1)
}
