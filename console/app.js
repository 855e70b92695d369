import { ActorView } from './actor-view.js'
import { ApiError, callApi, wordsOf } from './api.js'
import { approvalsPage } from './approvals/approvals-page.js'
import { auditPage } from './audit-page.js'
import { BundlePage } from './bundle-page.js'
import { comparePage } from './compare/compare-page.js'
import { connectionsPage } from './connections/connections-page.js'
import { byId, h } from './dom.js'
import { FindDialog } from './find-dialog.js'
import { fleetPage } from './fleet-page.js'
import { gatewayPage } from './gateway/gateway-page.js'
import { homePage } from './home-page.js'
import { html, render } from './html.js'
import { KeysDialog } from './keys-dialog.js'
import { knowledgePage } from './knowledge/knowledge-page.js'
import { listPage } from './list-page.js'
import { memoryPage } from './memory/memory-page.js'
import { MissingPage } from './missing-page.js'
import { navigation } from './navigation.js'
import { nodesPage } from './nodes/nodes-page.js'
import { overviewPage } from './overview/overview-page.js'
import { KeepFocus } from './parts/keep-focus.js'
import { playgroundPage } from './playground/playground-page.js'
import { resourcePage } from './resources/resource-page.js'
import { parseRoute, routeHash } from './route.js'
import { session, sessionNow } from './session.js'
import { SecondFactor } from './settings/second-factor.js'
import { settingsPage } from './settings/settings-page.js'
import { hasSignedIn, keepSignedIn, signInView } from './sign-in-view.js'
import { skillsPage } from './skills-page.js'
import { stuckPage } from './stuck-page.js'
import { toolsPage } from './tools/tools-page.js'

/**
 * @typedef {import('./session.js').Project} Project
 * @typedef {{ element: HTMLElement, start(): Promise<void>, shown(): void, stop(): void }} View
 */

const view = byId('view')
const tools = byId('tools')
const side = byId('side')
const notice = byId('notice')
const find = new FindDialog()
document.body.append(find.element, new KeysDialog().element)
session.subscribe(({ context }) => find.of(context.project ?? ''))

/** @type {View | null} */
let current = null
let shown = 0
const focus = new KeepFocus(view)
/** The current place, and its hash. */
let here = { place: '', hash: '' }

/** @param {unknown} error null when the error is resolved */
const report = (error) => {
  if (error instanceof ApiError && error.status === 401) {
    signedOut()
    return
  }
  notice.hidden = error === null
  if (error === null) return
  const gone = error instanceof ApiError && error.status === 404
  notice.textContent = gone
    ? 'What this address names does not exist in your projects, or it was deleted.'
    : wordsOf(error)
}

/** Shows the view that the location names. */
const show = async () => {
  const turn = ++shown
  const { place, hash: from } = here
  here = { place: placeOf(parseRoute(location.hash)), hash: location.hash }
  const stand = focus.leave()
  current?.stop()
  current = null
  notice.hidden = true
  const { projects } = sessionNow()
  if (projects === null) return
  try {
    const next = await viewOf(parseRoute(location.hash), projects)
    if (turn !== shown) return
    if (next === null) {
      view.replaceChildren(h('p', { class: 'empty' }, 'Your organisation has no projects yet.'))
      return
    }
    current = next
    await next.start()
    if (turn !== shown) return
    view.replaceChildren(next.element)
    next.shown()
    focus.arrive(place === here.place ? stand : null, from)
    document.title = `${next.element.querySelector('h1')?.textContent ?? ''} · Troupe`
  } catch (error) {
    if (turn !== shown) return
    const { project } = sessionNow()
    const isMissing = error instanceof ApiError && error.status === 404 && project !== null
    view.replaceChildren(...(isMissing ? [new MissingPage(project).element] : []))
    if (isMissing) document.title = 'Not found · Troupe'
    else report(error)
  }
}

/** Identifies what a route shows, regardless of its filters. @param {import('./route.js').Route} route */
const placeOf = (route) =>
  [
    route.view,
    route.project,
    ...(route.view === 'actor' ? [route.id] : route.view === 'list' ? [route.machine] : []),
    ...(route.view === 'resources' ? [route.query?.kind ?? ''] : []),
  ].join(' ')

/**
 * @param {import('./route.js').Route} route
 * @param {readonly Project[]} known
 * @returns {Promise<View | null>} null when there is no project to show
 */
const viewOf = async (route, known) => {
  const project = route.project ?? (route.view === 'actor' ? await projectOf(route.id, known) : (known[0]?.id ?? null))
  if (project === null) return null
  session.trigger.viewed({ project })
  showTools(known, project, route)
  const { operates } = sessionNow()
  if (route.view === 'actor') return new ActorView({ ...route, project, operates }, report)
  if (route.view === 'list') return listPage({ ...route, project }, report)
  if (route.view === 'fleet') return fleetPage(project, report)
  if (route.view === 'missing') return new MissingPage(project)
  const page = queried[route.view]
  if (page !== undefined) return page({ view: route.view, project, query: route.query ?? {} }, report)
  if (route.view === 'bundle') return new BundlePage(project, report)
  return homePage(project, report)
}

