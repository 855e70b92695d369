import { callById } from '../api.js'
import { html, useState } from '../html.js'
import { operations } from '../operations.js'
import { ActButton } from '../parts/act-button.js'
import { CopyId } from '../parts/copy-button.js'
import { useRead } from '../parts/use-read.js'
import { hashAt, routeHash } from '../route.js'
import { mayChange, mayCreate } from '../session.js'
import { CreatePanel, Made, onceIn } from './create-panel.js'
import { bodyOf, changesOf, pathIn } from './form-values.js'
import { Nested } from './nested.js'
import { ResourceTable } from './resource-table.js'
import { resources } from './resources.js'
import { cellOf, nameOf, titleOf } from './row-text.js'
import { SchemaForm } from './schema-form.js'
import { VersionDiff } from './version-diff.js'

/**
 * @typedef {import('./types.js').Act} Act
 * @typedef {import('./types.js').Resource} Resource
 * @typedef {import('./types.js').Row} Row
 * @typedef {{ place: Place, resource: Resource, row: Row, rows?: readonly Row[], params: Readonly<Record<string, string>>, done: () => void }} RowProps
 *   `params`: those of the paths that name what the row belongs to
 */

/** One resource: all its fields, its form, what can be done with it, and the resources that belong to it. @param {RowProps} props */
export const RowPanel = ({ place, resource, row, rows = [], params, done }) => {
  const [shown, setShown] = useState(/** @type {Row | null} */ (null))
  const { project } = place
  const { key, update, remove, acts, children, parent } = resource
  const own = key === null ? params : { ...params, [key]: keyIn(row, key) }
  const operates = mayChange(resource)
  const lead = leads[resource.name]
  /** @param {import('../operation-types.js').OperationId} id @param {unknown} [body] @param {Readonly<Record<string, string>>} [further] parameters of the path */
  const act = async (id, body, further = {}) => {
    const answer = await callById(project, id, { params: { ...own, ...further }, ...(body !== undefined && { body }) })
    setShown(onceIn(answer).length > 0 ? answer : null)
    done()
    return answer
  }
  const closed = parent === null ? { open: '' } : { child: '' }
  const discard = async () => {
    if (remove === null) return
    await act(remove)
    location.hash = hashAt(place, closed)
  }
  return html`<section class="panel" aria-label=${nameOf(row)}>
    <h2>${nameOf(row)} ${!resource.single && html`${typeof row.id === 'string' && html`<${CopyId} id=${row.id} />`} <a class="close" href=${hashAt(place, closed)}>Close</a>`}</h2>
    ${shown !== null && html`<div class="panel-part"><${Made} row=${shown} /></div>`}
    <dl class="facts row-facts">${factsOf(row).map(([name, value]) => html`<${Fact} key=${name} name=${name} value=${value} />`)}</dl>
    <div class="panel-part row-acts">
      ${lead !== undefined && html`<a class="button quiet" href=${lead.to(project, idOf(row))}>${lead.title}</a>`}
      ${operates && update !== null && html`<details class="row-form"><summary>Edit</summary><${Edit} act=${update} row=${row} whole=${resource.single} send=${(/** @type {unknown} */ body) => act(update.id, body)} /></details>`}
      ${operates && acts.map((each) => each !== null && isFor(each, own) && html`<${RowAct} key=${each.id} each=${each} act=${act} />`)}
      ${operates && remove !== null && html`<${ActButton} label="Delete" sure=${`Delete ${nameOf(row)}`} act=${discard} />`}
    </div>
    ${row.version !== undefined && html`<${VersionDiff} project=${project} row=${row} rows=${rows} />`}
    ${children.map((name) => {
      const child = resources.find((each) => each.name === name)
      return (
        child !== undefined &&
        html`<${Children} key=${name} place=${place} resource=${child} of=${row} params=${own} />`
      )
    })}
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
  connections: {
    title: 'Test it, or make the link by which its owner signs in',
    to: (project) => routeHash({ view: 'connections', project }),
  },
  projects: { title: 'Open it', to: (_, project) => routeHash({ view: 'home', project }) },
}

/**
 * An operation on a row: a button, or a form where it has fields.
 *
 * @param {{ each: Act, act: (id: import('../operation-types.js').OperationId, body: unknown, further?: Readonly<Record<string, string>>) => Promise<unknown> }} props
 */
const RowAct = ({ each: { id, summary, fields }, act }) =>
  fields.length === 0
    ? html`<${ActButton} label=${summary} sure=${summary.startsWith('Remove') ? `${summary} now` : undefined} act=${() => act(id, {})} />`
    : html`<details class="row-form"><summary>${summary}</summary><${SchemaForm} label=${summary} button=${summary} fields=${fields} send=${(/** @type {import('./types.js').Values} */ values) => act(id, bodyOf(fields, values), pathIn(fields, values))} /></details>`

/** What the head does not say already, short fields first. @param {Row} row */
const factsOf = (row) =>
  Object.entries(row)
    .filter(([name, value]) => name !== 'id' && !(name === 'name' && value === nameOf(row)))
    .toSorted(([, a], [, b]) => Number(isNested(a)) - Number(isNested(b)))

/** @param {unknown} value @returns {value is Readonly<Record<string, unknown>>} */
const isNested = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0

/** A field: a nested one over the whole width. @param {{ name: string, value: unknown }} props */
const Fact = ({ name, value }) =>
  isNested(value)
    ? html`<div class="whole"><dt>${titleOf(name)}</dt><dd><${Nested} value=${value} /></dd></div>`
    : html`<div><dt>${titleOf(name)}</dt><dd>${cellOf(name, value)}</dd></div>`

/** Whether the row has all parameters of an operation's path. @param {Act} act @param {Readonly<Record<string, string>>} own */
const isFor = ({ params }, own) => params.every((name) => own[name] !== undefined)

/** The value of a path's parameter: the row's id, or the field by that name. @param {Row} row @param {string} key */
const keyIn = (row, key) => String(row[key] ?? idOf(row))

/** What names a row: versions of prompts have no id. @param {Row} row */
const idOf = ({ id, version }) => String(id ?? version)

/** @param {{ act: Act, row: Row, whole?: true | undefined, send: (body: unknown) => Promise<unknown> }} props `whole`: all fields are sent, not only those that changed */
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

/** @param {{ place: Place, resource: Resource, of: Row, params: Readonly<Record<string, string>> }} props `of`: what they belong to */
const Children = ({ place, resource, of, params }) => {
  const { query: chosen, project } = place
  /** @type {readonly string[]} */
  const parameters = operations[resource.list][2]
  const query = parameters.includes('limit') ? { limit: 50 } : {}
  const { data, again } = useRead(JSON.stringify([resource.name, params]), (signal) =>
    callById(project, resource.list, { params, query, signal }),
  )
  /** @type {readonly Row[]} */
  const rows = data?.data ?? []
  const opened = rows.find((row) => idOf(row) === chosen.child)
  const creates = mayCreate(resource)
  return html`<section class="panel-part" aria-label=${resource.title}>
    <h3>${resource.title}</h3>
    ${rows.length === 0 ? data !== null && html`<p class="muted">None yet.</p>` : html`<${ResourceTable} resource=${resource} rows=${rows} hrefOf=${(/** @type {Row} */ row) => hashAt(place, { child: idOf(row) })} />`}
    ${opened !== undefined && html`<${RowPanel} key=${chosen.child} place=${place} resource=${resource} row=${opened} rows=${rows} params=${params} done=${again} />`}
    ${creates && html`<details class="row-form"><summary>New</summary>${data !== null && html`<${CreatePanel} place=${place} resource=${resource} params=${params} initial=${nextVersion(of, rows)} done=${again} />`}</details>`}
  </section>`
}
