import { callApi } from './api.js'
import { byView, listHash, resourceHash } from './route.js'

/** @typedef {Answers['saved_views.list']['data'][number]} SavedView */

let kept = { project: '', views: /** @type {readonly SavedView[]} */ ([]) }

/** Reads the signed-in member's views of a project, and keeps them for the search. @param {string} project @returns {Promise<readonly SavedView[]>} */
export const readViews = async (project) => {
  const { data } = await callApi(project, 'saved_views.list', { query: { limit: 100 } })
  kept = { project, views: data }
  return data
}

/** The views with such a name, of those that were read. @param {string} project @param {string} text */
export const viewsNamed = (project, text) =>
  kept.project === project ? kept.views.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())) : []

/** The parameters of the address that show a view. @param {SavedView} view @returns {Query} */
const queryOf = ({ id, filters, columns = [], order = null }) => ({
  ...filters,
  ...(columns.length > 0 && { columns: columns.join(',') }),
  ...(order !== null && { sort: order }),
  view: id,
})

/** The address of a view, which shows the same list to every member. @param {string} project @param {SavedView} view */
export const viewHash = (project, view) => {
  const [name = '', machine = ''] = view.page.split('/')
  const query = queryOf(view)
  if (name === 'list') return listHash({ project, machine: machine === 'all' ? '' : machine, ...query })
  return resourceHash(project, machine || (byView[name] ?? ''), query)
}
