import { callApi } from '../api.js'
import { time, toneOf } from '../format.js'
import { html, useState } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing } from '../parts/cells.js'
import { Table } from '../parts/table.js'
import { hashAt } from '../route.js'
import { sessionNow } from '../session.js'
import { ReviewForm } from './review-form.js'

/**
 * @typedef {import('./tools-page.js').Tool} Tool
 * @typedef {{ place: Place, server: import('./tools-page.js').Server, snapshot: import('./tools-page.js').Snapshot, done: () => void }} Panel
 */

/** The tools of one server; those to review first, with their changes. @param {Panel} props */
export const ServerPanel = ({ place, server, snapshot: { tools, skipped }, done }) => {
  const waiting = tools.filter(({ state }) => state === 'pending_review')
  const others = tools.filter(({ state }) => state !== 'pending_review')
  return html`
    <section class="panel" aria-label=${`Tools of ${server.name}`}>
      <h2>${server.name} <span class="muted">${server.url}${server.protocol_version && `, protocol ${server.protocol_version}`}</span> ${sessionNow().operates && html`<${ServerCommands} place=${place} server=${server} done=${done} />`}<a class="close" href=${hashAt(place, { server: '' })}>Close</a></h2>
      ${server.error !== null && html`<p class="panel-part trouble" role="alert">${server.error.code}: ${server.error.message}</p>`}
      ${waiting.map((tool) => html`<${ReviewForm} key=${`${tool.name} ${tool.hash}`} project=${place.project} server=${server} tool=${tool} done=${done} />`)}
      ${waiting.length === 0 && html`<p class="panel-part muted">No tool waits for a review.</p>`}
      ${others.length > 0 && html`<${Table} label=${`Other tools of ${server.name}`} columns=${columnsOf({ place, server, done })} rows=${others} keyOf=${(/** @type {Tool} */ { name }) => name} />`}
      ${
        skipped.length > 0 &&
        html`<h3>Not taken</h3><ul class="links">${skipped.map(({ name, reason }) => html`<li><code>${name}</code> <span class="chip" data-tone="bad">${reason.replaceAll('_', ' ')}</span></li>`)}</ul>`
      }
    </section>
  `
}

/** @param {Pick<Panel, 'place' | 'server' | 'done'>} parts @returns {Columns<Tool>} */
const columnsOf = ({ place, server, done }) => {
  /** @param {Tool} tool @param {'approve' | 'reject'} decision */
  const change = ({ name: tool_name, hash }, decision) => {
    const params = { server_id: server.id, tool_name }
    return callApi(place.project, 'mcp_servers.review_tool', { params, body: { decision, hash } }).then(done)
  }
  return {
    Tool: ({ name }) => name,
    Status: ({ state }) =>
      html`<span class="chip" data-tone=${state === 'disabled' ? 'bad' : toneOf(state)}>${state}</span>`,
    Description: ({ description }) => description,
    Review: ({ review }) =>
      review === null
        ? nothing
        : html`${review.decision} by ${review.by.id ?? review.by.kind}${review.reason !== null && html`: <q>${review.reason}</q>`} <time datetime=${review.at}>${time(review.at)}</time>`,
    Actions: (tool) => {
      if (!sessionNow().operates) return nothing
      return tool.state === 'active'
        ? html`<${ActButton} label="Disable" act=${() => change(tool, 'reject')} />`
        : html`<${ActButton} label="Approve" act=${() => change(tool, 'approve')} />`
    },
  }
}

/** @param {Pick<Panel, 'place' | 'server' | 'done'>} props */
const ServerCommands = ({ place, server, done }) => {
  const [outcome, say] = useState('')
  const params = { server_id: server.id }
  const refresh = async () => {
    const { added, removed, changed } = await callApi(place.project, 'mcp_servers.refresh_tools', { params })
    say(`${added.length} new, ${changed.length} changed, ${removed.length} gone.`)
    done()
  }
  const test = async () => {
    const { ok, latency_ms, error, tool_count } = await callApi(place.project, 'mcp_servers.test', { params })
    say(ok ? `The server responded in ${latency_ms} ms with ${tool_count} tools.` : `${error?.code}: ${error?.message}`)
  }
  return html`<span class="decide"><${ActButton} label="Refresh tools" act=${refresh} /><${ActButton} label="Test" act=${test} /></span> <span role="status" class="muted">${outcome}</span>`
}
