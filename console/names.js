import { callApi } from './api.js'
import { sessionNow } from './session.js'

/** Time in ms after which names are read again. */
const freshMs = 60_000

/** Names by the ids of agents, tenants and keys, whose ids are unique over projects. @type {Map<string, string>} */
const known = new Map()
let newest = { project: '', at: 0 }

/** Reads the names of a project's newest agents, tenants and keys; others are shown by their ids. @param {string} project */
export const readNames = async (project) => {
  if (newest.project === project && Date.now() - newest.at < freshMs) return
  newest = { project, at: Date.now() }
  const few = { query: { limit: 100 } }
  const lists = await Promise.allSettled([
    callApi(project, 'agents.list', few),
    callApi(project, 'tenants.list', few),
    ...(sessionNow().operates ? [callApi(project, 'project_keys.list', few)] : []),
  ])
  for (const list of lists)
    for (const { id, name, external_id } of list.status === 'fulfilled' ? list.value.data : [])
      known.set(id, name ?? external_id ?? id)
}

/** The name of an agent, a tenant or a key; its id while the name is unknown. @param {string} id */
export const nameOf = (id) => known.get(id) ?? id
