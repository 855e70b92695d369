import { callApi } from '../api.ts'
import { html } from '../html.ts'
import { livePage } from '../live-page.ts'
import { nameOf } from '../names.ts'
import { Empty } from '../parts/empty.ts'
import { QueryForm } from '../parts/query-form.ts'
import { useRead } from '../parts/use-read.ts'
import { CreatePanel } from '../resources/create-panel.ts'
import { type Listed, Listing, readListing, resourceAt } from '../resources/resource-page.ts'
import { hashAt } from '../route.ts'
import { may } from '../session.ts'
import { EntityPanel } from './entity-panel.ts'
import { MemorySearch } from './memory-search.ts'

type Shown = Readonly<{ users: readonly string[]; listed: Listed | null }>

const fields = [
  { name: 'user', label: 'User' },
  { name: 'tenant', label: 'Tenant ID' },
  { name: 'q', label: 'Search', wide: true },
  { name: 'as_of', label: 'As of', type: 'datetime-local' },
] as const

/** Query parameters that are dropped when the form changes. */
const fresh = ['after', 'open', 'entity']
const maxActors = 50

/** Memories of one user: searched by keywords and meaning, as of any time, each fact with its history. */
export const memoryPage = livePage({
  everyMs: 0,
  read: async (place): Promise<Shown> =>
    place.query.user
      ? { users: [], listed: await readListing(place, resourceAt(place), givenOf(place)) }
      : { users: await usersSeen(place.project), listed: null },
  show: ({ place, data, done }) => html`<${Memory} place=${place} ...${data} done=${done} />`,
})

/** What each operation on memories of the user takes besides. */
const givenOf = ({ query: { user = '', tenant = '' } }: Place) => ({ query: { userId: user }, params: { tenant } })

/** Users of recent sessions and memory writes. */
const usersSeen = async (project: string) => {
  const lists = await Promise.all(
    ['memory_write', 'session'].map((machine) =>
      callApi(project, 'observation.actors', { query: { machine, limit: maxActors } }),
    ),
  )
  const links = lists
    .flatMap(({ data }) => data.filter(({ external_user_id: user }) => user !== null))
    .map(({ external_user_id: user, tenant_id: tenant }) => JSON.stringify({ user, tenant }))
  return [...new Set(links)].slice(0, 20)
}

const Memory = ({ place, users, listed, done }: { place: Place; done: () => void } & Shown) => {
  const { user = '', q, entity, new: isNew } = place.query
  const resource = resourceAt(place)
  const given = { place, resource, done, params: givenOf(place).params, initial: user ? { userId: user } : {} }
  return html`
    <div class="view-head"><h1>Memory</h1>${may(resource.create) && isNew !== 'yes' && (listed?.rows ?? users).length > 0 && html`<a class="button" href=${hashAt(place, { new: 'yes', open: '' })}>New memory</a>`}${user && html`<span class="muted">of ${user}</span>`}</div>
    <${QueryForm} place=${place} label="Whose memory" button="Show" fields=${fields} fresh=${fresh} />
    ${listed === null && html`${isNew === 'yes' && html`<${CreatePanel} ...${given} />`}<${NoUser} place=${place} users=${users} />`}
    ${user && q && html`<${MemorySearch} place=${place} />`}
    ${user && entity && html`<${EntityPanel} place=${place} entity=${entity} />`}
    ${listed !== null && html`<${Entities} place=${place} /><${Listing} ...${given} listed=${listed} />`}
  `
}

/** The entities in a user's memories. */
const Entities = ({ place }: { place: Place }) => {
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

const NoUser = ({ place, users }: { place: Place; users: readonly string[] }) => {
  if (users.length === 0)
    return html`<${Empty} drawn="memory" title="Whose memories?" create=${may(resourceAt(place).create) && hashAt(place, { new: 'yes' })} one="memory"><p>A memory is something that agents should know of a user the next time. Enter your own id of a user above to see theirs.</p><//>`
  const known = users.map((text) => JSON.parse(text))
  return html`<section class="panel" aria-label="Users seen lately"><h2>Users seen lately</h2><ul class="links">${known.map(
    ({ user, tenant }) =>
      html`<li><a href=${hashAt(place, { user, tenant: tenant ?? '' })}>${user}</a>${tenant && html` <span class="muted">tenant ${nameOf(tenant)}</span>`}</li>`,
  )}</ul></section>`
}
