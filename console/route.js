/**
 * @typedef {{ view: 'list', project: string | null, machine: string, state: string, tenant: string, agent: string, error: string, from: string, to: string, after: string }} ListRoute
 * @typedef {{ view: 'actor', project: string | null, id: string, step?: number }} ActorRoute
 * @typedef {'home' | 'fleet' | 'nodes' | 'stuck' | 'skills' | 'bundle'} PlainView
 * @typedef {{ view: PlainView, project: string | null }} PlainRoute
 * @typedef {ListRoute | ActorRoute | PlainRoute} Route
 */

/** Filters of a list, as its URL names them. */
const filters = /** @type {const} */ (['state', 'tenant', 'agent', 'error', 'from', 'to', 'after'])

/** @type {readonly string[]} */
const plainViews = ['home', 'fleet', 'nodes', 'stuck', 'skills', 'bundle']

/** @param {string | undefined} view @returns {view is PlainView} */
const isPlain = (view) => view !== undefined && plainViews.includes(view)

/**
 * The view that a location's hash names: `#/projects/<id>/list/session?state=paused`, `#/projects/<id>/actors/<id>?step=12`,
 * `#/projects/<id>/home` and other plain ones, or any without the project. Anything else is the home.
 *
 * @param {string} hash
 * @returns {Route}
 */
export const parseRoute = (hash) => {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?')
  const parts = path.split('/').filter(Boolean).map(decoded)
  const project = parts[0] === 'projects' ? (parts[1] ?? null) : null
  const [view, id] = project === null ? parts : parts.slice(2)
  const search = new URLSearchParams(query)
  if (view === 'actors' && id) return { view: 'actor', project, id, ...stepIn(search) }
  if (isPlain(view)) return { view, project }
  if (view === 'sessions') return listRoute(project, 'session', search)
  if (view !== 'list') return { view: 'home', project }
  return listRoute(project, id ?? (search.get('error') ? '' : 'session'), search)
}

/** @param {string | null} project @param {string} machine @param {URLSearchParams} search @returns {ListRoute} */
const listRoute = (project, machine, search) => {
  const [state, tenant, agent, error, from, to, after] = filters.map((name) => search.get(name) ?? '')
  return {
    view: 'list',
    project,
    machine,
    ...{ state: state ?? '', tenant: tenant ?? '', agent: agent ?? '', error: error ?? '' },
    ...{ from: from ?? '', to: to ?? '', after: after ?? '' },
  }
}

/** @param {URLSearchParams} search */
const stepIn = (search) => {
  const step = Number(search.get('step'))
  return Number.isInteger(step) && step > 0 ? { step } : {}
}

/**
 * The hash that `parseRoute` reads back.
 *
 * @param {Route} route
 */
export const routeHash = (route) => {
  const place = route.project === null ? '#' : `#/projects/${encodeURIComponent(route.project)}`
  if (route.view === 'actor') {
    const step = route.step === undefined ? '' : `?step=${route.step}`
    return `${place}/actors/${encodeURIComponent(route.id)}${step}`
  }
  if (route.view !== 'list') return `${place}/${route.view}`
  const search = new URLSearchParams()
  for (const name of filters) if (route[name] !== '') search.set(name, route[name])
  const kind = route.machine === '' ? '' : `/${encodeURIComponent(route.machine)}`
  return `${place}/list${kind}${search.size === 0 ? '' : `?${search}`}`
}

/**
 * The hash of a list; sessions without filters when nothing is said.
 *
 * @param {Partial<ListRoute> & { project: string | null }} list
 */
export const listHash = (list) => routeHash({ ...listRoute(list.project, 'session', new URLSearchParams()), ...list })

/** @param {string} part */
const decoded = (part) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
