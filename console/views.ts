import type { Answers } from './answers.d.ts'
import { callApi } from './api.ts'
import { byView, listHash, type Query, resourceHash } from './route.ts'

export type SavedView = Answers['saved_views.list']['data'][number]

let kept: { project: string; views: readonly SavedView[] } = { project: '', views: [] }

/** Reads the signed-in member's views of a project, and keeps them for the search. */
export const readViews = async (project: string): Promise<readonly SavedView[]> => {
  const { data } = await callApi(project, 'saved_views.list', { query: { limit: 100 } })
  kept = { project, views: data }
  return data
}

/** The views with such a name, of those that were read. */
export const viewsNamed = (project: string, text: string) =>
  kept.project === project ? kept.views.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())) : []

/** The parameters of the address that show a view. */
const queryOf = ({ id, filters, columns = [], order = null }: SavedView): Query => ({
  ...filters,
  ...(columns.length > 0 && { columns: columns.join(',') }),
  ...(order !== null && { sort: order }),
  view: id,
})

/** The address of a view, which shows the same list to every member. */
export const viewHash = (project: string, view: SavedView) => {
  const [name = '', machine = ''] = view.page.split('/')
  const query = queryOf(view)
  if (name === 'list') return listHash({ project, machine: machine === 'all' ? '' : machine, ...query })
  return resourceHash(project, machine || (byView[name] ?? ''), query)
}
