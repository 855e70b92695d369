type ListRoute = Readonly<{ view: 'list'; project: string | null; machine: string; query: Query }>

type ActorRoute = Readonly<{ view: 'actor'; project: string | null; id: string; step?: number }>

type PlainView = (typeof plainViews)[number]

/** The current view; all of it is in the URL. */
export type Place = Readonly<{ view: PlainView; project: string; query: Query }>

export type Query = Readonly<Record<string, string>>

type PlainRoute = Readonly<{ view: PlainView; project: string | null; query?: Query }>

export type Route = ListRoute | ActorRoute | PlainRoute

const plainViews = [
  ...['home', 'fleet', 'nodes', 'stuck', 'skills', 'bundle'],
  ...['gateway', 'playground', 'memory', 'knowledge', 'connections', 'tools', 'settings', 'resources'],
  ...['overview', 'approvals', 'audit', 'compare', 'missing'],
] as const

const isPlain = (view: string | undefined): view is PlainView => plainViews.some((each) => each === view)

/**
 * Parses the hash of a location: `#/projects/<id>/list/session?state=paused`, `#/projects/<id>/actors/<id>?step=12`,
 * `#/projects/<id>/gateway?by=tenant` and other plain views, or any of them without the project. Anything else is the
 * page for what does not exist; without a view it is the home page.
 */
export const parseRoute = (hash: string): Route => {
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

const listRoute = (project: string | null, machine: string, search: URLSearchParams): ListRoute => ({
  ...{ view: 'list', project, machine },
  query: Object.fromEntries([...search].filter(([, value]) => value !== '')),
})

const stepIn = (search: URLSearchParams) => {
  const step = Number(search.get('step'))
  return Number.isInteger(step) && step > 0 ? { step } : {}
}

/** The hash of a route, which `parseRoute` parses. */
export const routeHash = (route: Route) => {
  const place = route.project === null ? '#' : `#/projects/${encodeURIComponent(route.project)}`
  if (route.view === 'actor') {
    const step = route.step === undefined ? '' : `?step=${route.step}`
    return `${place}/actors/${encodeURIComponent(route.id)}${step}`
  }
  if (route.view !== 'list') return `${place}/${route.view}${searchOf(Object.entries(route.query ?? {}))}`
  const kind = route.machine === '' ? '' : `/${encodeURIComponent(route.machine)}`
  return `${place}/list${kind}${searchOf(Object.entries(route.query))}`
}

/** Entries that have a value. */
const given = (entries: readonly (readonly [string, string | null | undefined])[]): [string, string][] =>
  entries.flatMap(([name, value]) => (value ? [[name, value]] : []))

/** The query string of non-empty values; '' for none. */
const searchOf = (entries: readonly (readonly [string, string])[]) => {
  const search = new URLSearchParams(given(entries))
  return search.size === 0 ? '' : `?${search}`
}

/** The hash of a plain view with changed query parameters: `changes` overrides them, and '' removes one. */
export const hashAt = ({ view, project, query }: Place, changes: Query = {}) =>
  routeHash({ view, project, query: { ...query, ...changes } })

/** The hash of a list; by default of sessions without filters. @param list with filters by their names */
export const listHash = ({
  project,
  machine = 'session',
  ...query
}: {
  project: string | null
  machine?: string
  [filter: string]: string | null | undefined
}) => routeHash({ view: 'list', project, machine, query: Object.fromEntries(given(Object.entries(query))) })

/** Resources with an address of their own. */
export const byView: Readonly<Record<string, string>> = {
  ...{ connections: 'connections', tools: 'mcp_servers', knowledge: 'knowledge_bases' },
  ...{ audit: 'audit_log', stuck: 'stuck', gateway: 'request_log', memory: 'memory' },
}

/** The hash of the page of resources of a kind (`resources/resources.ts`). */
export const resourceHash = (project: string, kind: string, query: Query) => {
  const view = plainViews.find((each) => byView[each] === kind)
  return view === undefined
    ? routeHash({ view: 'resources', project, query: { kind, ...query } })
    : routeHash({ view, project, query })
}

/** The hash of the form for a new resource of a kind. */
export const newResource = (project: string, kind: string) => resourceHash(project, kind, { new: 'yes' })

const decoded = (part: string) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The hash of the page that compares two runs or sessions. */
export const compareHash = (project: string, [a = '', b = '']: readonly string[]) =>
  routeHash({ view: 'compare', project, query: { a, b } })
