import type { McpTool as Tool } from '#client/api/index.ts'
import { html, typed, useState } from '../html.ts'
import { ActButton } from '../parts/act-button.ts'
import { Table } from '../parts/table.ts'
import { jsonText } from '../parts/turned-text.ts'
import { sessionNow } from '../session.ts'

/** One tool to review: what is new or changed, and the decision. */
export const ReviewForm = (props: {
  tool: Tool
  decide: (tool: Tool, decision: 'approve' | 'reject', why: object) => Promise<void>
}) => {
  const { tool, decide } = props
  const [reason, setReason] = useState('')
  const why = reason === '' ? {} : { reason }
  const { name, changes, description, input_schema, annotations } = tool
  return html`
    <form class="form px-(--inset) py-10 border-t border-line" aria-label=${`Review ${name}`} onSubmit=${(event: Event) => event.preventDefault()}>
      <p><strong>${name}</strong> <span class="chip" data-tone="wait">${changes === null ? 'new' : 'changed'}</span> <span class="muted">not available to agents until approved</span></p>
      <p>${description || 'No description.'}</p>
      ${changes !== null && html`<${Table} label="Changes" columns=${columns} rows=${changes} />`}
      <details><summary>Definition</summary><pre class="body" tabindex="0">${jsonText({ input_schema, annotations }, 2)}</pre></details>
      ${
        sessionNow().operates &&
        html`<label>Reason, for the audit log<input value=${reason} maxlength="1024" onInput=${typed(setReason)} /></label>
        <div class="act-buttons"><${ActButton} quiet=${false} label="Approve" act=${() => decide(tool, 'approve', why)} /><${ActButton} label="Reject" act=${() => decide(tool, 'reject', why)} /></div>`
      }
    </form>
  `
}

/** Old and new values of each field. */
const columns: Columns<NonNullable<Tool['changes']>[number]> = {
  Field: ({ path }) => path,
  Approved: ({ before }) => html`<del>${textOf(before)}</del>`,
  Current: ({ after }) => html`<ins>${textOf(after)}</ins>`,
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : value == null ? 'nothing' : jsonText(value, 1))
