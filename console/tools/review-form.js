import { callApi } from '../api.js'
import { html, typed, useState } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { Table } from '../parts/table.js'
import { jsonText } from '../parts/turned-text.js'
import { sessionNow } from '../session.js'

/**
 * @typedef {import('./tools-page.js').Tool} Tool
 * @typedef {{ project: string, server: import('./tools-page.js').Server, tool: Tool, done: () => void }} Review
 */

/** One tool to review: what is new or changed, and the decision. @param {Review} props */
export const ReviewForm = ({ project, server, tool, done }) => {
  const [reason, setReason] = useState('')
  /** @param {'approve' | 'reject'} decision */
  const decide = (decision) => () => {
    // the decision applies to the definition shown: the server refuses it for another one
    const body = { decision, hash: tool.hash, ...(reason === '' ? {} : { reason }) }
    const params = { server_id: server.id, tool_name: tool.name }
    return callApi(project, 'mcp_servers.review_tool', { params, body }).then(done)
  }
  return html`
    <form class="review" aria-label=${`Review ${tool.name}`} onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <p><strong>${tool.name}</strong> <span class="chip" data-tone="wait">${tool.changes === null ? 'new' : 'changed'}</span> <span class="muted">not available to agents until approved</span></p>
      <p>${tool.description || 'No description.'}</p>
      ${tool.changes !== null && html`<${Table} label="Changes" columns=${columns} rows=${tool.changes} />`}
      <details><summary>Definition</summary><pre class="body" tabindex="0">${jsonText({ input_schema: tool.input_schema, annotations: tool.annotations }, 2)}</pre></details>
      ${
        sessionNow().operates &&
        html`<label>Reason, for the audit log<input value=${reason} maxlength="1024" onInput=${typed(setReason)} /></label>
        <div class="act-buttons"><${ActButton} quiet=${false} label="Approve" act=${decide('approve')} /><${ActButton} label="Reject" act=${decide('reject')} /></div>`
      }
    </form>
  `
}

/** Old and new values of each field. @type {Columns<NonNullable<Tool['changes']>[number]>} */
const columns = {
  Field: ({ path }) => path,
  Approved: ({ before }) => html`<del>${textOf(before)}</del>`,
  Current: ({ after }) => html`<ins>${textOf(after)}</ins>`,
}

/** @param {unknown} value */
const textOf = (value) => {
  if (value === undefined || value === null) return 'nothing'
  return typeof value === 'string' ? value : jsonText(value, 1)
}
