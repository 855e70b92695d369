import { callById, wordsOf } from '../api.js'
import { html, useState } from '../html.js'
import { withNames } from '../names.js'
import { operations } from '../operations.js'
import { CopyId } from '../parts/copy-button.js'
import { cellsOf } from '../parts/list-view.js'
import { Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt, routeHash } from '../route.js'
import { may } from '../session.js'
import { CreatePanel } from './create-panel.js'
import { bodyOf, changesOf } from './form-values.js'
import { Nested } from './nested.js'
import { columnsOf, inOrder } from './resource-columns.js'
import { resources } from './resources.js'
import { paramsOf, RowActs } from './row-acts.js'
import { rowParts } from './row-parts.js'
import { cellOf, idOf, isEmpty, nameOf, titleOf } from './row-text.js'
import { SchemaForm } from './schema-form.js'
import { VersionDiff } from './version-diff.js'

/**
 * @typedef {import('./types.js').Resource} Resource
 * @typedef {import('./types.js').Row} Row
 * @typedef {{ place: Place, resource: Resource, row: Row, rows?: readonly Row[], params: Readonly<Record<string, string>>, done: () => void }} RowProps
 *   `params`: those of the paths that name what the row belongs to
 */

/** One resource: all its fields, its form, what can be done with it, and the resources that belong to it. @param {RowProps} props */
export const RowPanel = ({ place, resource, row, rows = [], params, done }) => {
  const { project } = place
  const { update, children, parent, name: kind } = resource
  const own = paramsOf({ resource, row, params })
  const lead = leads[kind]
  const Part = rowParts[kind]
  const closed = hashAt(place, parent === null ? { open: '', child: '', q: '' } : { child: '', from: '', chunks: '' })
  const removed = () => {
    location.hash = closed
  }
  /** @param {unknown} body */
  const save = async (body) => {
    if (update !== null) await callById(project, update.id, { params: own, body })
    done()
  }
  return html`<section class="panel" aria-label=${nameOf(row)}>
    <h2>${nameOf(row)} ${!resource.single && html`${typeof row.id === 'string' && html`<${CopyId} id=${row.id} />`} <a class="close" href=${closed}>Close</a>`}</h2>
    <dl class="facts row-facts">${factsOf(row).map((name) => html`<${Fact} key=${name} name=${name} row=${row} />`)}</dl>
    <div class="panel-part row items-start">
      ${lead !== undefined && html`<a class="button quiet" href=${lead.to(project, idOf(row))}>${lead.title}</a>`}
      ${update !== null && may(update) && html`<details class="row-form open:flex-[1_0_100%]"><summary class="button quiet">Edit</summary><${Edit} act=${update} row=${row} whole=${resource.single} send=${save} /></details>`}
      <${RowActs} project=${project} resource=${resource} row=${row} params=${params} done=${done} removed=${removed} />
    </div>
    ${row.version !== undefined && html`<${VersionDiff} project=${project} row=${row} rows=${rows} />`}
    ${Part && html`<${Part} place=${place} row=${row} done=${done} />`}
    ${children.filter((name) => may(resourceOf(name))).map((name) => html`<${Children} key=${name} place=${place} name=${name} of=${row} params=${own} />`)}
  </section>`
}

/** Where a row leads, by its resource. @type {Readonly<Record<string, { title: string, to: (project: string, id: string) => string }>>} */
const leads = {
  agents: {
    title: 'Try it in the playground',
    to: (project, agent) => routeHash({ view: 'playground', project, query: { agent } }),
  },
  project_keys: {
    title: 'Its requests',
    to: (project, key) => routeHash({ view: 'gateway', project, query: { key } }),
  },
  projects: { title: 'Open it', to: (_, project) => routeHash({ view: 'home', project }) },
  ...Object.fromEntries(
    ['mcp_servers', 'connections', 'knowledge_sources'].map((name) => [
      name,
      { title: 'Its chart', to: (project, id) => routeHash({ view: 'actor', project, id }) },
    ]),
  ),
}

/** Fields that a part of the panel shows. */
const inParts = ['failed_attempts', 'price', 'request_body', 'response_body', 'facts']

/** Fields with a value that neither the head nor a part says, short ones first. @param {Row} row */
const factsOf = (row) =>
  Object.keys(row)
    .filter(
      (name) =>
        name !== 'id' &&
        !isEmpty(row[name]) &&
        !inParts.includes(name) &&
        !(name === 'name' && row.name === nameOf(row)),
    )
    .toSorted((a, b) => Number(isNested(row[a])) - Number(isNested(row[b])))

/** @param {unknown} value @returns {value is Readonly<Record<string, unknown>>} */
const isNested = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0

