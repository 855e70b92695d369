/**
 * @typedef {{ view: 'sessions', project: string | null, status: string, page: number }} SessionsRoute
 * @typedef {{ view: 'actor', project: string | null, id: string }} ActorRoute
 * @typedef {{ view: 'nodes', project: string | null }} NodesRoute
 * @typedef {{ view: 'stuck', project: string | null }} StuckRoute
 * @typedef {{ view: 'skills', project: string | null }} SkillsRoute
 * @typedef {SessionsRoute | ActorRoute | NodesRoute | StuckRoute | SkillsRoute} Route
 */

/** What the status filter offers; '' for all. */
export const statuses = ['', 'active', 'paused', 'completed']

/**
 * The view that a location's hash names: `#/projects/<id>/sessions?status=paused&page=2`, `#/projects/<id>/actors/<id>`,
 * `#/projects/<id>/nodes`, `#/projects/<id>/stuck`, `#/projects/<id>/skills`, or any without the project. Anything else is the list of sessions.
 *
 * @param {string} hash
 * @returns {Route}
 */
export const parseRoute = (hash) => {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?')
  const parts = path.split('/').filter(Boolean).map(decoded)
  const project = parts[0] === 'projects' ? (parts[1] ?? null) : null
  const [view, id] = project === null ? parts : parts.slice(2)
  if (view === 'actors' && id) return { view: 'actor', project, id }
  if (view === 'nodes' || view === 'stuck' || view === 'skills') return { view, project }
  const search = new URLSearchParams(query)
  const status = search.get('status') ?? ''
  const page = Number(search.get('page') ?? 1)
  return {
    view: 'sessions',
    project,
    status: statuses.includes(status) ? status : '',
    page: Number.isInteger(page) && page > 0 ? page : 1,
  }
}

/**
 * The hash that `parseRoute` reads back.
 *
 * @param {Route} route
 */
export const routeHash = (route) => {
  const place = route.project === null ? '#' : `#/projects/${encodeURIComponent(route.project)}`
  if (route.view === 'actor') return `${place}/actors/${encodeURIComponent(route.id)}`
  if (route.view === 'nodes' || route.view === 'stuck' || route.view === 'skills') return `${place}/${route.view}`
  const search = new URLSearchParams()
  if (route.status !== '') search.set('status', route.status)
  if (route.page !== 1) search.set('page', String(route.page))
  return `${place}/sessions${search.size === 0 ? '' : `?${search}`}`
}

/** @param {string} part */
const decoded = (part) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
