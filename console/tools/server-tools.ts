import type { McpServer as Server, McpTool as Tool } from '#client/api/index.ts'
import { callApi } from '../api.ts'
import { time } from '../format.ts'
import { html } from '../html.ts'
import { ActButton } from '../parts/act-button.ts'
import { nothing, StateChip } from '../parts/cells.ts'
import { Table } from '../parts/table.ts'
import { Trouble } from '../parts/trouble.ts'
import { useRead } from '../parts/use-read.ts'
import { sessionNow } from '../session.ts'
import { ReviewForm } from './review-form.ts'

/** The tools of a server; those to review first, with their changes. */
export const ServerTools = ({ place: { project }, row, done }: { place: Place; row: Server; done: () => void }) => {
  const { id, name } = row
  const { data, error, again } = useRead(
    id,
    () => callApi(project, 'mcp_servers.tools', { params: { server_id: id } }),
    { keep: true, since: row },
  )
  const unread = html`<${Trouble} error=${error} within="panel-part" />`
  if (data === null) return unread
  const waiting = data.tools.filter(({ state }) => state === 'pending_review')
  const others = data.tools.filter(({ state }) => state !== 'pending_review')
  /** The decision applies to the definition shown: the server refuses it for another one. */
  const decide = async ({ name: tool_name, hash }: Tool, decision: 'approve' | 'reject', why?: object) => {
    const body = { decision, hash, ...why }
    await callApi(project, 'mcp_servers.review_tool', { params: { server_id: id, tool_name }, body })
    again()
    done()
  }
  const columns: Columns<Tool> = {
    Tool: (tool) => tool.name,
    Status: ({ state }) => html`<${StateChip} state=${state} />`,
    Description: ({ description }) => description,
    Review: ({ review }) =>
      review === null
        ? nothing
        : html`${review.decision} by ${review.by.id ?? review.by.kind}${review.reason !== null && html`: <q>${review.reason}</q>`} <time datetime=${review.at}>${time(review.at)}</time>`,
    Actions: (tool) => {
      if (!sessionNow().operates) return nothing
      return tool.state === 'active'
        ? html`<${ActButton} label="Disable" act=${() => decide(tool, 'reject')} />`
        : html`<${ActButton} label="Approve" act=${() => decide(tool, 'approve')} />`
    },
  }
  return html`<section class="panel-part" aria-label="Tools">
    <h3>Tools</h3>
    ${unread}
    ${waiting.map((tool) => html`<${ReviewForm} key=${`${tool.name} ${tool.hash}`} tool=${tool} decide=${decide} />`)}
    ${waiting.length === 0 && html`<p class="muted">No tool waits for a review.</p>`}
    ${others.length > 0 && html`<${Table} label=${`Other tools of ${name}`} columns=${columns} rows=${others} keyOf=${(tool: Tool) => tool.name} />`}
    ${
      data.skipped.length > 0 &&
      html`<h3>Not taken</h3><ul class="links">${data.skipped.map((each) => html`<li><code>${each.name}</code> <span class="chip" data-tone="bad">${each.reason.replaceAll('_', ' ')}</span></li>`)}</ul>`
    }
  </section>`
}
