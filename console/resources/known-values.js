import { callApi } from '../api.js'
import { html } from '../html.js'
import { useRead } from '../parts/use-read.js'
import { nameOf } from './row-text.js'

/** Ids of the lists of known values, by the names of the fields that take them. */
export const suggestions = {
  model: 'known-models',
  agent_id: 'known-agents',
  tenant_id: 'known-tenants',
  subject_id: 'known-tenants',
  knowledge_base_id: 'known-bases',
  connector: 'known-connectors',
}

const few = { limit: 100 }

/** Lists of known models, agents, tenants, knowledge bases and connectors, which fields suggest by name. @param {{ project: string }} props */
export const KnownValues = ({ project }) => {
  const { data } = useRead(project, async () => {
    const none = () => ({ data: [] })
    const [models, agents, tenants, bases, connectors] = await Promise.all([
      callApi(project, 'models.list', { query: { available: true } }).catch(none),
      callApi(project, 'agents.list', { query: few }).catch(none),
      callApi(project, 'tenants.list', { query: few }).catch(none),
      callApi(project, 'knowledge_bases.list', { query: few }).catch(none),
      callApi(project, 'connectors.list', {}).catch(none),
    ])
    return {
      ...{ models: models.data, agents: agents.data, tenants: tenants.data, bases: bases.data },
      connectors: connectors.data,
    }
  })
  if (data === null) return null
  return Object.entries(data).map(
    ([name, rows]) =>
      html`<datalist id=${`known-${name}`}>${rows.map((/** @type {import('./types.js').Row} */ row) => html`<option value=${String(row.id)}>${nameOf(row)}</option>`)}</datalist>`,
  )
}
