import { callApi } from '../api.js'
import { toneOf } from '../format.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { nameOf } from '../names.js'
import { ActButton } from '../parts/act-button.js'
import { Named, nothing, When } from '../parts/cells.js'
import { Empty } from '../parts/empty.js'
import { TablePanel } from '../parts/panel.js'
import { hashAt, newResource, routeHash } from '../route.js'
import { sessionNow } from '../session.js'
import { KnowledgeSearch } from './knowledge-search.js'
import { SourcePanel } from './source-panel.js'

/**
 * @typedef {import('#client/api/index.ts').KnowledgeBase} Base
 * @typedef {import('#client/api/index.ts').KnowledgeSource} Source
 * @typedef {{ bases: readonly Base[], sources: readonly Source[] }} Shown
 */

const max = 100

/** Knowledge bases: their sources with the state of their sync, searches with an explanation of each score, and chunks with their spans. */
export const knowledgePage = livePage({
  read: async ({ project, query: { base } }) => {
    const query = { limit: max }
    const [bases, sources] = await Promise.all([
      callApi(project, 'knowledge_bases.list', { query }),
      base ? callApi(project, 'knowledge_sources.list', { params: { knowledge_base_id: base }, query }) : { data: [] },
    ])
    return { bases: bases.data, sources: sources.data }
  },
  show: ({ place, data, done }) => html`<${Knowledge} place=${place} shown=${data} done=${done} />`,
})

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

/** What follows a list that is cut. @param {readonly unknown[]} rows */
const cut = (rows) => rows.length === max && html`<p class="panel-part muted">Only the newest ${max} are listed.</p>`

/** @param {{ place: Place, bases: readonly Base[] }} props */
const Bases = ({ place, bases }) => {
  if (bases.length === 0)
    return html`<${Empty} drawn="knowledge" title="No knowledge bases yet" create=${sessionNow().operates && newResource(place.project, 'knowledge_bases')}><p>What agents look up in your documents.</p><//>`
  /** @type {Columns<Base>} */
  const columns = {
    Base: ({ name, id }) => html`<${Named} name=${name} id=${id} href=${hashAt(place, { base: id })} />`,
    Description: ({ description }) => description ?? nothing,
    Tenant: ({ tenant_id }) => (tenant_id === null ? 'whole project' : nameOf(tenant_id)),
    Created: ({ created_at }) => html`<${When} at=${created_at} />`,
  }
  return html`<${TablePanel} label="Knowledge bases" head="Knowledge bases" columns=${columns} rows=${bases}>${cut(bases)}<//>`
}

/** Failed sources first, then those in progress. @type {readonly Source['status'][]} */
const order = ['failed', 'pending', 'ready']

/** @param {{ place: Place, base: string, sources: readonly Source[], done: () => void }} props */
const Sources = ({ place, base, sources, done }) => {
  const { project } = place
  if (sources.length === 0)
    return html`<p class="empty">No sources yet. <a href=${routeHash({ view: 'resources', project, query: { kind: 'knowledge_bases', open: base } })}>Add the first one</a>.</p>`
  const sorted = sources.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
  const failed = sources.filter(({ status }) => status === 'failed').length
  const sync = (/** @type {string} */ source_id) =>
    callApi(project, 'knowledge_sources.sync', { params: { knowledge_base_id: base, source_id }, body: {} }).then(done)
  /** @type {Columns<Source>} */
  const columns = {
    Source: ({ id, title, filename, url }) =>
      html`<${Named} name=${title ?? filename ?? url ?? id} id=${id} href=${hashAt(place, { source: id, from: '' })} />`,
    Status: ({ status, error }) =>
      html`<span class="chip" data-tone=${status === 'pending' ? 'work' : toneOf(status)}>${status}</span>${error !== null && html` <span class="trouble">${error.code}: ${error.message}</span>`}`,
    Chunks: ({ embedder, chunk_count, embedded_count }) =>
      embedder === null ? `${chunk_count}, keywords only` : `${chunk_count}, ${embedded_count} with vectors`,
    'Last sync': ({ synced_at }) => html`<${When} at=${synced_at} />`,
    'Last change': ({ changes }) =>
      changes === null ? nothing : `+${changes.added} −${changes.removed} =${changes.unchanged}`,
    Lifecycle: ({ id }) => html`<a href=${routeHash({ view: 'actor', project, id })}>chart</a>`,
    Sync: ({ id }) => (sessionNow().operates ? html`<${ActButton} label="Sync" act=${() => sync(id)} />` : nothing),
  }
  const head = html`Sources ${failed > 0 && html`<span class="chip" data-tone="bad">${failed} failed</span>`}`
  return html`<${TablePanel} label="Sources" head=${head} columns=${columns} rows=${sorted}>${cut(sources)}<//>`
}