/** A field: a nested one over the whole width. @param {{ name: string, row: Row }} props */
const Fact = ({ name, row }) => {
  const value = row[name]
  return isNested(value)
    ? html`<div class="col-span-full [&_pre]:whitespace-pre-wrap"><dt>${titleOf(name)}</dt><dd><${Nested} value=${value} /></dd></div>`
    : html`<div><dt>${titleOf(name)}</dt><dd>${cellOf(name, row)}</dd></div>`
}

/** @param {{ act: import('./types.js').Act, row: Row, whole?: true | undefined, send: (body: unknown) => Promise<unknown> }} props `whole`: all fields are sent, not only those that changed */
const Edit = ({ act: { fields, summary }, row, whole, send }) => {
  const [before] = useState(row)
  return html`<${SchemaForm} label=${summary} button="Save" fields=${fields} initial=${before}
    send=${(/** @type {import('./types.js').Values} */ values) => send(whole ? bodyOf(fields, values) : changesOf(fields, values, before))} />`
}

/** What a new version starts with: the config that its agent has now, and the next number. @param {Row} of @param {readonly Row[]} rows newest first */
const nextVersion = ({ config, visibility }, rows) => {
  if (config === undefined) return {}
  const [major, minor] = String(rows[0]?.version ?? '1.-1').split('.')
  return { version: `${major}.${Number(minor) + 1}.0`, config, visibility }
}

const maxChildren = 50
const noFields = {}

/** The resource of a name. @param {string} name */
export const resourceOf = (name) => {
  const resource = resources.find((each) => each.name === name)
  if (resource === undefined) throw new Error(`there is no resource ${name}`)
  return resource
}

/** The resources of one kind that belong to another, or to the member. @param {{ place: Place, name: string, of?: object, params?: Readonly<Record<string, string>> }} props `of`: what they belong to, with which they are read again */
export const Children = ({ place, name, of = noFields, params = noFields }) => {
  const { list } = resourceOf(name)
  /** @type {readonly string[]} */
  const parameters = operations[list][2]
  const query = parameters.includes('limit') ? { limit: maxChildren } : {}
  const { data, error, again } = useRead(
    JSON.stringify([name, params]),
    (signal) => callById(place.project, list, { params, query, signal }).then((read) => withNames(place.project, read)),
    { keep: true, since: of },
  )
  return html`
    ${error !== null && html`<p class="panel-part trouble" role="alert">${wordsOf(error)}</p>`}
    ${data !== null && html`<${Rows} place=${place} name=${name} rows=${data.data} isCut=${data.next_cursor != null} of=${of} params=${params} done=${again} />`}
  `
}

/** What ids of one kind begin with. @param {string} id */
const prefixOf = (id) => id.split('_')[0]

/** Resources of one kind as a part of a page, with what can be done with each. @param {{ place: Place, name: string, rows: readonly Row[], isCut?: boolean, of?: Row, params?: Readonly<Record<string, string>>, done: () => void }} props */
export const Rows = ({ place, name, rows: unsorted, isCut = false, of = noFields, params = noFields, done }) => {
  const resource = resourceOf(name)
  const { title, about, none, create, get } = resource
  const { child = '' } = place.query
  const rows = inOrder(resource, unsorted)
  const listed = rows.find((row) => idOf(row) === child)
  // one that is older than those listed; the child may be of another list of the page
  const older = isCut && listed === undefined && prefixOf(child) === prefixOf(idOf(rows[0] ?? {})) ? get : null
  const { data, error } = useRead(
    older === null ? '' : child,
    (signal) => {
      const own = paramsOf({ resource, row: { id: child }, params })
      return callById(place.project, older?.id ?? resource.list, { params: own, signal })
    },
    { since: unsorted },
  )
  const opened = listed ?? data ?? undefined
  const hrefOf = (/** @type {Row} */ row) => hashAt(place, { child: idOf(row), from: '', chunks: '' })
  const columns = cellsOf(columnsOf({ project: place.project, resource, rows, params, hrefOf, done }))
  return html`<section class="panel-part" aria-label=${title}>
    <h3>${title}</h3>
    ${rows.length === 0 ? html`<p class="muted">${about === '' ? 'None yet.' : `${none}. ${about}`}</p>` : html`<${Table} label=${title} columns=${columns} rows=${rows} keyOf=${idOf} />`}
    ${isCut && html`<p class="muted">Only the newest ${rows.length} are listed.</p>`}
    ${error !== null && html`<p class="trouble" role="alert">${wordsOf(error)}</p>`}
    ${opened !== undefined && html`<${RowPanel} key=${idOf(opened)} place=${place} resource=${resource} row=${opened} rows=${rows} params=${params} done=${done} />`}
    ${may(create) && html`<details class="row-form mt-8"><summary class="button quiet">New</summary><${CreatePanel} nested place=${place} resource=${resource} params=${params} initial=${nextVersion(of, rows)} done=${done} /></details>`}
  </section>`
}
