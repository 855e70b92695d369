import { callApi } from '../api.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { nameOf } from '../names.js'
import { Empty } from '../parts/empty.js'
import { QueryForm } from '../parts/query-form.js'
import { bodyOf } from '../resources/form-values.js'
import { memoryForm } from '../resources/resources.js'
import { SchemaForm } from '../resources/schema-form.js'
import { hashAt } from '../route.js'
import { sessionNow } from '../session.js'
import { EntityPanel } from './entity-panel.js'
import { MemoryList, ownerOf } from './memory-list.js'
import { MemoryPanel } from './memory-panel.js'
import { MemorySearch } from './memory-search.js'

/** @typedef {{ users: readonly string[] }} Shown */

const fields = /** @type {const} */ ([
  { name: 'user', label: 'User' },
  { name: 'tenant', label: 'Tenant ID' },
  { name: 'q', label: 'Search', wide: true },
  { name: 'as_of', label: 'As of', type: 'datetime-local' },
])

/** Query parameters that are dropped when the form changes. */
const fresh = ['after', 'id', 'entity']
const maxActors = 50

/** Memories of one user: searched by keywords and meaning, as of any time, each fact with its history. */
export const memoryPage = livePage({
  everyMs: 0,
  read: async ({ project, query }) => ({ users: query.user ? [] : await usersSeen(project) }),
  show: ({ place, data }) => html`<${Memory} place=${place} shown=${data} />`,
})

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

/** @param {{ place: Place, shown: Shown }} props */
const Memory = ({ place, shown }) => {
  const { user, q, id, entity, new: isNew } = place.query
  return html`
    <div class="view-head"><h1>Memory</h1>${sessionNow().operates && isNew !== 'yes' && html`<a class="button" href=${hashAt(place, { new: 'yes' })}>New</a>`}${user && html`<span class="muted">of ${user}</span>`}</div>
    <${QueryForm} place=${place} label="Whose memory" button="Show" fields=${fields} fresh=${fresh} />
    ${isNew === 'yes' && html`<${NewMemory} place=${place} />`}
    ${!user && html`<${NoUser} place=${place} users=${shown.users} />`}
    ${id && html`<${MemoryPanel} key=${id} place=${place} id=${id} />`}
    ${user && q && html`<${MemorySearch} place=${place} />`}
    ${user && entity && html`<${EntityPanel} place=${place} entity=${entity} />`}
    ${user && html`<${MemoryList} place=${place} />`}
  `
}

/** A form for a memory of the user, or of another one. @param {{ place: Place }} props */
const NewMemory = ({ place }) => {
  const { user, tenant } = ownerOf(place)
  const write = async (/** @type {import('../resources/types.js').Values} */ values) => {
    await callApi(place.project, 'memory.write', {
      body: bodyOf(memoryForm.fields, values),
      tenant,
    })
    location.hash = hashAt(place, { new: '', user: String(values.userId), after: '' })
  }
  return html`<section class="panel" aria-label="New memory">
    <h2>Write a memory <a class="close" href=${hashAt(place, { new: '' })}>Close</a></h2>
    <div class="panel-part"><${SchemaForm} label=${memoryForm.summary} button="Write" fields=${memoryForm.fields} initial=${user ? { userId: user } : {}} send=${write} /></div>
  </section>`
}

/** @param {{ place: Place, users: readonly string[] }} props */
const NoUser = ({ place, users }) => {
  if (users.length === 0)
    return html`<${Empty} drawn="memory" title="No memories seen lately" create=${sessionNow().operates && hashAt(place, { new: 'yes' })} verb="Write the first one"><p>A memory is something that agents should know of a user the next time. Enter your own id of a user to see theirs.</p><//>`
  const known = users.map((text) => JSON.parse(text))
  return html`<section class="panel" aria-label="Users seen lately"><h2>Users seen lately</h2><ul class="links">${known.map(
    ({ user, tenant }) =>
      html`<li><a href=${hashAt(place, { user, tenant: tenant ?? '' })}>${user}</a>${tenant && html` <span class="muted">tenant ${nameOf(tenant)}</span>`}</li>`,
  )}</ul></section>`
}
