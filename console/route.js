/**
 * @typedef {{ view: 'list', project: string | null, machine: string, query: Query }} ListRoute
 * @typedef {{ view: 'actor', project: string | null, id: string, step?: number }} ActorRoute
 * @typedef {(typeof plainViews)[number]} PlainView
 * @typedef {Readonly<Record<string, string>>} Query
 * @typedef {{ view: PlainView, project: string | null, query?: Query }} PlainRoute
 * @typedef {ListRoute | ActorRoute | PlainRoute} Route
 */

const plainViews = /** @type {const} */ ([
  ...['home', 'fleet', 'nodes', 'stuck', 'skills', 'bundle'],
  ...['gateway', 'playground', 'memory', 'knowledge', 'connections', 'tools', 'settings', 'resources'],
  ...['overview', 'approvals', 'audit', 'compare', 'missing'],
])

/** @param {string | undefined} view @returns {view is PlainView} */
const isPlain = (view) => plainViews.some((each) => each === view)

/**
 * Parses the hash of a location: `#/projects/<id>/list/session?state=paused`, `#/projects/<id>/actors/<id>?step=12`,
 * `#/projects/<id>/gateway?by=tenant` and other plain views, or any of them without the project. Anything else is the
 * page for what does not exist; without a view it is the home page.
 *
 * @param {string} hash
 * @returns {Route}
 */
export const parseRoute = (hash) => {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?')
  const parts = path.split('/').filter(Boolean).map(decoded)
  const project = parts[0] === 'projects' ? (parts[1] ?? null) : null
  const [view, id] = parts[0] === 'projects' ? parts.slice(2) : parts
  const search = new URLSearchParams(query)
  if (view === 'actors' && id) return { view: 'actor', project, id, ...stepIn(search) }
  if (isPlain(view)) return { view, project, ...(search.size === 0 ? {} : { query: Object.fromEntries(search) }) }
  if (view === 'sessions') return listRoute(project, 'session', search)
  if (view !== 'list') return { view: view === undefined ? 'home' : 'missing', project }
  return listRoute(project, id ?? (search.get('error') || search.get('tool') ? '' : 'session'), search)
}

/** @param {string | null} project @param {string} machine @param {URLSearchParams} search @returns {ListRoute} */
const listRoute = (project, machine, search) => ({
  ...{ view: 'list', project, machine },
  query: Object.fromEntries([...search].filter(([, value]) => value !== '')),
})

/** @param {URLSearchParams} search */
const stepIn = (search) => {
  const step = Number(search.get('step'))
  return Number.isInteger(step) && step > 0 ? { step } : {}
}

/** The hash of a route, which `parseRoute` parses. @param {Route} route */
export const routeHash = (route) => {
  const place = route.project === null ? '#' : `#/projects/${encodeURIComponent(route.project)}`
  if (route.view === 'actor') {
    const step = route.step === undefined ? '' : `?step=${route.step}`
    return `${place}/actors/${encodeURIComponent(route.id)}${step}`
  }
  if (route.view !== 'list') return `${place}/${route.view}${searchOf(Object.entries(route.query ?? {}))}`
  const kind = route.machine === '' ? '' : `/${encodeURIComponent(route.machine)}`
  return `${place}/list${kind}${searchOf(Object.entries(route.query))}`
}

/** Entries that have a value. @param {readonly (readonly [string, string | null | undefined])[]} entries @returns {[string, string][]} */
const given = (entries) => entries.flatMap(([name, value]) => (value ? [[name, value]] : []))

/** The query string of non-empty values; '' for none. @param {readonly (readonly [string, string])[]} entries */
const searchOf = (entries) => {
  const search = new URLSearchParams(given(entries))
  return search.size === 0 ? '' : `?${search}`
}

/**
 * The hash of a plain view with changed query parameters: `changes` overrides them, and '' removes one.
 *
 * @param {{ view: PlainView, project: string, query: Query }} place
 * @param {Query} [changes]
 */
export const hashAt = ({ view, project, query }, changes = {}) =>
  routeHash({ view, project, query: { ...query, ...changes } })

/**
 * The hash of a list; by default of sessions without filters.
 *
 * @param {{ project: string | null, machine?: string, [filter: string]: string | null | undefined }} list with filters by their names
 */
export const listHash = ({ project, machine = 'session', ...query }) =>
  routeHash({ view: 'list', project, machine, query: Object.fromEntries(given(Object.entries(query))) })

/** Resources with an address of their own. @type {Readonly<Record<string, string>>} */
export const byView = {
  ...{ connections: 'connections', tools: 'mcp_servers', knowledge: 'knowledge_bases' },
  ...{ audit: 'audit_log', stuck: 'stuck', gateway: 'request_log', memory: 'memory' },
}

/** The hash of the page of resources of a kind (`resources/resources.js`). @param {string} project @param {string} kind @param {Query} query */
export const resourceHash = (project, kind, query) => {
  const view = plainViews.find((each) => byView[each] === kind)
  return view === undefined
    ? routeHash({ view: 'resources', project, query: { kind, ...query } })
    : routeHash({ view, project, query })
}

/** The hash of the form for a new resource of a kind. @param {string} project @param {string} kind */
export const newResource = (project, kind) => resourceHash(project, kind, { new: 'yes' })

/** @param {string} part */
const decoded = (part) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The hash of the page that compares two runs or sessions. @param {string} project @param {readonly string[]} ids */
export const compareHash = (project, [a = '', b = '']) => routeHash({ view: 'compare', project, query: { a, b } })
