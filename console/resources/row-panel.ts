import { callById } from '../api.ts'
import { html, useState } from '../html.ts'
import { withNames } from '../names.ts'
import { operations } from '../operations.ts'
import { CopyId } from '../parts/copy-button.ts'
import { cellsOf } from '../parts/list-view.ts'
import { Table } from '../parts/table.ts'
import { Trouble } from '../parts/trouble.ts'
import { useRead } from '../parts/use-read.ts'
import { hashAt, routeHash } from '../route.ts'
import { may } from '../session.ts'
import { CreatePanel } from './create-panel.ts'
import { bodyOf, changesOf } from './form-values.ts'
import { Nested } from './nested.ts'
import { columnsOf, inOrder } from './resource-columns.ts'
import { resources } from './resources.ts'
import { paramsOf, RowActs } from './row-acts.ts'
import { rowParts } from './row-parts.ts'
import { cellOf, idOf, isEmpty, nameOf, titleOf } from './row-text.ts'
import { SchemaForm } from './schema-form.ts'
import type { Act, Resource, Row, Values } from './types.ts'
import { VersionDiff } from './version-diff.ts'

/** `params`: those of the paths that name what the row belongs to */
type RowProps = Props & { rows?: readonly Row[]; params: Params }

/** One resource: all its fields, its form, what can be done with it, and the resources that belong to it. */
export const RowPanel = ({ place, resource, row, rows = [], params, done }: RowProps) => {
  const { project } = place
  const { update, children, parent, name: kind } = resource
  const own = paramsOf({ resource, row, params })
  const lead = leads[kind]
  const Part = rowParts[kind]
  const closed = hashAt(place, parent === null ? { open: '', child: '', q: '' } : { child: '', from: '', chunks: '' })
  const removed = () => {
    location.hash = closed
  }
  const save = async (body: unknown) => {
    if (update !== null) await callById(project, update.id, { params: own, body })
    done()
  }
  return html`<section class="panel" aria-label=${nameOf(row)}>
    ${!resource.single && html`<h2>${nameOf(row)} ${typeof row.id === 'string' && html`<${CopyId} id=${row.id} />`} <a class="close" href=${closed}>Close</a></h2>`}
    <dl class="facts row-facts">${factsOf(row, resource).map((name) => html`<${Fact} key=${name} name=${name} row=${row} resource=${resource} />`)}</dl>
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

/** Where a row leads, by its resource. */
const leads: Readonly<Record<string, { title: string; to: (project: string, id: string) => string }>> = {
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

/** Fields with a value, or words for none, that neither the head nor a part says, short ones first. */
const factsOf = (row: Row, { single, empty = {} }: Resource) =>
  Object.keys(row)
    .filter(
      (name) =>
        name !== 'id' &&
        (!isEmpty(row[name]) || (single && name in empty)) &&
        !inParts.includes(name) &&
        !(name === 'name' && row.name === nameOf(row)),
    )
    .toSorted((a, b) => Number(isNested(row[a])) - Number(isNested(row[b])))

const isNested = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0

/** A field: a nested one over the whole width. */
const Fact = ({ name, row, resource }: Props) => {
  const value = row[name]
  return isNested(value)
    ? html`<div class="col-span-full [&_pre]:whitespace-pre-wrap"><dt>${titleOf(name)}</dt><dd><${Nested} value=${value} /></dd></div>`
    : html`<div><dt>${titleOf(name)}</dt><dd>${cellOf(name, row, resource.empty?.[name])}</dd></div>`
}

/** @param props `whole`: all fields are sent, not only those that changed */
const Edit = (props: Props & { act: Act; whole?: true | undefined; send: (body: unknown) => Promise<unknown> }) => {
  const { act, row, whole, send } = props
  const { fields, summary } = act
  const [before] = useState(row)
  return html`<${SchemaForm} label=${summary} button="Save" fields=${fields} initial=${before}
    send=${(values: Values) => send(whole ? bodyOf(fields, values) : changesOf(fields, values, before))} />`
}

/** What a new version starts with: the config that its agent has now, and the next number. @param rows newest first */
const nextVersion = ({ config, visibility }: Row, rows: readonly Row[]) => {
  if (config === undefined) return {}
  const [major, minor] = String(rows[0]?.version ?? '1.-1').split('.')
  return { version: `${major}.${Number(minor) + 1}.0`, config, visibility }
}

const maxChildren = 50
const noFields = {}

/** The resource of a name. */
export const resourceOf = (name: string) => {
  const resource = resources.find((each) => each.name === name)
  if (resource === undefined) throw new Error(`there is no resource ${name}`)
  return resource
}

/**
 * The resources of one kind that belong to another, or to the member.
 *
 * @param props `of`: what they belong to, with which they are read again
 */
export const Children = (props: Props & { of?: object; params?: Params }) => {
  const { place, name, of = noFields, params = noFields } = props
  const { list } = resourceOf(name)
  const parameters: readonly string[] = operations[list][2]
  const query = parameters.includes('limit') ? { limit: maxChildren } : {}
  const { data, error, again } = useRead(
    JSON.stringify([name, params]),
    (signal) => callById(place.project, list, { params, query, signal }).then((read) => withNames(place.project, read)),
    { keep: true, since: of },
  )
  return html`
    <${Trouble} error=${error} within="panel-part" />
    ${data !== null && html`<${Rows} place=${place} name=${name} rows=${data.data} isCut=${data.next_cursor != null} of=${of} params=${params} done=${again} />`}
  `
}

/** What ids of one kind begin with. */
const prefixOf = (id: string) => id.split('_')[0]

/**
 * Resources of one kind as a part of a page, with what can be done with each.
 *
 * @param props `whole`: as a panel of its own; `children`: shown before them
 */
export const Rows = (
  props: Props & { rows: readonly Row[]; isCut?: boolean; of?: Row; params?: Params; whole?: boolean },
) => {
  const { place, name, rows: unsorted, isCut = false, of = noFields, params = noFields, whole, children, done } = props
  const resource = resourceOf(name)
  const { title, one, about, none, create, get } = resource
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
  const hrefOf = (row: Row) => hashAt(place, { child: idOf(row), from: '', chunks: '' })
  const columns = cellsOf(columnsOf({ project: place.project, resource, rows, params, hrefOf, done }))
  const part = html`<section class="panel-part" aria-label=${title}>
    ${!whole && html`<h3>${title}</h3>`}${children}
    ${rows.length === 0 ? html`<p class="muted">${about === '' ? 'None yet.' : `${none}. ${about}`}</p>` : html`<${Table} label=${title} columns=${columns} rows=${rows} keyOf=${idOf} />`}
    ${isCut && html`<p class="muted">Only the newest ${rows.length} are listed.</p>`}
    <${Trouble} error=${error} />
    ${opened !== undefined && html`<${RowPanel} key=${idOf(opened)} place=${place} resource=${resource} row=${opened} rows=${rows} params=${params} done=${done} />`}
    ${may(create) && html`<details class="row-form mt-8"><summary class="button quiet">New ${one}</summary><${CreatePanel} nested place=${place} resource=${resource} params=${params} initial=${nextVersion(of, rows)} done=${done} /></details>`}
  </section>`
  return whole ? html`<div class="panel"><h2>${title}</h2>${part}</div>` : part
}
