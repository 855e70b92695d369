import { h } from './dom.js'
import { icon } from './icons.js'
import { routeHash } from './route.js'
import { sessionNow } from './session.js'

/**
 * An entry has the pages beneath it, which few people open often: they are listed while it or one of them is open.
 *
 * @typedef {import('./route.js').Route} Route
 * @typedef {readonly [name: string, icon: string, route: (project: string) => Route, beneath?: readonly Entry[]]} Entry
 */

/** @param {import('./route.js').PlainView} view @param {import('./route.js').Query} [query] */
const plain = (view, query) => (/** @type {string} */ project) => ({
  view,
  project,
  ...(query !== undefined && { query }),
})

/** @param {string} machine */
const list = (machine) => (/** @type {string} */ project) => ({
  ...{ view: /** @type {const} */ ('list'), project, machine, query: {} },
})

/** @param {string} kind */
const resource = (kind) => plain('resources', { kind })

/** The pages by what people come for. @type {readonly (readonly [group: string, entries: readonly Entry[]])[]} */
const groups = [
  [
    'Observe',
    [
      ['Home', 'home', plain('home')],
      ['Overview', 'overview', plain('overview')],
      ['Approvals', 'approvals', plain('approvals'), [['All actions', 'approvals', resource('actions')]]],
      ['Sessions', 'sessions', list('session')],
      [
        'Runs',
        'runs',
        list('run'),
        [
          ['Batches', 'runs', resource('batches')],
          ['Message batches', 'runs', resource('message_batches')],
        ],
      ],
      ['Fleet', 'fleet', plain('fleet')],
    ],
  ],
  [
    'Build',
    [
      ['Agents', 'agents', resource('agents')],
      ['Prompts', 'audit', resource('prompts')],
      ['Installations', 'installations', resource('installations')],
      ['Playground', 'playground', plain('playground')],
      ['Tools', 'tools', plain('tools'), [['MCP servers', 'tools', resource('mcp_servers')]]],
      [
        'Skills',
        'skills',
        plain('skills'),
        [
          ['All skills', 'skills', resource('skills')],
          ['Imports', 'skills', resource('skill_imports')],
        ],
      ],
    ],
  ],
  [
    'Data',
    [
      ['Tenants', 'tenants', resource('tenants'), [['End users', 'members', resource('end_users')]]],
      ['Memory', 'memory', plain('memory')],
      [
        'Knowledge',
        'knowledge',
        plain('knowledge'),
        [
          ['Knowledge bases', 'knowledge', resource('knowledge_bases')],
          ['Vector stores', 'knowledge', resource('vector_stores')],
        ],
      ],
      [
        'Connections',
        'connections',
        plain('connections'),
        [['All connections', 'connections', resource('connections')]],
      ],
    ],
  ],
  [
    'Gateway',
    [
      ['Gateway', 'gateway', plain('gateway')],
      ['Limits', 'limits', resource('limits'), [['Rate plans', 'limits', resource('rate_plans')]]],
      ['Guardrails', 'guardrails', resource('guardrails')],
      ['Provider keys', 'providers', resource('provider_connections')],
      ['Custom servers', 'servers', resource('custom_providers')],
    ],
  ],
  [
    'Operate',
    [
      ['Webhooks', 'webhooks', resource('webhooks')],
      ['Keys', 'providers', resource('project_keys')],
      ['Members', 'members', resource('project_members')],
      ['Projects', 'projects', resource('projects')],
      [
        'Settings',
        'settings',
        plain('settings'),
        [
          ['Request log', 'settings', resource('request_log_settings')],
          ['Retention', 'settings', resource('retention_settings')],
        ],
      ],
    ],
  ],
]

/** Pages of the installation. @type {readonly Entry[]} */
const ofOperators = [
  ['Organization', 'tenants', resource('organizations')],
  ['Sign-in providers', 'connections', resource('oidc_connections')],
  ['Audit log', 'audit', plain('audit')],
  ['Nodes', 'nodes', plain('nodes')],
  ['Stuck', 'stuck', plain('stuck')],
]

/** An entry, and the pages beneath it. @param {Entry} entry @returns {readonly Entry[]} */
const withBeneath = (entry) => [entry, ...(entry[3] ?? [])]

/** The icon of a resource's page. @param {string} kind */
export const iconOf = (kind) =>
  [...groups.flatMap(([, entries]) => entries), ...ofOperators]
    .flatMap(withBeneath)
    .find(([, , route]) => pageOf(route('')) === `resources ${kind}`)?.[1] ?? 'sessions'

/** Identifies the page that a route belongs to. @param {Route} route */
const pageOf = (route) => {
  if (route.view === 'list') return `list ${route.machine}`
  return route.view === 'resources' ? `resources ${route.query?.kind ?? 'agents'}` : route.view
}

/**
 * The links to all pages, in groups.
 *
 * @param {string} project
 * @param {Route} current
 * @param {boolean} operates
 */
export const navigation = (project, current, operates) =>
  groups.map(([group, entries]) =>
    h(
      'div',
      { class: 'nav-group' },
      h('h2', {}, group),
      h(
        'ul',
        {},
        ...[...entries, ...(operates && group === 'Operate' ? ofOperators : [])].map((entry) =>
          linkOf(entry, project, current),
        ),
        ...(group === 'Operate' ? [h('li', {}, h('a', { href: '/docs' }, icon('knowledge'), 'Documentation'))] : []),
      ),
    ),
  )

/** @param {Entry} entry @param {string} project @param {Route} current @returns {HTMLLIElement} */
const linkOf = (entry, project, current) => {
  const [name, drawn, route, beneath = []] = entry
  const isHere = (/** @type {Entry} */ [, , to]) => pageOf(to(project)) === pageOf(current)
  const opened = withBeneath(entry).some(isHere) ? beneath : []
  return h(
    'li',
    {},
    h('a', { href: routeHash(route(project)), 'aria-current': isHere(entry) ? 'page' : undefined }, icon(drawn), name),
    opened.length === 0 ? null : h('ul', {}, ...opened.map((each) => linkOf(each, project, current))),
  )
}

/** The names and hashes of all pages. @param {string} project */
export const pages = (project) =>
  [...groups.flatMap(([, entries]) => entries), ...(sessionNow().operates ? ofOperators : [])]
    .flatMap(withBeneath)
    .map(([name, , route]) => ({ name, href: routeHash(route(project)) }))
