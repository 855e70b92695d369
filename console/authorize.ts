import { ApiError, callApi, wordsOf } from './api.ts'
import { byId, h } from './dom.ts'
import { html, render, typed, useState } from './html.ts'
import { hasSignedIn, keepSignedIn, showSignIn } from './sign-in-view.ts'

/* The consent page: a signed-in member reads which app requests what, and decides. */

/** Parameters of the request that are sent on; others mean nothing to the server. */
const names = [
  ...['response_type', 'client_id', 'redirect_uri', 'code_challenge', 'code_challenge_method', 'scope', 'state'],
  'resource',
] as const

const given = new URLSearchParams(location.search)
const body = {
  ...Object.fromEntries(names.flatMap((name) => (given.has(name) ? [[name, given.get(name) ?? '']] : []))),
  origin: location.origin,
}

const view = byId('view')
const notice = byId('notice')

type Client = Readonly<{ name: string; host: string | null; redirect: string }>

const report = (error: unknown) => {
  if (error instanceof ApiError && error.status === 401) {
    signIn()
    return
  }
  notice.hidden = false
  notice.textContent = wordsOf(error)
}

const signIn = () => {
  keepSignedIn(false)
  showSignIn(view, () => {
    keepSignedIn(true)
    void show().catch(report)
  })
}

const show = async () => {
  const [{ data: projects }, { member }, request] = await Promise.all([
    callApi(null, 'projects.list', { query: { limit: 100 } }),
    callApi(null, 'auth.me'),
    callApi(null, 'oauth_consents.preview', { body }),
  ])
  notice.hidden = true
  const shown = h('section', { class: 'sign-in w-[min(480px,calc(100%-32px))] my-[6vh] wrap-anywhere' })
  render(
    request.error === null
      ? html`<${Consent} request=${request} projects=${projects} member=${member} />`
      : html`<${Refusal} ...${request} />`,
    shown,
  )
  view.replaceChildren(shown)
  view.focus()
}

type Refused = Readonly<{ client: Client; error: { message: string }; redirect_to: string }>

const Refusal = ({ client, error, redirect_to }: Refused) => html`
  <h1>The request cannot be granted</h1>
  <p>${error.message}</p>
  <p class="muted">The app calls itself <strong>${client.name}</strong>.</p>
  <button type="button" onClick=${() => location.assign(redirect_to)}>Return to ${client.redirect}</button>
`

const Consent = (props: {
  request: { client: Client; scopes: readonly string[] }
  projects: readonly { id: string; name: string }[]
  member: { email: string; role: string }
}) => {
  const { request, projects, member } = props
  const { client, scopes } = request
  const { email, role } = member
  const [project, setProject] = useState(projects[0]?.id ?? '')
  const [busy, setBusy] = useState(false)
  const decide = async (decision: 'approve' | 'deny') => {
    setBusy(true)
    const answer = callApi(project, 'oauth_consents.create', { body: { ...body, decision } })
    await answer.then(({ redirect_to }) => location.assign(redirect_to), report)
    setBusy(false)
  }
  const isOperator = role === 'admin' || role === 'owner'
  return html`
    <h1>Allow an app to use your project?</h1>
    <p>The app calls itself <strong>${client.name}</strong>. ${vouched(client)}</p>
    <p>You are sent back to <strong>${client.redirect}</strong>. Deny if you have not just come from there.</p>
    <label>Project<select name="project" onChange=${typed(setProject)}>${projects.map(({ id, name }) => html`<option value=${id}>${name}</option>`)}</select></label>
    <h2 class="text-[14px]">It may</h2>
    <ul>${scopes.map((scope) => html`<li>${meaningOf(scope)}</li>`)}</ul>
    <p class="muted">It acts as ${email}, and can do no more than you. ${!isOperator && `Your role, ${role}, limits what it may change. `}You can revoke the access in the settings at any time.</p>
    <div class="flex flex-wrap justify-end gap-8">
      <button type="button" class="quiet" disabled=${busy} onClick=${() => decide('deny')}>Deny</button>
      <button type="button" disabled=${busy} onClick=${() => decide('approve')}>Allow</button>
    </div>
  `
}

const vouched = ({ host }: Client) =>
  host === null ? 'It registered itself: nothing that it says is verified.' : `It is published by ${host}.`

const meaningOf = (scope: string) => {
  if (scope === 'read') return 'read everything in the project'
  if (scope === 'write') return 'change everything in the project, and use models at its cost'
  const [group = '', part] = scope.split(':')
  const words = group.replaceAll('_', ' ')
  return part === 'read' ? `read ${words}` : `read and change ${words}`
}

if (!hasSignedIn()) signIn()
else void show().catch(report)
