import { callApi } from '../api.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { nameOf } from '../names.js'
import { Empty } from '../parts/empty.js'
import { QueryForm } from '../parts/query-form.js'
import { useRead } from '../parts/use-read.js'
import { CreatePanel } from '../resources/create-panel.js'
import { Listing, readListing, resourceAt } from '../resources/resource-page.js'
import { hashAt } from '../route.js'
import { may } from '../session.js'
import { EntityPanel } from './entity-panel.js'
import { MemorySearch } from './memory-search.js'

/** @typedef {{ users: readonly string[], listed: import('../resources/resource-page.js').Listed | null }} Shown */

const fields = /** @type {const} */ ([
  { name: 'user', label: 'User' },
  { name: 'tenant', label: 'Tenant ID' },
  { name: 'q', label: 'Search', wide: true },
  { name: 'as_of', label: 'As of', type: 'datetime-local' },
])

/** Query parameters that are dropped when the form changes. */
const fresh = ['after', 'open', 'entity']
const maxActors = 50

/** Memories of one user: searched by keywords and meaning, as of any time, each fact with its history. */
export const memoryPage = livePage({
  everyMs: 0,
  /** @returns {Promise<Shown>} */
  read: async (place) =>
    place.query.user
      ? { users: [], listed: await readListing(place, resourceAt(place), givenOf(place)) }
      : { users: await usersSeen(place.project), listed: null },
  show: ({ place, data, done }) => html`<${Memory} place=${place} ...${data} done=${done} />`,
})

/** What each operation on memories of the user takes besides. @param {Place} place */
const givenOf = ({ query: { user = '', tenant = '' } }) => ({ query: { userId: user }, params: { tenant } })

/** Users of recent sessions and memory writes. @param {string} project */
const usersSeen = async (project) => {
  const lists = await Promise.all(
    ['memory_write', 'session'].map((machine) =>
      callApi(project, 'observation.actors', { query: { machine, limit: maxActors } }),
    ),
  )
  const users = lists.flatMap(({ data }) =>
    data.map(({ external_user_id: user, tenant_id: tenant }) => ({
      user,
      tenant,
    })),
  )
  const links = users.filter(({ user }) => user !== null).map((each) => JSON.stringify(each))
  return [...new Set(links)].slice(0, 20)
}

/** @param {{ place: Place, done: () => void } & Shown} props */
const Memory = ({ place, users, listed, done }) => {
  const { user = '', q, entity, new: isNew } = place.query
  const resource = resourceAt(place)
  const given = { place, resource, done, params: givenOf(place).params, initial: user ? { userId: user } : {} }
  return html`
    <div class="view-head"><h1>Memory</h1>${may(resource.create) && isNew !== 'yes' && html`<a class="button" href=${hashAt(place, { new: 'yes', open: '' })}>New</a>`}${user && html`<span class="muted">of ${user}</span>`}</div>
    <${QueryForm} place=${place} label="Whose memory" button="Show" fields=${fields} fresh=${fresh} />
    ${listed === null && html`${isNew === 'yes' && html`<${CreatePanel} ...${given} />`}<${NoUser} place=${place} users=${users} />`}
    ${user && q && html`<${MemorySearch} place=${place} />`}
    ${user && entity && html`<${EntityPanel} place=${place} entity=${entity} />`}
    ${listed !== null && html`<${Entities} place=${place} /><${Listing} ...${given} listed=${listed} />`}
  `
}

/** The entities in a user's memories. @param {{ place: Place }} props */
const Entities = ({ place }) => {
  const { user = '', tenant = '' } = place.query
  const { data } = useRead(`${tenant} ${user}`, (signal) =>
    callApi(place.project, 'memory.entities', { query: { userId: user, limit: 30 }, tenant, signal }),
  )
  if (data === null || data.entities.length === 0) return null
  return html`<section class="panel" aria-label="Entities"><h2>Entities <span class="muted">most relations first</span></h2><ul class="links">${data.entities.map(
    ({ name, relations }) =>
      html`<li><a href=${hashAt(place, { entity: name })}>${name}</a> <span class="muted">${relations}</span></li>`,
  )}</ul></section>`
}

/** @param {{ place: Place, users: readonly string[] }} props */
const NoUser = ({ place, users }) => {
  if (users.length === 0)
    return html`<${Empty} drawn="memory" title="No memories seen lately" create=${may(resourceAt(place).create) && hashAt(place, { new: 'yes' })} verb="Write the first one"><p>A memory is something that agents should know of a user the next time. Enter your own id of a user to see theirs.</p><//>`
  const known = users.map((text) => JSON.parse(text))
  return html`<section class="panel" aria-label="Users seen lately"><h2>Users seen lately</h2><ul class="links">${known.map(
    ({ user, tenant }) =>
      html`<li><a href=${hashAt(place, { user, tenant: tenant ?? '' })}>${user}</a>${tenant && html` <span class="muted">tenant ${nameOf(tenant)}</span>`}</li>`,
  )}</ul></section>`
}
