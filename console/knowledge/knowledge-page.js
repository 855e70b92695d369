import { callApi } from '../api.js'
import { toneOf } from '../format.js'
import { html } from '../html.js'
import { LivePage } from '../live-page.js'
import { ActButton } from '../parts/act-button.js'
import { Empty } from '../parts/empty.js'
import { nothing, Table } from '../parts/table.js'
import { When } from '../parts/when.js'
import { hashAt, newResource, routeHash } from '../route.js'
import { sessionNow } from '../session.js'
import { KnowledgeSearch } from './knowledge-search.js'
import { SourcePanel } from './source-panel.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {{ id: string, name: string, description: string | null, tenant_id: string | null, created_at: string }} Base
 * @typedef {object} Source
 * @property {string} id
 * @property {'text' | 'file' | 'url'} type
 * @property {'pending' | 'ready' | 'failed'} status
 * @property {string | null} title
 * @property {string | null} filename
 * @property {string | null} url
 * @property {number | null} refresh_interval_s
 * @property {number} characters
 * @property {number} chunk_count
 * @property {number} embedded_count
 * @property {string | null} embedder
 * @property {{ added: number, removed: number, unchanged: number } | null} changes
 * @property {{ code: string, message: string } | null} error
 * @property {string | null} synced_at
 * @typedef {{ bases: readonly Base[], sources: readonly Source[] }} Shown
 */

const refreshMs = 3000
const max = 100

/**
 * Knowledge bases: their sources with the state of their sync, searches with an explanation of each score, and chunks
 * with their spans.
 *
 * @param {Place} place
 * @param {(error: unknown) => void} report
 */
export const knowledgePage = (place, report) => {
  const { project, query } = place
  /** @type {LivePage<Shown>} */
  const page = new LivePage({
    read: async () => {
      const [bases, sources] = await Promise.all([
        callApi(project, 'knowledge_bases.list', { query: { limit: max } }),
        query.base
          ? callApi(project, 'knowledge_sources.list', {
              params: { knowledge_base_id: query.base },
              query: { limit: max },
            })
          : Promise.resolve({ data: [] }),
      ])
      return { bases: bases.data, sources: sources.data }
    },
    show: (shown) =>
      html`<${Knowledge} place=${place} shown=${shown} done=${() => void page.refresh().catch(report)} />`,
    everyMs: refreshMs,
    report,
  })
  return page
}

/** @param {{ place: Place, shown: Shown, done: () => void }} props */
const Knowledge = ({ place, shown: { bases, sources }, done }) => {
  const { base, source, q } = place.query
  const chosen = bases.find(({ id }) => id === base)
  return html`
    <div class="view-head"><h1>Knowledge</h1>${!base && sessionNow().operates && html`<a class="button" href=${newResource(place.project, 'knowledge_bases')}>New</a>`}${chosen && html`<span class="muted">${chosen.name}</span> <a href=${hashAt({ ...place, query: {} })}>All bases</a>`}</div>
    ${!base && html`<${Bases} place=${place} bases=${bases} />`}
    ${base && source && html`<${SourcePanel} key=${source} place=${place} base=${base} source=${sources.find(({ id }) => id === source) ?? null} />`}
    ${base && html`<${KnowledgeSearch} key=${q ?? ''} place=${place} base=${base} sources=${sources} />`}
    ${base && html`<${Sources} place=${place} base=${base} sources=${sources} done=${done} />`}
  `
}

/** @param {{ place: Place, bases: readonly Base[] }} props */
const Bases = ({ place, bases }) => {
  if (bases.length === 0)
    return html`<${Empty} drawn="knowledge" title="No knowledge bases yet"><p>What agents look up in your documents.</p>${sessionNow().operates && html`<p><a class="button" href=${newResource(place.project, 'knowledge_bases')}>Create the first one</a></p>`}<//>`
  return html`<section class="panel" aria-label="Knowledge bases"><h2>Knowledge bases</h2><${Table} label="Knowledge bases" columns=${['Base', 'Name', 'Description', 'Tenant', 'Created']} rows=${bases.map(
    ({ id, name, description, tenant_id, created_at }) => ({
      key: id,
      cells: [
        html`<a href=${hashAt(place, { base: id })}>${id}</a>`,
        name,
        description ?? nothing,
        tenant_id ?? 'whole project',
        html`<${When} at=${created_at} />`,
      ],
    }),
  )} />${bases.length === max && html`<p class="panel-part muted">Only the newest ${max} are listed.</p>`}</section>`
}

/** Failed sources first, then those in progress. @type {readonly Source['status'][]} */
const order = ['failed', 'pending', 'ready']

/** @param {{ place: Place, base: string, sources: readonly Source[], done: () => void }} props */
const Sources = ({ place, base, sources, done }) => {
  if (sources.length === 0)
    return html`<p class="empty">No sources yet. <a href=${routeHash({ view: 'resources', project: place.project, query: { kind: 'knowledge_bases', open: base } })}>Add the first one</a>.</p>`
  const sorted = sources.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
  const failed = sources.filter(({ status }) => status === 'failed').length
  return html`
    <section class="panel" aria-label="Sources">
      <h2>Sources ${failed > 0 && html`<span class="chip" data-tone="bad">${failed} failed</span>`}</h2>
      <${Table} label="Sources" columns=${['Source', 'Title', 'Status', 'Chunks', 'Last sync', 'Last change', 'Lifecycle', 'Sync']} rows=${sorted.map(
        (source) => rowOf({ place, base, done }, source),
      )} />
      ${sources.length === max && html`<p class="panel-part muted">Only the newest ${max} are listed.</p>`}
    </section>
  `
}

/** @param {{ place: Place, base: string, done: () => void }} parts @param {Source} source */
const rowOf = ({ place, base, done }, source) => {
  const { id, status, title, filename, url, error, chunk_count, embedded_count, embedder, synced_at, changes } = source
  const sync = async () => {
    await callApi(place.project, 'knowledge_sources.sync', {
      params: { knowledge_base_id: base, source_id: id },
      body: {},
    })
    done()
  }
  return {
    key: id,
    cells: [
      html`<a href=${hashAt(place, { source: id, from: '' })}>${id}</a>`,
      title ?? filename ?? url ?? source.type,
      html`<span class="chip" data-tone=${status === 'pending' ? 'work' : toneOf(status)}>${status}</span>${error !== null && html` <span class="trouble">${error.code}: ${error.message}</span>`}`,
      embedder === null ? `${chunk_count}, keywords only` : `${chunk_count}, ${embedded_count} with vectors`,
      html`<${When} at=${synced_at} />`,
      changes === null ? nothing : `+${changes.added} −${changes.removed} =${changes.unchanged}`,
      html`<a href=${routeHash({ view: 'actor', project: place.project, id })}>chart</a>`,
      sessionNow().operates ? html`<${ActButton} label="Sync" act=${sync} />` : nothing,
    ],
  }
}