/**
 * Pages whose place is in the query.
 *
 * @type {Readonly<Record<string, (place: import('./parts/query-form.js').Place, report: (error: unknown) => void) => View>>}
 */
const queried = {
  ...{ gateway: gatewayPage, memory: memoryPage, knowledge: knowledgePage, connections: connectionsPage },
  ...{ tools: toolsPage, playground: playgroundPage, settings: settingsPage, resources: resourcePage },
  ...{ overview: overviewPage, approvals: approvalsPage, audit: auditPage, compare: comparePage },
  ...{ nodes: nodesPage, stuck: stuckPage, skills: skillsPage },
}

/**
 * Finds the project of an actor, for a link that does not contain it.
 *
 * @param {string} id
 * @param {readonly Project[]} known
 */
const projectOf = async (id, known) => {
  for (const project of known.slice(0, -1)) {
    const found = await callApi(project.id, 'project_actors.get', { params: { actor_id: id } }).catch(() => null)
    if (found !== null) return project.id
  }
  return known.at(-1)?.id ?? null
}

/**
 * @param {readonly Project[]} known
 * @param {string} project
 * @param {import('./route.js').Route} current
 */
const showTools = (known, project, current) => {
  const options = known.map(({ id, name }) => h('option', { value: id, selected: id === project }, name))
  /** @param {Event} event */
  const choose = ({ target }) => {
    if (!(target instanceof HTMLSelectElement)) return
    location.hash = routeHash({ view: 'home', project: target.value })
  }
  const picker =
    known.length > 1
      ? h('select', { 'aria-label': 'Project', change: choose }, ...options)
      : h('span', { class: 'muted' }, known[0]?.name ?? '')
  side.replaceChildren(...navigation(project, current, sessionNow().operates))
  side.hidden = false
  tools.replaceChildren(
    h('button', { type: 'button', class: 'quiet', click: () => find.open() }, 'Find ', h('kbd', {}, '/')),
    picker,
    h('button', { type: 'button', class: 'quiet', click: () => void signOut() }, 'Sign out'),
  )
}

const signIn = async () => {
  try {
    await enter()
  } catch (error) {
    const mustEnrol = error instanceof ApiError && error.code === 'second_factor_enrolment_required'
    if (!mustEnrol) throw error
    const shown = h('div', { class: 'page' }, h('h1', {}, 'Your organization requires a second factor'))
    const panel = h('div')
    shown.append(panel)
    view.replaceChildren(shown)
    document.title = 'Second factor · Troupe'
    const state = { enabled: false, required: true, recovery_codes_left: 0 }
    render(html`<${SecondFactor} state=${state} done=${() => void signIn().catch(report)} />`, panel)
  }
}

const enter = async () => {
  const [{ data }, { member }] = await Promise.all([
    callApi(null, 'projects.list', { query: { limit: 100 } }),
    callApi(null, 'auth.me'),
  ])
  const operates = member.role === 'admin' || member.role === 'owner'
  session.trigger.signedIn({
    projects: data,
    operates,
    decides: operates || member.role === 'approver',
    member: member.id,
  })
  keepSignedIn(true)
  await show()
}

const signOut = async () => {
  try {
    await callApi(null, 'auth.logout')
  } catch (error) {
    report(error)
  }
  signedOut()
}

const signedOut = () => {
  keepSignedIn(false)
  session.trigger.signedOut()
  current?.stop()
  current = null
  notice.hidden = true
  tools.replaceChildren()
  side.hidden = true
  document.title = 'Sign in · Troupe'
  const form = signInView(() => void signIn().catch(report))
  view.replaceChildren(form.element)
  form.focus()
}

// following its hash would count as navigation
byId('skip').addEventListener('click', (event) => {
  event.preventDefault()
  view.focus()
})
/** Opens a saved actor that is dropped anywhere on the page. @param {DragEvent} event */
const dropped = async (event) => {
  const file = event.dataTransfer?.files[0]
  if (file === undefined) return
  event.preventDefault()
  const { project } = sessionNow()
  if (project === null) return
  if (!(current instanceof BundlePage)) {
    history.pushState(null, '', routeHash({ view: 'bundle', project }))
    await show()
  }
  if (current instanceof BundlePage) await current.open(file)
}

addEventListener('dragover', (event) => {
  if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
})
addEventListener('drop', (event) => void dropped(event))
addEventListener('hashchange', () => void show())
if (!hasSignedIn()) signedOut()
else void signIn().catch(report)
