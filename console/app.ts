import { ApiError, callApi, wordsOf } from './api.ts'
import { byId, h } from './dom.ts'
import { findDialog } from './find-dialog.ts'
import { homePage } from './home-page.ts'
import { html, render, typed } from './html.ts'
import { keysDialog } from './keys-dialog.ts'
import { missingPage } from './missing-page.ts'
import { Navigation } from './navigation.ts'
import { copyId } from './parts/copy-button.ts'
import { KeepFocus } from './parts/keep-focus.ts'
import { parseRoute, type Route, routeHash } from './route.ts'
import { type Project, session, sessionNow } from './session.ts'
import { hasSignedIn, keepSignedIn, showSignIn } from './sign-in-view.ts'

/** `open`: shows a saved actor */
interface View {
  readonly element: HTMLElement
  start(): Promise<void>
  shown(): void
  stop(): void
  open?(file: File): Promise<void>
}

const view = byId('view')
const tools = byId('tools')
const side = byId('side')
const notice = byId('notice')
const find = findDialog()
document.body.append(find.dialog, keysDialog())

let current: View | null = null
let shown = 0
const focus = new KeepFocus(view)
/** The current place, and its hash. */
let here = { place: '', hash: '' }

/** @param error null when the error is resolved */
const report = (error: unknown) => {
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
  const waits = place === here.place ? 0 : setTimeout(() => view.replaceChildren(loading()), loadingAfterMs)
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
    view.replaceChildren(...(project === null ? [] : [missingPage(project, isMissing ? null : wordsOf(error)).element]))
    document.title = `${isMissing ? 'Not found' : 'Not shown'} · Troupe`
    if (!isMissing) report(error)
  } finally {
    clearTimeout(waits)
  }
}

/** Time in ms after which a page that is still being read shows that it is. */
const loadingAfterMs = 150

/** The outline of a page that is being read. */
const loading = () => {
  const outline = h('div', { class: 'grid gap-14 p-(--gutter)', 'aria-busy': 'true' })
  render(
    html`<p role="status" class="muted">Loading</p>${[0, 1, 2].map(() => html`<i class="card h-84 bg-[linear-gradient(90deg,var(--panel),var(--line),var(--panel))] bg-size-[200%_100%] animate-[reading_1.4s_linear_infinite]"></i>`)}`,
    outline,
  )
  return outline
}

/** Identifies what a route shows, regardless of its filters. */
const placeOf = (route: Route) =>
  [
    route.view,
    route.project,
    ...(route.view === 'actor' ? [route.id] : route.view === 'list' ? [route.machine] : []),
    ...(route.view === 'resources' ? [route.query?.kind ?? ''] : []),
  ].join(' ')

/** @returns null when there is no project to show */
const viewOf = async (route: Route, known: readonly Project[]): Promise<View | null> => {
  const project = route.project ?? (route.view === 'actor' ? await projectOf(route.id, known) : (known[0]?.id ?? null))
  if (project === null) return null
  session.trigger.viewed({ project })
  showTools(known, project)
  if (route.view === 'actor')
    return new (await import('./actor-view.ts')).ActorView(
      { ...route, project, operates: sessionNow().operates },
      report,
    )
  if (route.view === 'list') return (await import('./list-page.ts')).listPage({ ...route, project }, report)
  if (route.view === 'bundle') return (await import('./bundle-page.ts')).bundlePage(project, report)
  if (route.view === 'missing') return missingPage(project)
  const { view, query = {} } = route
  const page = await pages[view]()
  return page({ view, query, project }, report)
}

const resourcePage = async () => (await import('./resources/resource-page.ts')).resourcePage

/** Pages that are declared. Each is loaded when it is first opened. */
const pages: Readonly<
  Record<
    Exclude<Route['view'], 'actor' | 'bundle' | 'missing' | 'list'>,
    () => Promise<(place: Place, report: (error: unknown) => void) => View>
  >
> = {
  home: async () => homePage,
  fleet: async () => (await import('./fleet-page.ts')).fleetPage,
  gateway: async () => (await import('./gateway/gateway-page.ts')).gatewayPage,
  memory: async () => (await import('./memory/memory-page.ts')).memoryPage,
  playground: async () => (await import('./playground/playground-page.ts')).playgroundPage,
  settings: async () => (await import('./settings/settings-page.ts')).settingsPage,
  overview: async () => (await import('./overview/overview-page.ts')).overviewPage,
  approvals: async () => (await import('./approvals/approvals-page.ts')).approvalsPage,
  resources: resourcePage,
  connections: resourcePage,
  tools: resourcePage,
  knowledge: resourcePage,
  audit: resourcePage,
  stuck: resourcePage,
  compare: async () => (await import('./compare/compare-page.ts')).comparePage,
  nodes: async () => (await import('./nodes/nodes-page.ts')).nodesPage,
  skills: async () => (await import('./skills-page.ts')).skillsPage,
}

/** Finds the project of an actor, for a link that does not contain it. */
const projectOf = async (id: string, known: readonly Project[]) => {
  for (const project of known.slice(0, -1)) {
    const found = await callApi(project.id, 'project_actors.get', { params: { actor_id: id } }).catch(() => null)
    if (found !== null) return project.id
  }
  return known.at(-1)?.id ?? null
}

const showTools = (known: readonly Project[], project: string) => {
  const lead = typed((chosen) => {
    location.hash = routeHash({ view: 'home', project: chosen })
  })
  const picker = html`<select aria-label="Project" onChange=${lead}>${known.map(({ id, name }) => html`<option value=${id} selected=${id === project}>${name}</option>`)}</select>`
  render(html`<${Navigation} project=${project} current=${location.hash} />`, side)
  side.hidden = false
  render(
    html`<button type="button" class="quiet" onClick=${find.open}>Find <kbd>/</kbd></button>
      ${known.length > 1 ? picker : html`<span class="muted">${known[0]?.name}</span>`}
      <button type="button" class="quiet" onClick=${() => void signOut()}>Sign out</button>`,
    tools,
  )
}

const signIn = async () => {
  try {
    await enter()
  } catch (error) {
    const mustEnrol = error instanceof ApiError && error.code === 'second_factor_enrolment_required'
    if (!mustEnrol) throw error
    const { SecondFactor } = await import('./settings/second-factor.ts')
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
  const [owns, decides] = [member.role === 'owner', operates || member.role === 'approver']
  session.trigger.signedIn({ signedIn: { projects: data, operates, owns, decides, member: member.id } })
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
  render(null, tools)
  side.hidden = true
  document.title = 'Sign in · Troupe'
  showSignIn(view, () => void signIn().catch(report))
}

// following its hash would count as navigation
byId('skip').addEventListener('click', (event) => {
  event.preventDefault()
  view.focus()
})
/** Opens a saved actor that is dropped anywhere on the page. */
const dropped = async (event: DragEvent) => {
  const file = event.dataTransfer?.files[0]
  if (file === undefined) return
  event.preventDefault()
  const { project } = sessionNow()
  if (project === null) return
  if (current?.open === undefined) {
    history.pushState(null, '', routeHash({ view: 'bundle', project }))
    await show()
  }
  await current?.open?.(file)
}

addEventListener('copy', copyId)
addEventListener('dragover', (event) => {
  if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
})
addEventListener('drop', (event) => void dropped(event))
addEventListener('hashchange', () => void show())
if (!hasSignedIn()) signedOut()
else void signIn().catch(report)
