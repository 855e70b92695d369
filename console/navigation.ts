import { actorPrefixes } from './actor-ids.ts'
import { html, useEffect, useState } from './html.ts'
import { Icon } from './icons.ts'
import { type Place, parseRoute } from './route.ts'
import { sessionNow } from './session.ts'
import type { ComponentChild } from './vendor/preact.js'

/**
 * A page: its name, its icon and its address within a project. It has the pages beneath it, which few people open
 * often: they are listed while it or one of them is open.
 */
type Entry = readonly [name: string, drawn: string, place: string, beneath?: Readonly<Record<string, string>>]

/** Pages of the installation. */
const ofOperators: readonly Entry[] = [
  ['Organization', 'tenants', 'resources?kind=organizations'],
  ['Sign-in providers', 'connections', 'resources?kind=oidc_connections'],
  ['Audit log', 'audit', 'audit'],
  ['Nodes', 'nodes', 'nodes'],
  ['Stuck', 'stuck', 'stuck'],
]

/** The pages by what people come for. */
const groups: Readonly<Record<string, readonly Entry[]>> = {
  Observe: [
    ['Home', 'home', 'home'],
    ['Overview', 'overview', 'overview'],
    ['Approvals', 'approvals', 'approvals', { 'All actions': 'resources?kind=actions' }],
    ['Sessions', 'sessions', 'list/session'],
    [
      'Runs',
      'runs',
      'list/run',
      { Batches: 'resources?kind=batches', 'Message batches': 'resources?kind=message_batches' },
    ],
    ['Fleet', 'fleet', 'fleet'],
  ],
  Build: [
    ['Agents', 'agents', 'resources?kind=agents'],
    ['Prompts', 'audit', 'resources?kind=prompts'],
    ['Installations', 'installations', 'resources?kind=installations'],
    ['Playground', 'playground', 'playground'],
    ['Tools', 'tools', 'tools'],
    ['Skills', 'skills', 'skills', { 'All skills': 'resources?kind=skills', Imports: 'resources?kind=skill_imports' }],
  ],
  Data: [
    ['Tenants', 'tenants', 'resources?kind=tenants', { 'End users': 'resources?kind=end_users' }],
    ['Memory', 'memory', 'memory'],
    ['Knowledge', 'knowledge', 'knowledge', { 'Vector stores': 'resources?kind=vector_stores' }],
    ['Connections', 'connections', 'connections'],
  ],
  Models: [
    ['Gateway', 'gateway', 'gateway'],
    ['Limits', 'limits', 'resources?kind=limits', { 'Rate plans': 'resources?kind=rate_plans' }],
    ['Guardrails', 'guardrails', 'resources?kind=guardrails'],
    ['Provider keys', 'providers', 'resources?kind=provider_connections'],
    ['Custom servers', 'servers', 'resources?kind=custom_providers'],
  ],
  Operate: [
    ['Webhooks', 'webhooks', 'resources?kind=webhooks'],
    ['Keys', 'providers', 'resources?kind=project_keys'],
    ['Members', 'members', 'resources?kind=project_members'],
    ['Projects', 'projects', 'resources?kind=projects'],
    [
      'Settings',
      'settings',
      'settings',
      { 'Request log': 'resources?kind=request_log_settings', Retention: 'resources?kind=retention_settings' },
    ],
  ],
}

/** The groups that the member sees. */
const shownGroups = () => Object.entries(sessionNow().operates ? { ...groups, Installation: ofOperators } : groups)

/** An entry, and the pages beneath it, as entries. */
const withBeneath = (entry: Entry): readonly Entry[] => [
  entry,
  ...Object.entries(entry[3] ?? {}).map(([name, place]) => [name, entry[1], place] as const),
]

const hashOf = (project: string, place: string) => `#/projects/${encodeURIComponent(project)}/${place}`

/** Identifies the page that an address belongs to. */
const pageOf = (hash: string) => {
  const route = parseRoute(hash)
  if (route.view === 'list') return `list ${route.machine}`
  if (route.view === 'actor') return `list ${actorPrefixes[route.id.slice(0, route.id.lastIndexOf('_'))]}`
  return route.view === 'resources' ? `resources ${route.query?.kind ?? 'agents'}` : route.view
}

/** The icon of a page. */
export const iconOf = ({ view, query: { kind } }: Place) =>
  [...Object.values(groups), ofOperators]
    .flat()
    .flatMap(withBeneath)
    .find(([, , place]) => place === view || place === `resources?kind=${kind}`)?.[1] ?? 'sessions'

/** Groups of pages that few people open often: they are closed until one of their pages is shown. */
const seldom = ['Models', 'Operate', 'Installation']
const chosenGroups = 'troupe.groups'

/** Which groups the member opened or closed, by their names. */
const readChosen = (): Readonly<Record<string, boolean>> =>
  Object(JSON.parse(localStorage.getItem(chosenGroups) ?? '{}'))

/** The links to all pages, in groups that open and close. @param props `current`: the address that is shown */
export const Navigation = ({ project, current }: { project: string; current: string }) => {
  const here = pageOf(current)
  const [chosen, setChosen] = useState(readChosen)
  // the group of the page is open wherever one comes from, and may be closed while the page is shown
  const [closedAt, setClosedAt] = useState('')
  useEffect(() => {
    const link = document.querySelector('.side [aria-current]')
    if (innerWidth <= 860) link?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [here])
  const toggle = (event: Event, group: string, { open, hasPage }: { open: boolean; hasPage: boolean }) => {
    // the browser would open it too
    event.preventDefault()
    const next = { ...chosen, [group]: !open }
    setChosen(next)
    if (hasPage) setClosedAt(open ? here : '')
    const text = JSON.stringify(next)
    localStorage.setItem(chosenGroups, text)
  }
  const isHere = ([, , place]: Entry) => pageOf(hashOf(project, place)) === here
  const link = (entry: Entry): ComponentChild => {
    const [name, drawn, place] = entry
    const [, ...beneath] = withBeneath(entry)
    const isOpen = beneath.length > 0 && [entry, ...beneath].some(isHere)
    return html`<li key=${name}><a href=${hashOf(project, place)} aria-current=${isHere(entry) ? 'page' : undefined}><${Icon} name=${drawn} />${name}</a>${isOpen && html`<ul>${beneath.map(link)}</ul>`}</li>`
  }
  return shownGroups().map(([group, entries]) => {
    const hasPage = entries.flatMap(withBeneath).some(isHere)
    const open = hasPage ? closedAt !== here : (chosen[group] ?? (innerWidth > 860 && !seldom.includes(group)))
    return html`<details class="nav-group" key=${group} open=${open}><summary onClick=${(event: Event) => toggle(event, group, { open, hasPage })}><h2>${group}</h2></summary><ul>${entries.map(link)}${group === 'Operate' && html`<li><a href="/docs"><${Icon} name="knowledge" />Documentation</a></li>`}</ul></details>`
  })
}

/** The names and addresses of all pages. */
export const pages = (project: string) =>
  shownGroups()
    .flatMap(([, entries]) => entries)
    .flatMap(withBeneath)
    .map(([name, , place]) => ({ name, href: hashOf(project, place) }))
