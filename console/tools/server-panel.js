import { callApi } from '../api.js'
import { time, toneOf } from '../format.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, Table } from '../parts/table.js'
import { hashAt } from '../route.js'
import { sessionNow } from '../session.js'
import { useState } from '../vendor/hooks.js'
import { ReviewForm } from './review-form.js'

/**
 * @typedef {import('./tools-page.js').Tool} Tool
 * @typedef {{ place: import('../parts/query-form.js').Place, server: import('./tools-page.js').Server, snapshot: import('./tools-page.js').Snapshot, done: () => void }} Panel
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
      ${others.length > 0 && html`<${Table} label=${`Other tools of ${server.name}`} columns=${['Tool', 'Status', 'Description', 'Review', 'Actions']} rows=${others.map((tool) => rowOf({ place, server, done }, tool))} />`}
      ${
        skipped.length > 0 &&
        html`<h3>Not taken</h3><ul class="links">${skipped.map(({ name, reason }) => html`<li><code>${name}</code> <span class="chip" data-tone="bad">${reason.replaceAll('_', ' ')}</span></li>`)}</ul>`
      }
    </section>
  `
}

/** @param {Pick<Panel, 'place' | 'server' | 'done'>} parts @param {Tool} tool */
const rowOf = ({ place, server, done }, { name, state, description, review, hash }) => {
  const decision = state === 'active' ? 'reject' : 'approve'
  const change = async () => {
    await callApi(place.project, 'mcp_servers.review_tool', {
      params: { server_id: server.id, tool_name: name },
      body: { decision, hash },
    })
    done()
  }
  return {
    key: name,
    cells: [
      name,
      html`<span class="chip" data-tone=${state === 'disabled' ? 'bad' : toneOf(state)}>${state}</span>`,
      description,
      review === null
        ? nothing
        : html`${review.decision} by ${review.by.id ?? review.by.kind}${review.reason !== null && html`: <q>${review.reason}</q>`} <time datetime=${review.at}>${time(review.at)}</time>`,
      sessionNow().operates
        ? html`<${ActButton} label=${state === 'active' ? 'Disable' : 'Approve'} act=${change} />`
        : nothing,
    ],
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
