import { h } from './dom.js'
import { icon } from './icons.js'
import { routeHash } from './route.js'
import { sessionNow } from './session.js'

/**
 * @typedef {import('./route.js').Route} Route
 * @typedef {readonly [name: string, icon: string, route: (project: string) => Route]} Entry
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
      ['Approvals', 'approvals', plain('approvals')],
      ['Sessions', 'sessions', list('session')],
      ['Runs', 'runs', list('run')],
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
      ['Tools', 'tools', plain('tools')],
      ['Skills', 'skills', plain('skills')],
    ],
  ],
  [
    'Data',
    [
      ['Tenants', 'tenants', resource('tenants')],
      ['Memory', 'memory', plain('memory')],
      ['Knowledge', 'knowledge', plain('knowledge')],
      ['Connections', 'connections', plain('connections')],
    ],
  ],
  [
    'Gateway',
    [
      ['Gateway', 'gateway', plain('gateway')],
      ['Limits', 'limits', resource('limits')],
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
      ['Settings', 'settings', plain('settings')],
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

/** Pages that few people open often: the search finds them. @type {readonly Entry[]} */
const found = [
  ['Skills, all', 'skills', resource('skills')],
  ['Imports of skills', 'skills', resource('skill_imports')],
  ['Actions', 'approvals', resource('actions')],
  ['Batches', 'runs', resource('batches')],
  ['Batches of messages', 'runs', resource('message_batches')],
  ['Vector stores', 'knowledge', resource('vector_stores')],
  ['MCP servers', 'tools', resource('mcp_servers')],
  ['Connections of tools', 'connections', resource('connections')],
  ['End users', 'members', resource('end_users')],
  ['Rate plans', 'limits', resource('rate_plans')],
  ['Knowledge bases', 'knowledge', resource('knowledge_bases')],
  ['Request log settings', 'settings', resource('request_log_settings')],
  ['Retention', 'settings', resource('retention_settings')],
]

/** The icon of a resource's page. @param {string} kind */
export const iconOf = (kind) =>
  [...groups.flatMap(([, entries]) => entries), ...ofOperators, ...found].find(
    ([, , route]) => pageOf(route('')) === `resources ${kind}`,
  )?.[1] ?? 'sessions'

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

/** @param {Entry} entry @param {string} project @param {Route} current */
const linkOf = ([name, drawn, route], project, current) => {
  const to = route(project)
  const href = routeHash(to)
  const isHere = pageOf(to) === pageOf(current)
  return h('li', {}, h('a', { href, 'aria-current': isHere ? 'page' : undefined }, icon(drawn), name))
}

/** The names and hashes of all pages. @param {string} project */
export const pages = (project) =>
  [...groups.flatMap(([, entries]) => entries), ...found, ...(sessionNow().operates ? ofOperators : [])].map(
    ([name, , route]) => ({
      name,
      href: routeHash(route(project)),
    }),
  )
